"""Bounds spare the search, and never change what it would find."""

import signal
from itertools import count

import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data.mean_pass import MeanPass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass


def as_measured(centers, X):
    """Return centers as rows are compared with them: float32 for long dense float32 rows."""
    if sparse.issparse(X) or X.dtype != np.float32 or X.shape[1] < 64:
        return centers
    return centers.astype(np.float32).astype(np.float64)


def grid(rng, n_features):
    return rng.integers(0, 4, size=(3000, n_features)).astype(float)


DATA = {
    "normal": lambda rng, d: rng.normal(size=(3000, d)),
    "ties": grid,
    "duplicates": lambda rng, d: rng.normal(size=(20, d))[rng.integers(0, 20, size=3000)],
    "offset": lambda rng, d: rng.normal(size=(3000, d)) + 500,
    "clusters": lambda rng, d: rng.normal(size=(3000, d)) + 9 * rng.integers(0, 5, size=(3000, 1)),
    "constant": lambda rng, d: np.ones((3000, d)),
}


def walks(X, rng, n_clusters=7):
    """Yield centers that creep, stop, jump, meet each other and leave."""
    centers = X[rng.choice(len(X), n_clusters, replace=False)].copy()
    for pace in (0.0, 1e-3, 1e-3, 0.0, 1e-2, 0.3, 1e-3, 1e-3, 5.0, 1e-4, 1e-4):
        yield centers.copy()
        centers += pace * rng.normal(size=centers.shape) * X.std()
    centers[3] = centers[5]
    yield centers.copy()
    centers[:] = X[:n_clusters]
    yield centers.copy()
    centers[2] = 1e6
    yield centers.copy()
    yield centers + 1e-9


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("n_features", [1, 2, 16, 40, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_labels_are_those_of_a_full_search(rng, name, n_features, dtype, container):
    X = DATA[name](rng, n_features).astype(dtype)
    exact = X.astype(np.float64)
    searched = []
    with MemoryDataset(container(X)) as rows:
        for centers in walks(exact, rng):
            sums = rows.run(ModePass(centers, 0, 0.1))
            searched.append(sums.searched)
            with MemoryDataset(container(X)) as fresh:
                full = fresh.run(ModePass(centers, 0, 0.1))
                assert full.searched == 3000
                np.testing.assert_array_equal(rows.labels(), fresh.labels())
            # Not only the labels: a pass leaves the same bits with and without bounds.
            assert sums.totals.tobytes() == full.totals.tobytes()
            assert sums.objective == full.objective
            squared = reference.squared_distances(exact, as_measured(centers, container(X)))
            nearest = squared.min(axis=1)
            chosen = squared[np.arange(3000), rows.labels()]
            assert np.all(chosen <= nearest * (1 + 1e-11) + 1e-18)
    if name in ("normal", "clusters"):
        assert searched[1] < 3000  # the same centers once more
        assert np.mean(searched) < 2900


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("n_features", [1, 2, 16, 40, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_labels_of_rows_that_are_not_read_are_those_of_a_full_search(
    rng, name, n_features, dtype, container
):
    X = DATA[name](rng, n_features).astype(dtype)
    exact = X.astype(np.float64)
    weight = rng.integers(0, 3, size=3000).astype(float)
    total, after, read = None, None, []
    with MemoryDataset(container(X), weight=weight) as rows:
        for centers in walks(exact, rng):
            change = rows.run(MeanPass(centers, after))
            with MemoryDataset(container(X), weight=weight) as fresh:
                full = fresh.run(MeanPass(centers))
                assert full.read == full.searched == 3000
                np.testing.assert_array_equal(rows.labels(), fresh.labels())
            if total is None:
                total = change
            else:
                total.merge(change)
            # The changes add up to the sums.
            np.testing.assert_array_equal(total.counts, full.counts)
            np.testing.assert_allclose(total.mass, full.mass, atol=1e-9)
            in_float32 = dtype == np.float32 and n_features >= 64 and container is np.asarray
            rtol, atol = (1e-6, 1e-4 * np.abs(X).max()) if in_float32 else (1e-9, 1e-8)
            np.testing.assert_allclose(total.totals, full.totals, rtol=rtol, atol=atol)
            after = centers
            read.append(change.read)
    if name in ("normal", "clusters"):
        assert read[3] < 3000


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_with_groups_of_centers_are_those_of_a_full_search(rng, name, dtype):
    X = DATA[name](rng, 100).astype(dtype)
    exact = X.astype(np.float64)
    after = None
    with MemoryDataset(X) as modes, MemoryDataset(X) as means:
        for centers in walks(exact, rng, n_clusters=67):
            sums = modes.run(ModePass(centers, 0, 0.1))
            means.run(MeanPass(centers, after))
            with MemoryDataset(X) as fresh:
                full = fresh.run(ModePass(centers, 0, 0.1))
                np.testing.assert_array_equal(modes.labels(), fresh.labels())
                np.testing.assert_array_equal(means.labels(), fresh.labels())
            assert sums.totals.tobytes() == full.totals.tobytes()
            expected = reference.assign(exact, as_measured(centers, X))
            if name in ("normal", "clusters"):  # the others have ties
                np.testing.assert_array_equal(modes.labels(), expected)
            after = centers


@pytest.mark.parametrize("n_features", [2, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_centers_beyond_single_precision_that_come_back(rng, n_features, dtype, container):
    X = rng.normal(size=(500, n_features)).astype(dtype)
    exact = X.astype(np.float64)
    near, far = exact[:2].copy(), exact[:2].copy()
    far[1, 0] = 1e50
    with MemoryDataset(container(X)) as rows:
        for centers in (far, far + 1e-9, near, far, near):
            with np.errstate(all="ignore"):
                rows.run(ModePass(centers, 0, 0.1))
            np.testing.assert_array_equal(rows.labels(), reference.assign(exact, centers))


def test_a_pass_that_keeps_labels_leaves_the_bounds_alone(rng):
    X = rng.normal(size=(3000, 3))
    centers = X[:5].copy()
    with MemoryDataset(X) as rows:
        rows.run(ModePass(centers, 0, 0.1))
        rows.run(ModePass(centers + 0.5, 0, 0.1, reassign=False))
        again = rows.run(ModePass(centers, 0, 0.1))
        assert again.changed == 0
        moved = rows.run(ModePass(centers + 0.01, 0, 0.1))
        np.testing.assert_array_equal(rows.labels(), reference.assign(X, centers + 0.01))
    assert moved.searched < 3000


def test_another_number_of_clusters_starts_again(rng):
    X = rng.normal(size=(500, 3))
    with MemoryDataset(X) as rows:
        for n_clusters in (4, 1, 6, 6):
            rows.run(ModePass(X[:n_clusters], 0, 0.1))
            np.testing.assert_array_equal(rows.labels(), reference.assign(X, X[:n_clusters]))


@pytest.mark.parametrize("n_features", [2, 40])
@pytest.mark.parametrize("n_clusters", [1, 2, 4, 9, 64])
def test_passes_of_all_kinds_in_any_order(rng, n_features, n_clusters):
    X = rng.normal(size=(2500, n_features))
    centers, after = X[:n_clusters].copy(), None
    with MemoryDataset(X) as rows:
        rows.run(ModePass(centers, 0, 0.1))
        for kind in rng.integers(0, 3, size=40):
            centers = centers + rng.choice([0.0, 1e-3, 0.05]) * rng.normal(size=centers.shape)
            if kind == 0:
                more = [centers, centers[:1]] if rng.random() < 0.5 else [centers]
                rows.run(ModePass(np.concatenate(more), 0, 0.1, reassign=False))
                continue
            rows.run(ModePass(centers, 0, 0.1) if kind == 1 else MeanPass(centers, after))
            after = centers
            np.testing.assert_array_equal(rows.labels(), reference.assign(X, centers))


@pytest.mark.parametrize("n_clusters", [4, 5, 6, 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_are_searched_with_and_without_columns(rng, n_clusters, dtype):
    X = sparse.random(2000, 3000, 0.003, format="csr", rng=rng).astype(dtype)
    exact = X.toarray().astype(np.float64)
    centers = exact[:n_clusters] + 0.01
    with MemoryDataset(X) as rows:
        searched = []
        for _ in range(6):
            sums = rows.run(ModePass(centers, 0, 0.1))
            searched.append(sums.searched)
            np.testing.assert_array_equal(rows.labels(), reference.assign(exact, centers))
            centers = centers + 1e-4 * rng.normal(size=centers.shape)
    assert 0 < searched[-1] < 2000


@pytest.mark.parametrize("scale", [1e-30, 1e-21, 1e20])
def test_labels_of_rows_of_any_size(rng, scale):
    for dtype in (np.float32, np.float64):
        X = (rng.normal(size=(1500, 100)) * scale).astype(dtype)
        exact = X.astype(np.float64)
        centers = exact[:67].copy()
        with MemoryDataset(X) as rows:
            for _ in range(4):
                with np.errstate(over="ignore", under="ignore"):
                    rows.run(ModePass(centers, 0, 0.0))
                expected = reference.assign(exact, as_measured(centers, X))
                np.testing.assert_array_equal(rows.labels(), expected)
                centers = centers + 0.05 * scale * rng.normal(size=centers.shape)


@pytest.mark.posix
def test_a_pass_that_is_interrupted_leaves_no_labels_behind(rng):
    X = rng.normal(size=(400_000, 40))
    centers = X[:200].copy()
    with MemoryDataset(X, n_jobs=1) as rows:
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.1)

        def run_forever():
            for step in count():
                rows.run(ModePass(centers + 0.1 * step, 0, 0.1))

        try:
            with pytest.raises(KeyboardInterrupt):
                run_forever()
        finally:
            signal.signal(signal.SIGALRM, before)
        if not rows.rows.has_labels:  # the signal came within a pass, and not between two
            with pytest.raises(RuntimeError, match="no labels yet"):
                rows.run(ModePass(centers, 0, 0.1, reassign=False))
        rows.run(ModePass(centers[:3], 0, 0.1))
        np.testing.assert_array_equal(rows.labels(), reference.assign(X, centers[:3]))
