"""Every example runs, finds what its text says, and leaves no file. `make docs` runs these."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
ARGUMENTS = {"digits": ["pictures"]}
FILES = {"digits": ["pictures", "pictures/digits.html", "pictures/digits.png"]}

pytestmark = [pytest.mark.docs, pytest.mark.timeout(600)]  # some of it is to compile


def numbers(line):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", line)]


def rows_below(head, printed):
    """Return the numbers of the lines below a head, up to the first line that has none in front."""
    rows = []
    for line in printed.partition(head)[2].splitlines()[1:]:
        if not re.match(r" *\d", line):
            break
        rows.append(numbers(line))
    return rows


def check_colours(printed):
    means, modes = (
        numbers(line.partition(name)[2])
        for name in ("K-means", "K-modes")
        for line in printed.splitlines()
        if line.startswith(name)
    )
    share, error = slice(1, 4), 4
    assert all(ours > theirs for ours, theirs in zip(modes[share], means[share], strict=True))
    assert modes[error] > means[error]


def check_digits(printed):
    clusters = rows_below("cluster  size", printed)
    assert len(clusters) == 10
    assert min(row[3] for row in clusters) < 1
    assert all(row[4] == 1 for row in clusters)


def check_documents(printed):
    rows = [(row[-2], row[-1]) for row in rows_below("cluster  documents", printed)]
    assert sum(mode < mean for mean, mode in rows) > len(rows) / 2


def check_moons_and_spirals(printed):
    of_turns = dict(re.findall(r"([\d.]+) turns: adjusted Rand index ([\d.]+)", printed))
    assert of_turns["0.75"] == "1.00"
    assert float(of_turns["1.25"]) < 0.5
    assert re.findall(r"of these (\d+) to a wrong one", printed) == ["0", "0"]


def check_outliers(printed):
    rows = {int(row[0]): row[1:3] for row in rows_below("distance", printed)}
    means, modes = rows[12]
    assert modes < means / 4
    means, modes = rows[20]
    assert modes > means
    three, four = (numbers(line)[-1] for line in re.findall(r"\d clusters, of .*", printed))
    assert four < 1 < three


def check_too_many_clusters(printed):
    factors, *left = (
        numbers(line)[-11:] for line in re.findall(r"(?:bandwidth /|left of) .*", printed)
    )
    assert len(left) == 3
    for number in left:
        assert number[0] == 1
        assert number[factors.index(1)] == 4


CHECKS = {
    "colours": check_colours,
    "digits": check_digits,
    "documents": check_documents,
    "moons_and_spirals": check_moons_and_spirals,
    "outliers": check_outliers,
    "too_many_clusters": check_too_many_clusters,
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs(example, tmp_path):
    name = example.stem
    displays = ("DISPLAY", "WAYLAND_DISPLAY")  # with one, showing a figure by Agg is a warning
    kept = {key: value for key, value in os.environ.items() if key not in displays}
    done = subprocess.run(
        [sys.executable, "-W", "error", example, *ARGUMENTS.get(name, [])],
        cwd=tmp_path,
        env={**kept, "MPLBACKEND": "Agg"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    made = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert made == FILES.get(name, [])
    if name in CHECKS:
        CHECKS[name](done.stdout)
