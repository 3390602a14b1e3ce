"""Sentences of the pages that name measured numbers name those of the benchmarks page."""

from statistics import fmean

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
    assert_says(DOCS / "benchmarks.md", f"`benchmarks/run.py --repeats {RUN['repeats']}`")
    assert RUN["failed"] == []


def test_the_table_of_how_often_k_is_right():
    rows = [
        "32 single clusters: normal, uniform, exponential, heavy tails",
        "48 of blobs, at least four standard deviations apart",
        "48 of blobs anywhere, many of which overlap in two dimensions",
        "23 of the [battery](../battery.md), of many shapes",
    ]
    for row, kind in zip(rows, RUN["choosing-k"]["kinds"].values(), strict=True):
        ours = kind["ways"]["suggest_clusters"]
        assert row.startswith(f"{kind['n_sets']} ")
        sure = f"{ours['n_sure_and_right']} of {ours['n_sure']}"
        assert_says(GUIDE / "choosing_k.md", f"| {row} | {ours['right']:.2f} | {sure} |")


def test_the_areas_of_outlier_scores_and_unsure_rows():
    page, part = GUIDE / "confidence.md", RUN["confidence"]

    def areas(sets):
        names = ("KModes", "IsolationForest", "LocalOutlierFactor")
        return [fmean(known["scores"][name]["mean"] for known in part[sets]) for name in names]

    for sets, text in (("outliers", "images"), ("unseen_outliers", "bent sheets")):
        ours, forest, local = areas(sets)
        assert_says(page, f"{text} | **{ours:.2f}** | {forest:.2f} | {local:.2f} |")
    entropy = fmean(known["scores"]["KModes"]["mean"] for known in part["entropy"])
    assert_says(page, f"curve of {entropy:.2f}, on ten data sets")
    assert len(part["entropy"]) == 10


def test_the_table_of_text_by_both_metrics():
    page, sets = GUIDE / "text.md", RUN["cosine-text"]["sets"]
    assert_says(page, f"| SciPy, {sets['SciPy, tf-idf']['shape'][0]} texts, tf-idf |")
    assert_says(page, f"| TDT2, {sets['TDT2, tf-idf']['shape'][0]:,} news stories")
    for known in sets.values():
        for metric, own in known["metrics"].items():
            found = " | ".join(f"{own[key]:.3f}" for key in ("kmeans", "lowest", "highest"))
            assert_says(page, f"| {metric} | {found} |")


def test_the_times_of_large_fits_on_dask():
    page, part = GUIDE / "large_data.md", RUN["scale"]
    latency, each, once = (
        part["latency"],
        part["pass_per_row"] * part["n_workers"],  # of one worker
        part["once_per_row"] * part["n_workers"],
    )
    times = f"{1e3 * latency:.1f} ms, $c$ = {1e9 * each:.0f} ns and $e$ = {1e6 * once:.1f} µs."
    assert_says(page, rf"$\ell$ = {times}")
    for run, rows, digits in zip(part["runs"], ("1 million", "10 million"), (1, 0), strict=True):
        ratio = run["seconds"] / run["predicted"]
        times = [f"{run[key]:.{digits}f} s" for key in ("predicted", "seconds")]
        assert_says(page, f"| {rows} | {run['n_passes']} | {times[0]} | {times[1]} | {ratio:.2f} |")
    minutes = (500 * (latency + each * 1e7) + once * 1e7) / 60
    assert_says(page, f"take about **{minutes:.0f} minutes** for 500 passes")


def test_a_sentence_that_is_not_there_is_told():
    with pytest.raises(AssertionError, match=r"index\.md should say, as measured: 0\.33 of it"):
        assert_says(DOCS / "index.md", "0.33 of it")
