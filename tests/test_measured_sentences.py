"""Sentences of the pages that name measured numbers name those of the benchmarks page."""

import pytest
from pages import DOCS, assert_says, results

RUN = results("benchmarks")
GUIDE = DOCS / "guide"


@pytest.mark.parametrize("page", ["which_algorithm.md", "performance.md"])
def test_the_cost_of_an_iteration(page):
    ratios = [
        workload["iteration"]["contestants"]["modeclust"]["ratio"]["median"]
        for workload in RUN["workloads"].values()
    ]
    ratios += [p["ratio"]["median"] for curve in RUN["growth"].values() for p in curve["points"]]
    assert_says(
        GUIDE / page,
        f"One iteration of K-modes took {min(ratios):.2f} to {max(ratios):.2f} of the time",
    )


def test_the_numbers_on_the_page_about_performance():
    first_fit = RUN["start"]["first_fit"]["modeclust"]["ratio"]["median"]
    memory = RUN["workloads"]["MNIST-10"]["memory"]["libraries"]
    ours, theirs = (memory[name]["share"] for name in ("modeclust", "scikit-learn"))
    dask = RUN["chunks"]["contestants"]["Dask, 2 processes"]["ratio"]["median"]
    page = GUIDE / "performance.md"
    assert_says(
        page, f"A new process that imports modeclust and fits iris took {first_fit:.2f} of the time"
    )
    assert_says(
        page,
        f"took {ours:.2f} of the memory of X in addition to X, a fit of scikit-learn's `KMeans` "
        f"{theirs:.1f}.",
    )
    assert_says(page, f"Dask on two processes took {dask:.2f} of the time")


def test_the_benchmarks_page_says_what_was_run():
    page = DOCS / "benchmarks.md"
    assert_says(page, f"`benchmarks/run.py --repeats {RUN['repeats']}`")
    text = " ".join(page.read_text(encoding="utf-8").split())
    not_measured = {
        "bounds": "What bounds spare",
        "scale": "how times grow to ten million rows",
        "defaults-quality": "what the defaults give",
        "defaults-outliers": "what the defaults give",
        "defaults-time": "what the defaults give",
        "choosing-k": "how often K is found",
    }
    for part, words in not_measured.items():
        assert (words in text) == (part not in RUN)


def test_a_sentence_that_is_not_there_is_told():
    with pytest.raises(AssertionError, match=r"index\.md should say, as measured: 0\.33 of it"):
        assert_says(DOCS / "index.md", "0.33 of it")
