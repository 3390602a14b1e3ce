"""The command `python -m reproduction`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reproduction import items, report
from reproduction.__main__ import main
from reproduction.claims import claims_of
from reproduction.findings import Findings, Measure
from reproduction.items import ITEMS, choose_items
from reproduction.sources import SETTING

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run the command, and return what it prints to both outputs."""

    def run(*arguments, code=0):
        assert main([str(argument) for argument in arguments]) == code
        return capsys.readouterr()

    return run


@pytest.fixture
def refused(run):
    """Run the command on bad input, and return the line that it prints."""

    def refused(*arguments):
        printed = run(*arguments, code=2)
        assert printed.out == ""
        assert printed.err.startswith("error: ")
        assert printed.err.count("\n") == 1
        return printed.err

    return refused


@pytest.fixture
def no_work(monkeypatch):
    """Fail if an item is run."""

    def reproduce(name, *, quick):
        pytest.fail(f"{name} was run")

    monkeypatch.setattr(report, "reproduce", reproduce)


def nothing(name, *, quick):
    """Replace a script by one that measures nothing."""
    return Findings({claim: Measure.exactly(float("nan")) for claim in claims_of(name)}, [])


def test_list_names_every_item(run, refused):
    lines = run("--list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(ITEMS)
    assert lines[0].endswith("A rotated 1 has one typical image (fig. 1; data: usps)")
    assert run("--list", "moons").out.startswith("moons ")
    assert "Did you mean 'moons'?" in refused("--list", "mons")
    assert list(Path().iterdir()) == []


@pytest.mark.usefixtures("no_work")
def test_unknown_item_is_refused_with_a_hint(refused):
    message = refused("gausians", "-o", "out")
    assert "item must be one of rotated-ones, gaussians, " in message
    assert "got 'gausians'. Did you mean 'gaussians'?" in message
    assert "Did you mean" not in refused("xyz")
    assert list(Path().iterdir()) == []


def test_unknown_option_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--fast"])
    assert "unrecognized arguments: --fast" in capsys.readouterr().err


def test_report_is_written_and_replaced_by_force_alone(monkeypatch, run, refused):
    printed = run("gaussians", "--quick", "-o", "out")
    assert sorted(file.name for file in Path("out").iterdir()) == [
        "gaussians.png",
        "index.html",
        "results.json",
    ]
    assert printed.out.splitlines() == [
        "4 reproduced, 0 in part, 0 not reproduced",
        f"report: {Path('out/index.html')}",
    ]
    assert "gaussians.both-find-three" in printed.err
    Path("out/moons-2.png").write_bytes(b"of an earlier run")
    with monkeypatch.context() as patch:
        patch.setattr(report, "reproduce", lambda name, *, quick: pytest.fail("it was run"))
        assert "--force" in refused("gaussians", "--quick", "-o", "out")
    run("gaussians", "--quick", "-o", "out", "--force")
    assert not Path("out/moons-2.png").exists()
    assert [path.name for path in Path().iterdir()] == ["out"]


def test_it_runs_as_a_module(here):
    command = [sys.executable, "-m", "reproduction", "gaussians", "--quick", "-o", here / "out"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "4 reproduced, 0 in part, 0 not reproduced",
    )


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("name", ["notes.txt", "moons-in-spring.png"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_folder_with_other_files_is_refused_before_work(name, force, refused):
    Path("mine").mkdir()
    Path("mine", name).write_text("mine")
    message = refused("gaussians", "--quick", "-o", "mine", *force)
    assert f"contains '{name}', which is not part of a report" in message
    assert Path("mine", name).read_text() == "mine"


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("name", ["index.html", "results.json"])
def test_another_web_page_is_no_report(name, refused):
    Path("mine").mkdir()
    Path("mine", name).write_text("{}")
    message = refused("gaussians", "--quick", "-o", "mine", "--force")
    assert f"contains '{name}', but is not a report" in message
    assert Path("mine", name).read_text() == "{}"


@pytest.mark.usefixtures("no_work")
def test_where_no_folder_can_be_is_refused(refused):
    Path("file").touch()
    assert "'file' is a file; pass another folder with -o" in refused("moons", "-o", "file")
    assert "absent' does not exist; create it first" in refused("moons", "-o", "absent/out")


def test_a_file_that_appears_while_items_run_is_kept(monkeypatch):
    def reproduce(name, *, quick):
        Path("out").mkdir()
        Path("out/notes.txt").write_text("mine")
        return nothing(name, quick=quick)

    monkeypatch.setattr(report, "reproduce", reproduce)
    assert main(["gaussians", "-o", "out", "--force"]) == 2
    assert [path.name for path in Path().iterdir()] == ["out"]
    assert Path("out/notes.txt").read_text() == "mine"


@pytest.mark.usefixtures("no_work")
def test_missing_package_is_named_with_what_to_install(monkeypatch, refused):
    monkeypatch.setattr(items, "find_spec", lambda name: None if name == "networkx" else name)
    assert choose_items(["gaussians"]) == ["gaussians"]
    message = refused("degrees")
    assert "networkx must be installed; run pip install " in message
    assert "--group reproduction" in message
    assert list(Path().iterdir()) == []


def test_all_items_are_run_in_order_and_each_once():
    assert choose_items([]) == list(ITEMS)
    assert choose_items(["moons", "gaussians", "moons"]) == ["gaussians", "moons"]


def test_interruption_leaves_nothing_behind(monkeypatch, run):
    def interrupt(name, *, quick):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "reproduce", interrupt)
    assert run("gaussians", code=130).err.endswith("error: interrupted\n")
    assert list(Path().iterdir()) == []


def test_full_disk_leaves_nothing_behind(monkeypatch, run):
    def fail(name, findings, folder):
        (folder / "gaussians.png").touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "_write_pictures", fail)
    monkeypatch.setattr(report, "reproduce", nothing)
    assert run("gaussians", code=2).err.endswith("No space left on device\n")
    assert list(Path().iterdir()) == []


def test_an_item_that_fails_is_reported_and_the_others_stay(monkeypatch, run):
    def reproduce(name, *, quick):
        if name == "moons":
            raise ValueError("<no moons> tonight")
        return nothing(name, quick=quick)

    monkeypatch.setattr(report, "reproduce", reproduce)
    printed = run("gaussians", "moons", "-o", "out", code=1)
    assert printed.err.endswith("error: failed: moons\n")
    stored = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert [item["error"] for item in stored["items"]] == [None, "ValueError: <no moons> tonight"]
    failed = [claim for claim in stored["claims"] if claim["name"].startswith("moons.")]
    assert failed
    for claim in failed:
        assert (claim["ours"], claim["runs"], claim["verdict"]) == (None, 0, "not")
        assert claim["why"] == "ValueError: <no moons> tonight"
    assert "ValueError: &lt;no moons&gt; tonight" in Path("out/index.html").read_text()


@pytest.mark.usefixtures("no_work")
def test_a_setting_that_names_no_folder_is_refused(monkeypatch, here, refused):
    monkeypatch.setenv(SETTING, str(here / "absent"))
    assert f"{SETTING} must be a folder" in refused("rotated-ones")
    assert list(Path().iterdir()) == []


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("folder", ["", ".", "../here"])
def test_the_current_folder_is_not_replaced(folder, here, monkeypatch, refused):
    (here / "here").mkdir()
    monkeypatch.chdir(here / "here")
    assert "-o is the current folder" in refused("moons", "-o", folder, "--force")
    assert list(Path().iterdir()) == []
