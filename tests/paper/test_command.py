"""The command `modeclust paper`."""

import json
from functools import partial
from pathlib import Path

import command
import pytest

from modeclust.cli.options import complete_item
from modeclust.paper import items, report
from modeclust.paper.claims import claims_of
from modeclust.paper.findings import Findings, Measure
from modeclust.paper.items import ITEMS, check_items
from modeclust.paper.sources import SETTING

invoke = partial(command.invoke, "paper")
refused = partial(command.refused, "paper")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_work(monkeypatch):
    """Fail if an item is run."""

    def reproduce(name, *, quick):
        pytest.fail(f"{name} was run")

    monkeypatch.setattr(report, "reproduce", reproduce)


def nothing(name, *, quick):
    """Stand in for a script that finds nothing."""
    return Findings({claim: Measure.exactly(float("nan")) for claim in claims_of(name)}, [])


def test_list_names_every_item():
    lines = invoke("--list").stdout.splitlines()[1:]
    starts = [line.split(" ")[0] for line in lines]  # nothing where a long cell goes on
    assert [start for start in starts if start] == list(ITEMS)
    listed = json.loads(invoke("--list", "--json").stdout)["items"]
    assert [item["name"] for item in listed] == list(ITEMS)
    assert listed[0]["data"] == ["usps"]
    assert list(Path().iterdir()) == []


def test_help_has_examples():
    told = invoke("--help").stdout
    assert "modeclust paper moons degrees -o figures" in told


@pytest.mark.usefixtures("no_work")
def test_unknown_item_is_refused_with_a_hint():
    message = refused("gausians", "-o", "out")
    assert "no item 'gausians'" in message
    assert "did you mean 'gaussians'?" in message
    assert "did you mean" not in refused("xyz")
    assert list(Path().iterdir()) == []


def test_report_is_written_and_replaced_by_force_alone(monkeypatch):
    result = invoke("gaussians", "--quick", "-o", "out")
    assert sorted(file.name for file in Path("out").iterdir()) == [
        "gaussians.png",
        "index.html",
        "results.json",
    ]
    assert result.stdout.splitlines() == [
        "4 reproduced, 0 in part, 0 not reproduced",
        "look at out/index.html",
    ]
    assert "gaussians.both-find-three" in result.stderr
    Path("out/moons-2.png").write_bytes(b"of an earlier run")
    with monkeypatch.context() as patch:
        patch.setattr(report, "reproduce", lambda name, *, quick: pytest.fail("it was run"))
        assert "--force" in refused("gaussians", "--quick", "-o", "out")
    invoke("gaussians", "--quick", "-o", "out", "--force")
    assert not Path("out/moons-2.png").exists()


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("name", ["notes.txt", "moons-in-spring.png"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_folder_of_others_is_refused_before_work(name, force):
    Path("mine").mkdir()
    Path("mine", name).write_text("mine")
    message = refused("gaussians", "--quick", "-o", "mine", *force)
    assert f"holds '{name}', which `paper` did not write" in message
    assert Path("mine", name).read_text() == "mine"


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("name", ["index.html", "results.json"])
def test_a_site_of_others_is_no_report(name):
    Path("mine").mkdir()
    Path("mine", name).write_text("{}")
    message = refused("gaussians", "--quick", "-o", "mine", "--force")
    assert f"holds '{name}', which does not look like the output of `paper`" in message
    assert Path("mine", name).read_text() == "{}"


def test_json_alone_is_on_the_standard_output():
    result = invoke("gaussians", "--quick", "--json")
    told = json.loads(result.stdout)
    assert told == json.loads(Path("kmodes-paper/results.json").read_text(encoding="utf-8"))
    assert {claim["verdict"] for claim in told["claims"]} <= {"reproduced", "partly", "not"}


@pytest.mark.usefixtures("no_work")
def test_missing_package_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setattr(items, "find_spec", lambda name: None if name == "networkx" else name)
    assert check_items(["gaussians"]) == ["gaussians"]
    message = refused("degrees")
    assert "networkx must be installed for this: pip install 'modeclust[paper]'" in message
    assert list(Path().iterdir()) == []


def test_all_items_are_run_in_order_and_each_once():
    assert check_items([]) == list(ITEMS)
    assert check_items(["moons", "gaussians", "moons"]) == ["gaussians", "moons"]


def test_interruption_leaves_nothing_behind(monkeypatch):
    def interrupt(name, *, quick):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "reproduce", interrupt)
    invoke("gaussians", code=130)
    assert list(Path().iterdir()) == []


def test_full_disk_leaves_nothing_behind(monkeypatch):
    def fail(name, findings, folder):
        (folder / "gaussians.png").touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "_write_pictures", fail)
    monkeypatch.setattr(report, "reproduce", nothing)
    assert invoke("gaussians", code=2).stderr.endswith("No space left on device\n")
    assert list(Path().iterdir()) == []


def test_an_item_that_fails_is_told_and_the_others_stay(monkeypatch):
    def reproduce(name, *, quick):
        if name == "moons":
            raise ValueError("<no moons> tonight")
        return nothing(name, quick=quick)

    monkeypatch.setattr(report, "reproduce", reproduce)
    result = invoke("gaussians", "moons", "-o", "out", code=1)
    assert result.stderr.endswith("error: failed: moons\n")
    stored = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert [item["error"] for item in stored["items"]] == [None, "ValueError: <no moons> tonight"]
    failed = [claim for claim in stored["claims"] if claim["name"].startswith("moons.")]
    assert failed
    for claim in failed:
        assert (claim["ours"], claim["runs"], claim["verdict"]) == (None, 0, "not")
        assert claim["why"] == "ValueError: <no moons> tonight"
    assert "ValueError: &lt;no moons&gt; tonight" in Path("out/index.html").read_text()


@pytest.mark.usefixtures("no_work")
def test_a_setting_that_names_no_folder_is_refused(monkeypatch, here):
    monkeypatch.setenv(SETTING, str(here / "absent"))
    assert f"{SETTING} names no folder" in refused("rotated-ones")
    assert list(Path().iterdir()) == []


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("folder", ["", ".", "../here"])
def test_the_current_folder_is_not_replaced(folder, here, monkeypatch):
    (here / "here").mkdir()
    monkeypatch.chdir(here / "here")
    assert "the current folder cannot be replaced" in refused("moons", "-o", folder, "--force")
    assert list(Path().iterdir()) == []


def test_list_of_some_items():
    assert json.loads(invoke("--list", "moons", "--json").stdout)["items"][0]["name"] == "moons"
    assert "did you mean 'moons'?" in refused("--list", "mons")


def test_names_are_completed():
    assert list(complete_item("m")) == ["moons", "manifolds"]
