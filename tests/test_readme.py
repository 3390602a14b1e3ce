import re

import pytest
from pages import DOCS, ROOT, assert_says, blocks, lines_to_run, results, run
from pages import README as PAGE

README = PAGE.read_text(encoding="utf-8")


def test_every_python_block_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block, _ in blocks(PAGE, "python"):
        exec(block, namespace)
    assert namespace["model"].modes_.shape == (10, 64)
    assert [path.name for path in tmp_path.iterdir()] == ["digits.html"]


def test_every_command_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in lines_to_run(PAGE):
        run(line)
    assert (tmp_path / "iris.modes" / "report.html").exists()


@pytest.mark.parametrize("file", re.findall(r"\]\((?!http)(.*?)\)", README))
def test_every_file_that_the_readme_shows_or_links_is_there(file):
    assert (ROOT / file).is_dir() or (ROOT / file).stat().st_size > 500


def test_the_times_in_the_readme_are_those_of_the_benchmarks_page():
    shown = re.findall(r"K = \d+ \| ([\d.]+) \| ([\d.]+) \|$", README, re.MULTILINE)
    measured = [
        tuple(
            f"{workload[part]['contestants']['modeclust']['ratio']['median']:.2f}"
            for part in ("iteration", "kmeans")
        )
        for workload in results("benchmarks")["workloads"].values()
    ]
    assert shown == measured


def test_the_whole_fits_in_the_readme_are_those_of_the_benchmarks_page():
    workloads = results("benchmarks")["workloads"]
    mnist, blobs = (
        workloads[name]["whole_fit"]["contestants"]["modeclust"]["ratio"]["median"]
        for name in ("MNIST-10", "blobs-16")
    )
    assert_says(
        PAGE, f"took {mnist:.2f} (MNIST, K = 10) and {blobs:.2f} (500,000 x 16) of the time"
    )


def test_the_least_gains_in_the_readme_are_those_of_the_benchmarks_page():
    measured = results("benchmarks")
    points = [point for curve in measured["growth"].values() for point in curve["points"]]
    ratios = [
        point["ratio"]["median"]
        for point in points
        if point["shape"][0] <= 200_000 and point["shape"][1] <= 16 and point["shape"][2] <= 20
    ]
    assert max(ratios) == max(point["ratio"]["median"] for point in points) < 1
    assert_says(
        PAGE,
        f"an iteration took {min(ratios):.2f} to {max(ratios):.2f} for up to 200,000 rows in up "
        "to 20 clusters and 16 features",
    )
    ours = measured["workloads"]["TDT2"]["iteration"]["contestants"]["modeclust"]["ratio"]
    assert_says(PAGE, f"{ours['min']:.2f} to {ours['max']:.2f} from turn to turn on text (TDT2)")


def test_the_times_as_they_come_in_the_readme_are_those_of_the_benchmarks_page():
    measured = results("benchmarks")
    mnist, blobs, plane = (
        part["contestants"]["modeclust"]["ratio"]["median"]
        for part in measured["defaults-time"]["sets"]
    )
    assert_says(
        PAGE,
        f"`KModes(K)` took {mnist:.2f} (MNIST), {blobs:.2f} (500,000 x 16) and {plane:.2f} "
        "(1,000,000 x 2) of the time of `KMeans(K)`",
    )
    first_fit = measured["start"]["first_fit"]["modeclust"]["ratio"]["median"]
    assert_says(
        PAGE,
        f"A new process that fits iris takes {first_fit:.1f} of the time of one with "
        "`KMeans(n_init=10)`.",
    )


def test_the_readme_says_how_often_and_on_what_was_measured():
    measured = results("benchmarks")
    assert measured["environment"]["cores"] == 2
    turns = {
        len(workload[part]["contestants"]["modeclust"]["ratio"]["values"])
        for workload in measured["workloads"].values()
        for part in ("iteration", "kmeans")
    }
    assert len(turns) == 1
    assert_says(PAGE, f"Medians of {turns.pop()} turns on two cores")


def test_the_purities_in_the_readme_are_those_of_the_page_on_choosing():
    page = (DOCS / "guide" / "choosing.md").read_text(encoding="utf-8")  # `make docs` runs it
    of_means, of_modes = (
        {
            name: float(re.search(rf"^{name} +{column}", page, re.MULTILINE)[1])
            for name in ("iris", "digits")
        }
        for column in (r"(\S+) ", r"\S+ \S+ +(\S+) ")
    )
    assert of_modes["digits"] == 1
    assert_says(PAGE, f"over five seeds with ten restarts, K-means has {of_means['digits']:.1%}")
    assert of_modes["iris"] < of_means["iris"]
    assert_says(
        PAGE,
        f"Of the 20 rows nearest to a mode, {of_modes['iris']:.1%} are of one class, and of those "
        f"nearest to a mean {of_means['iris']:.0%}",
    )


def test_the_counts_of_claims_in_the_readme_are_those_of_the_papers_page():
    sentence = r"of (\d+), (\d+) were reproduced, (\d+) in part\s+and (\d+) not"
    shown = [int(number) for number in re.search(sentence, README).groups()]
    verdicts = list(results("paper")["verdicts"].values())
    assert shown == [sum(verdicts), *verdicts]
