"""Sentences of the pages that name measured numbers name those of the benchmarks page."""

import pytest
from pages import DOCS, assert_says, results

RUN = results("benchmarks")
GUIDE = DOCS / "guide"
LAPLACIAN = GUIDE / "laplacian_kmodes.md"
KMEANS = "scikit-learn KMeans"
GRADIENT, BOUND = "LaplacianKModes gradient", "LaplacianKModes bound"
SETS = {part["data"]["title"].split()[0]: part for part in RUN["laplacian-quality"]["sets"]}


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


def test_how_many_labels_the_solvers_change():
    bound, gradient = (
        [part["contestants"][solver]["moved"]["mean"] for part in SETS.values()]
        for solver in (BOUND, GRADIENT)
    )
    assert_says(
        LAPLACIAN,
        f'"bound" changes {100 * min(bound):.0f} to {max(bound):.0%} of the labels, '
        f'and "gradient" {100 * min(gradient):.0f} to {max(gradient):.0%}.',
    )


def test_which_solver_finds_classes_better():
    overlap = {}
    for name, part in SETS.items():
        for score in ("nmi", "adjusted_rand"):
            gradient, bound = (part["contestants"][solver][score] for solver in (GRADIENT, BOUND))
            assert gradient["mean"] > bound["mean"]
            if gradient["min"] < bound["max"]:
                overlap[name] = None
    assert_says(LAPLACIAN, f"over the seeds, those of the two overlap on {' and '.join(overlap)}.")


def test_the_time_of_the_solvers():
    bound, gradient = (RUN["laplacian-bound"]["contestants"][name] for name in (BOUND, GRADIENT))
    assert max(bound["iterations"]) < min(gradient["iterations"])
    assert_says(
        LAPLACIAN,
        f"On 60,000 rows a fit took {bound['seconds']['median']:.0f} s, "
        f"of which {bound['graph_share']['median']:.0%} were the graph, "
        f'and one of "gradient" {gradient["seconds"]["median"]:.0f} s.',
    )


def test_where_the_bound_gains_little():
    of_set = SETS["COIL20"]["contestants"]
    for score in ("accuracy", "adjusted_rand"):
        ours, theirs = of_set[BOUND][score], of_set[KMEANS][score]
        assert abs(ours["mean"] - theirs["mean"]) < theirs["max"] - theirs["min"]
    assert_says(
        LAPLACIAN,
        f"({ours['min']:.3f} to {ours['max']:.3f}, "
        f"beside {theirs['min']:.3f} to {theirs['max']:.3f})",
    )


def test_the_fit_from_the_authors_start():
    part = RUN["laplacian-authors"]
    default, far = part["fits"].values()
    assert_says(
        LAPLACIAN,
        f"a fit takes {default['seconds']['median']:.2g} s with the default limits: it ends at "
        f"{default['objective_ratio']:.5f} of their objective, with {default['same_labels']:.1%} "
        f"of their labels.",
    )
    assert_says(
        LAPLACIAN,
        f"it takes {far['seconds']['median']:.2g} s and ends at {far['objective_ratio']:.4f} "
        f"of it. Their program took {part['their_seconds']} s",
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
