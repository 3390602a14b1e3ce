"""The commands, in this process and in processes of their own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import webbrowser

import numpy as np
import pytest
from command import FILES, FRAME, QUICK, invoke, names, refused, run, start
from scipy import sparse
from scipy.io import mmwrite

from modeclust.cli.readers.table import read_table
from modeclust.cli.writers import write_columns


def test_a_missing_typer_is_reported_in_one_line():
    code = "import sys; sys.modules['typer'] = None; from modeclust.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: the command line needs typer; pip install 'modeclust[cli]'\n"


@pytest.mark.parametrize("data", ["moons", "iris.csv"])
def test_json_is_the_only_output(data, here):
    columns = ["--columns", "pl,pw", "--label-column", "kind"] if data == "iris.csv" else []
    results = json.loads(invoke("fit", data, *QUICK, *columns, "--json", "-o", "out").stdout)
    assert (results["n_features"], results["n_clusters"]) == (2, 3)
    assert sum(cluster["count"] for cluster in results["clusters"]) == results["n_rows"]
    assert results["files"] == FILES
    assert results["folder"] == "out"
    infinite = invoke("fit", data, *QUICK, *columns, "--json", "--force", "--bandwidth", "inf")
    assert json.loads(infinite.stdout)["bandwidth"] is None


def test_explore_writes_a_page_and_opens_it(here, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    assert "iris-report.html" in invoke("explore", "iris", *QUICK).stdout
    assert opened == [(here / "iris-report.html").as_uri()]
    assert "already exists" in refused("explore", "iris", *QUICK)
    assert "must end in .html" in refused("explore", "iris", *QUICK, "-o", "page.csv")
    results = json.loads(invoke("explore", "iris", *QUICK, "--force", "--no-open", "--json").stdout)
    assert results["page"] == "iris-report.html"
    assert len(opened) == 1
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert "no browser" in invoke("explore", "iris", *QUICK, "--force").stderr


def test_usage_errors_are_one_line_with_a_hint(here):
    for arguments in (
        ["fit", "iris"],
        ["fit", "iris", "-k", "3", "--kernel", "nope"],
        ["fit", "--no"],
        ["predict", "a", "b"],
    ):
        assert refused(*arguments).endswith(f" {arguments[0]} --help)\n")
    assert refused("fit", "iris", "-k", "3", "--kernel", "nope").startswith(
        "error: Invalid value for '--kernel': 'nope' is not one of 'gaussian', "
    )
    wanted = "error: --clusters must be auto or an integer > 0, got 'x'.\n"
    assert refused("fit", "iris", "-k", "x") == wanted
    assert refused("nothing").startswith("error: No such command 'nothing' (")
    assert "Usage:" in invoke(code=2).output
    assert invoke("--version").output.startswith("modeclust ")


@pytest.mark.slow
def test_a_name_that_is_not_utf_8(tmp_path):
    name = os.fsdecode(b"iris-\xff")
    FRAME.drop("kind").write_csv(tmp_path / "iris.csv")
    (tmp_path / "iris.csv").rename(tmp_path / f"{name}.csv")
    done = run("fit", f"{name}.csv", *QUICK, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads(done.stdout)
    assert (results["data"], results["folder"]) == ("iris-\ufffd.csv", "iris-\ufffd.modes")
    assert names(tmp_path) == [f"{name}.csv", f"{name}.modes"]
    report = json.loads((tmp_path / f"{name}.modes" / "report.json").read_text())
    assert report["title"] == "iris-\ufffd.csv"
    done = run("explore", f"{name}.csv", *QUICK, "--no-open", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / f"{name}-report.html").exists()
    done = run("predict", f"{name}.modes", f"{name}.csv", "-o", f"{name}.npy", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        pytest.param(["--version"], marks=pytest.mark.slow),
        pytest.param(["info", "out"], marks=pytest.mark.slow),
        ["info", "out", "--json"],
    ],
)
def test_a_closed_pipe_causes_no_message(arguments, here):
    invoke("fit", "iris", *QUICK, "-o", "out")
    buffered = {name: v for name, v in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "modeclust", *arguments],
        env=buffered,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


OTHER_ENDINGS = ("parquet", "tsv.gz", "feather", "npy", "npz", "mtx")


@pytest.mark.parametrize(
    "ending", ["csv", *(pytest.param(e, marks=pytest.mark.slow) for e in OTHER_ENDINGS)]
)
def test_every_format_in_a_separate_process(ending, tmp_path):
    name, labels = f"data.{ending}", f"labels.{ending}"
    X = FRAME.drop("kind").to_numpy()
    if ending == "npy":
        np.save(tmp_path / name, X)
    elif ending == "npz":
        np.savez(tmp_path / name, X=X)
    elif ending == "mtx":
        mmwrite(tmp_path / name, sparse.csr_array(X))
    else:
        write_columns(tmp_path / name, FRAME.drop("kind").to_dict(as_series=False))
    done = run("fit", name, *QUICK, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads(done.stdout)
    assert results["files"] == sorted({*FILES} - {"labels.csv"} | {labels})
    assert names(tmp_path) == sorted([name, "data.modes"])
    assert json.loads((tmp_path / "data.modes" / "report.json").read_text())["n_rows"] == 150
    if ending != "npz":
        assert read_table(tmp_path / "data.modes" / labels).X.shape == (150, 1)


def test_explore_and_demo_in_separate_processes(tmp_path):
    done = run("explore", "moons", *QUICK, "--no-open", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    done = run("demo", "-o", "demo", "--no-open", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path) == ["demo", "moons-report.html"]
    assert "demo/report.html" in done.stdout


@pytest.mark.posix
def test_an_interrupt_writes_nothing(tmp_path):
    arguments = ("fit", "digits", "-k", "10", "--n-init", "10000000")
    with start(*arguments, cwd=tmp_path) as process:
        time.sleep(8)  # by then it is fitting
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert output == ""
    assert errors == "error: interrupted\n"
    assert names(tmp_path) == []


@pytest.mark.posix
def test_an_interrupted_fit_resumes_from_its_checkpoint(tmp_path):
    arguments = (
        "fit",
        "digits",
        "-k",
        "10",
        "--n-init",
        "20",
        "--checkpoint",
        "digits.c",
        "--json",
    )
    whole = run(*arguments, "-o", "whole", cwd=tmp_path)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert names(tmp_path) == ["whole"]
    with start(*arguments, "-o", "out", cwd=tmp_path) as process:
        while process.poll() is None and not (tmp_path / "digits.c").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (130, "")
    assert errors == "note: run the same command to resume from digits.c\nerror: interrupted\n"
    assert names(tmp_path) == ["digits.c", "whole"]
    done = run(*arguments, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert re.fullmatch(r"note: resuming from digits\.c: \d+ restarts done\n", done.stderr)
    assert names(tmp_path) == ["out", "whole"]
    for name in ("modes.csv", "labels.csv", "path.csv", "report.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
