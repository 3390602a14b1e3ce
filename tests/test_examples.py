"""Every example runs, finds what its text says, and leaves no file. `make docs` runs these."""

import codecs
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pages import README, assert_says
from sklearn.utils import Bunch

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
EXAMPLES_BY_NAME = {example.stem: example for example in EXAMPLES}
ARGUMENTS = {"digits": ["pictures"]}
FILES = {"digits": ["pictures", "pictures/digits.html", "pictures/digits.png"]}

pytestmark = [pytest.mark.docs, pytest.mark.timeout(600)]


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


def check_any_clustering(printed):
    rows = np.array(rows_below("cluster  rows", printed))
    assert len(rows) == numbers(printed)[0]
    averaged, size, of_mean, of_mode = rows[:, 2], rows[:, 1], rows[:, 5], rows[:, 7]
    assert np.all(averaged < size / 2)
    assert of_mean.min() < 60
    assert of_mode.min() == 100


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


def check_customers(printed):
    assert "left out: ID (an id), cost of contact (constant)" in printed
    assert sum(numbers(re.search(r"customers +(\d.*)", printed)[1])) == 2240
    ours, usual, as_they_are = (
        numbers(re.search(rf"{name}: (.*)", printed)[1])[0]
        for name in ("prepared", "the usual way", "only numbers, as they are")
    )
    assert as_they_are < 0.1 < usual < ours


def check_dask_cluster(printed):
    assert "labels: dask.array<" in printed
    sizes = numbers(re.search(r"rows in each cluster: (.*)", printed)[1])
    assert len(sizes) == 5
    assert sum(sizes) == 1_000_000
    gap, n_other_labels = re.search(r"differ by (\S+), and (\d+) labels", printed).groups()
    assert float(gap) < 1e-12
    assert n_other_labels == "0"


def check_degrees(printed):
    (_, most_of_random, _), (least_of_power, _, median) = (
        numbers(line) for line in re.findall(r"degrees of the .*: (.*)", printed)
    )
    assert most_of_random < least_of_power
    lines = re.findall(r"modes at .*", printed)
    (_, mean, _, before), *_, (_, mode, smaller, after) = (numbers(line) for line in lines)
    assert mean > 5 * median  # among the hubs
    assert mode < median
    assert before < 0.1
    assert (smaller, after) == (500, 1)


def check_digits(printed):
    clusters = rows_below("cluster  size", printed)
    assert len(clusters) == 10
    assert min(row[4] for row in clusters) < 1
    assert all(row[5] == 1 for row in clusters)
    *_, first, last = numbers(re.search(r"^ *mean .*", printed, re.MULTILINE)[0])
    assert_says(
        README,
        f"nearest to its mean, {first:.1%} are of one class; of those nearest to its mode, "
        f"{last:.0%} (`make demo`)",
    )
    changed = re.search(r"labels that are not those of K-means: (.*)", printed)[1]
    of_kmeans, of_kmodes = re.search(r"K-means (0\.\d+), K-modes (0\.\d+)", printed).groups()
    assert_says(
        README,
        f"{changed} of the labels differ from those of K-means, and the adjusted Rand index is "
        f"{of_kmodes} instead of {of_kmeans}",
    )


def check_documents(printed):
    shares = [int(share) for share in re.findall(r"documents, (\d+)% of", printed)]
    assert len(shares) == 9
    assert np.median(shares) > 75
    found = re.findall(r"lengths (.*) to (.*), largest cluster (\d+) of", printed)
    (shortest, longest, heap), (unit, same, largest) = [[float(n) for n in row] for row in found]
    assert longest > 2 * shortest
    assert unit == same == 1
    assert largest < heap


def check_grid_search(printed):
    assert "by score: bandwidth 16, the largest" in printed
    assert "by class: K = 3" in printed
    assert "adjusted Rand index 1.000" in printed
    (likely,) = numbers(re.search(r"by likelihood: .*", printed)[0])
    assert 0.25 < likely < 16  # a peak within the grid
    pairs = re.findall(r"K = (\d): redundant pairs (.*)", printed)
    assert [k for k, found in pairs if found == "[]"] == ["2", "3"]
    assert [k for k, found in pairs if found != "[]"] == ["4", "5"]


def check_landmarks(printed):
    rows = rows_below("landmarks  noise", printed)
    assert len(rows) == 6
    for number, noise, *measured in rows:
        distances, errors = np.reshape(measured, (2, 3))
        of_rows, of_means, of_modes = distances
        if number == 20:
            assert 0.35 < of_modes / of_means < 0.65
        else:
            assert abs(of_modes - of_means) < 0.02
        assert (of_rows < 0.01) == (noise == 0)
        assert abs(errors[2] - errors[1]) < 0.01
        assert errors.argmax() == 0  # that of random rows


def check_measurements(printed):
    assert min(numbers(re.search(r"similarity: (.*)", printed)[1])) >= 0.85
    assert re.search(r"^ +kmodes0 +kmodes1 +kmodes2$", printed, re.MULTILINE)
    of_mean, of_medoid, of_mode = (
        numbers(re.search(rf"^ *{name}: (.*)", printed, re.MULTILINE)[1])
        for name in ("mean", "medoid", "mode")
    )
    for mean, medoid, mode in zip(of_mean, of_medoid, of_mode, strict=True):
        assert mode < mean < medoid


def check_moons_and_spirals(printed):
    of_turns = dict(re.findall(r"([\d.]+) turns: adjusted Rand index ([\d.]+)", printed))
    assert of_turns["1.00"] == "1.00"
    assert float(of_turns["1.25"]) < 0.6
    assert float(of_turns["1.50"]) < 0.5
    *_, (sure, wrong, unsure, wrong_unsure) = re.findall(
        r"(\d+) rows belong .* of these (\d+) to a wrong one; of the other (\d+), (\d+)", printed
    )
    assert int(wrong_unsure) / int(unsure) > 2 * int(wrong) / int(sure)


def check_how_many_clusters(printed):
    assert "blobs: 6 clusters\n" in printed
    assert "moons: not sure: 2 by peaks" in printed
    assert "agreement with the moons: 1.00" in printed
    assert len(re.findall(r"normal, \d+ dimensions: 1 cluster\n", printed)) == 3
    assert "digits: not sure: " in printed
    assert "KModes: 6 clusters" in printed


def check_outliers(printed):
    rows = {int(row[0]): row[1:5] for row in rows_below("distance", printed)}
    means, paper, centers, modes = rows[20]
    assert max(paper, centers) < means / 2
    for means, paper, centers, modes in (rows[100], rows[1000]):
        assert centers < modes < 1 < 4 < min(means, paper)
    three, four = (numbers(line)[-1] for line in re.findall(r"\d clusters, of .*", printed))
    assert four < 1 < three


def check_spectral(printed):
    rows = rows_below("            K-means  K-modes", printed)
    assert len(rows) == 5
    for _, index, index_of_modes, length, length_of_modes, gap, gap_of_modes in rows:
        assert index_of_modes > index - 0.01
        assert length < 0.95 < 0.99 < length_of_modes
        assert gap_of_modes < gap / 3
    around_mean, around_mode = (numbers(line) for line in re.findall(r"of its \w+: (.*)", printed))
    assert around_mean[0] == 0
    assert around_mode[0] > 0.1
    assert max(around_mean[-1], around_mode[-1]) < 0.9


def check_too_many_clusters(printed):
    factors, *left = (
        numbers(line)[-11:] for line in re.findall(r"(?:bandwidth /|left of) .*", printed)
    )
    assert len(left) == 3
    for n_clusters, number in zip((4, 8, 12), left, strict=True):
        assert number[0] == n_clusters  # too wide to tell
        assert number[factors.index(1)] == 4


def check_unsure_rows(printed):
    n_above, n_rows, _, n_scattered, _, n_pieces, _ = numbers(printed)
    assert n_scattered >= 10
    assert n_above < 0.03 * n_rows
    assert n_pieces >= 16


CHECKS = {
    "any_clustering": check_any_clustering,
    "colours": check_colours,
    "customers": check_customers,
    "dask_cluster": check_dask_cluster,
    "degrees": check_degrees,
    "digits": check_digits,
    "documents": check_documents,
    "grid_search": check_grid_search,
    "landmarks": check_landmarks,
    "how_many_clusters": check_how_many_clusters,
    "measurements": check_measurements,
    "moons_and_spirals": check_moons_and_spirals,
    "outliers": check_outliers,
    "spectral": check_spectral,
    "too_many_clusters": check_too_many_clusters,
    "unsure_rows": check_unsure_rows,
}


def run(example, folder, **environment):
    displays = ("DISPLAY", "WAYLAND_DISPLAY")  # with one, showing a figure by Agg is a warning
    kept = {key: value for key, value in os.environ.items() if key not in displays}
    done = subprocess.run(
        [sys.executable, "-W", "error", example, *ARGUMENTS.get(example.stem, [])],
        cwd=folder,
        env={**kept, "MPLBACKEND": "Agg", **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs(example, tmp_path):
    name = example.stem
    printed = run(example, tmp_path)
    made = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert made == FILES.get(name, [])
    CHECKS[name](printed)


def test_the_documents_are_posts_of_newsgroups_where_these_are_there(tmp_path):
    rng = np.random.default_rng(0)
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    names = sorted(re.findall(r'"([a-z]+\.[a-z.]+)",', EXAMPLES_BY_NAME["documents"].read_text()))
    target = np.arange(400) % len(names)
    words = [[f"{name.replace('.', '')}{chr(97 + j)}x" for j in range(20)] for name in names]
    posts = [f"From: me\n\n{' '.join(rng.choice(words[group], 80))}" for group in target]
    news = Bunch(
        data=posts, target=target, target_names=names, filenames=np.array(["post"] * len(posts))
    )
    packed = codecs.encode(pickle.dumps({"train": news}), "zlib_codec")
    (home / "20news-bydate_py3.pkz").write_bytes(packed)  # as scikit-learn keeps them
    printed = run(EXAMPLES_BY_NAME["documents"], folder, SCIKIT_LEARN_DATA=str(home))
    assert printed.startswith("400 documents, 160 terms")
    assert {name for name in names if name in printed} == set(names)
