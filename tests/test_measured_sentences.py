"""Sentences of the pages that name measured numbers name those of the benchmarks page."""

import pytest
from pages import DOCS, assert_says, results

RUN = results("benchmarks")
GUIDE = DOCS / "guide"


def test_the_cost_of_an_iteration():
    ratios = [
        workload["iteration"]["contestants"]["modeclust"]["ratio"]["median"]
        for workload in RUN["workloads"].values()
    ]
    ratios += [p["ratio"]["median"] for curve in RUN["growth"].values() for p in curve["points"]]
    assert_says(
        GUIDE / "which_algorithm.md",
        f"One iteration of K-modes took {min(ratios):.2f} to {max(ratios):.2f} of the time",
    )


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
