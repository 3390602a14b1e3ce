"""Bounds spare the search, and never change what it would find."""

import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data import bounds, mode_pass
from modeclust.data.bounds import group_rows, group_size, half_gaps, moves_between
from modeclust.data.mean_pass import MeanPass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.reading import CentroidLayouts, compiled_form


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
    """Yield centroids that creep, stop, jump, meet each other and leave."""
    centroids = X[rng.choice(len(X), n_clusters, replace=False)].copy()
    for pace in (0.0, 1e-3, 1e-3, 0.0, 1e-2, 0.3, 1e-3, 1e-3, 5.0, 1e-4, 1e-4):
        yield centroids.copy()
        centroids += pace * rng.normal(size=centroids.shape) * X.std()
    centroids[3] = centroids[5]
    yield centroids.copy()
    centroids[:] = X[:n_clusters]
    yield centroids.copy()
    centroids[2] = 1e6
    yield centroids.copy()
    yield centroids + 1e-9


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("n_features", [1, 2, 16, 40, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_labels_are_those_of_a_full_search(rng, name, n_features, dtype, container):
    X = DATA[name](rng, n_features).astype(dtype)
    exact = X.astype(np.float64)
    searched = []
    with MemoryDataset(container(X)) as rows:
        for centroids in walks(exact, rng):
            sums = rows.run(ModePass(centroids, 0, 0.1))
            searched.append(sums.searched)
            with MemoryDataset(container(X)) as fresh:
                full = fresh.run(ModePass(centroids, 0, 0.1))
                assert full.searched == 3000
                np.testing.assert_array_equal(rows.labels(), fresh.labels())
            # Not only the labels: a pass leaves the same bits with and without bounds.
            assert sums.totals.tobytes() == full.totals.tobytes()
            assert sums.objective == full.objective
            squared = reference.squared_distances(exact, centroids)
            nearest = squared.min(axis=1)
            chosen = squared[np.arange(3000), rows.labels()]
            assert np.all(chosen <= nearest * (1 + 1e-11) + 1e-18)
    if name in ("normal", "clusters"):
        assert searched[1] < 3000  # the same centroids once more
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
        for centroids in walks(exact, rng):
            change = rows.run(MeanPass(centroids, after))
            with MemoryDataset(container(X), weight=weight) as fresh:
                full = fresh.run(MeanPass(centroids))
                assert full.read == full.searched == 3000
                np.testing.assert_array_equal(rows.labels(), fresh.labels())
            if total is None:
                total = change
            else:
                total.merge(change)
            # The changes add up to the sums.
            np.testing.assert_array_equal(total.counts, full.counts)
            np.testing.assert_allclose(total.mass, full.mass, atol=1e-9)
            np.testing.assert_allclose(total.totals, full.totals, rtol=1e-9, atol=1e-8)
            after = centroids
            read.append(change.read)
    if name in ("normal", "clusters"):
        assert read[3] < 3000


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_with_groups_of_centroids_are_those_of_a_full_search(rng, monkeypatch, name, dtype):
    X = DATA[name](rng, 100).astype(dtype)
    exact = X.astype(np.float64)
    after = None
    with MemoryDataset(X) as modes, MemoryDataset(X) as means:
        for centroids in walks(exact, rng, n_clusters=67):
            monkeypatch.setattr(bounds, "FEWEST_NUMBERS", 0)
            sums = modes.run(ModePass(centroids, 0, 0.1))
            means.run(MeanPass(centroids, after))
            assert all(state.groups.slack.size > 2 for state in modes.pass_state.states.values())
            monkeypatch.undo()
            with MemoryDataset(X) as fresh:
                full = fresh.run(ModePass(centroids, 0, 0.1))
                known = fresh.pass_state.states.values()
                assert all(state.groups.slack.size == 0 for state in known)
                np.testing.assert_array_equal(modes.labels(), fresh.labels())
                np.testing.assert_array_equal(means.labels(), fresh.labels())
            assert sums.totals.tobytes() == full.totals.tobytes()
            after = centroids


def test_groups_are_for_many_large_centroids_and_take_little_memory():
    X = np.empty((1, 784), dtype=np.float32)
    assert group_size(X, 10, 784) == 0
    assert group_size(X, 100, 784) == 8
    assert group_size(X, 1024, 784) == 11
    assert group_size(X[:, :64], 256, 64) == 0
    assert group_size(X[:, :64], 1024, 64) == 0  # would take more memory than a share of X


def test_groups_hold_every_row_once_and_near_ones_together(rng):
    points = np.vstack([rng.normal(size=(16, 5)), rng.normal(size=(16, 5)) + 100])
    groups = group_rows(points[rng.permutation(32)], 8)
    assert sorted(np.concatenate(groups)) == list(range(32))
    assert max(map(len, groups)) <= 8
    groups = group_rows(points, 8)
    assert all(len(set(members // 16)) == 1 for members in groups)
    assert sorted(np.concatenate(group_rows(np.zeros((9, 2)), 4))) == list(range(9))


@pytest.mark.parametrize("n_features", [2, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_centroids_beyond_single_precision_that_come_back(rng, n_features, dtype, container):
    X = rng.normal(size=(500, n_features)).astype(dtype)
    exact = X.astype(np.float64)
    near, far = exact[:2].copy(), exact[:2].copy()
    far[1, 0] = 1e50
    with MemoryDataset(container(X)) as rows:
        for centroids in (far, far + 1e-9, near, far, near):
            with np.errstate(all="ignore"):
                rows.run(ModePass(centroids, 0, 0.1))
            np.testing.assert_array_equal(rows.labels(), reference.assign(exact, centroids))


def test_a_pass_that_keeps_labels_leaves_the_bounds_alone(rng):
    X = rng.normal(size=(3000, 3))
    centroids = X[:5].copy()
    with MemoryDataset(X) as rows:
        rows.run(ModePass(centroids, 0, 0.1))
        rows.run(ModePass(centroids + 0.5, 0, 0.1, reassign=False))
        again = rows.run(ModePass(centroids, 0, 0.1))
        assert again.changed == 0
        moved = rows.run(ModePass(centroids + 0.01, 0, 0.1))
        np.testing.assert_array_equal(rows.labels(), reference.assign(X, centroids + 0.01))
    assert moved.searched < 3000


def test_another_number_of_clusters_begins_anew(rng):
    X = rng.normal(size=(500, 3))
    with MemoryDataset(X) as rows:
        for n_clusters in (4, 1, 6, 6):
            rows.run(ModePass(X[:n_clusters], 0, 0.1))
            np.testing.assert_array_equal(rows.labels(), reference.assign(X, X[:n_clusters]))


def test_half_gaps_are_half_the_distance_to_the_nearest_other():
    centroids = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    np.testing.assert_allclose(half_gaps(centroids), [2.5, 0.5, 0.5], rtol=1e-8)
    assert np.all(half_gaps(centroids) <= [2.5, 0.5, 0.5])
    assert half_gaps(centroids[:1]).tolist() == [0.0]
    far = half_gaps(centroids + 1e6)
    assert np.all(far <= [2.5, 0.5, 0.5])


def test_moves_of_each_centroid_and_of_the_others():
    before = np.zeros((3, 2))
    after = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]])
    moves = moves_between(before, after)
    np.testing.assert_allclose(moves.own, [5.0, 1.0, 2.0], rtol=1e-8)
    np.testing.assert_allclose(moves.others, [2.0, 5.0, 5.0], rtol=1e-8)
    assert moves_between(before[:1], after[:1]).others.tolist() == [0.0]


@pytest.mark.parametrize("n_features", [2, 40])
@pytest.mark.parametrize("n_clusters", [1, 2, 4, 9])
def test_passes_of_all_kinds_in_any_order(rng, n_features, n_clusters):
    X = rng.normal(size=(2500, n_features))
    centroids, after = X[:n_clusters].copy(), None
    with MemoryDataset(X) as rows:
        rows.run(ModePass(centroids, 0, 0.1))
        for kind in rng.integers(0, 3, size=40):
            centroids = centroids + rng.choice([0.0, 1e-3, 0.05]) * rng.normal(size=centroids.shape)
            if kind == 0:
                rows.run(ModePass(centroids, 0, 0.1, reassign=False))
                continue
            rows.run(ModePass(centroids, 0, 0.1) if kind == 1 else MeanPass(centroids, after))
            after = centroids
            np.testing.assert_array_equal(rows.labels(), reference.assign(X, centroids))


@pytest.mark.parametrize("n_clusters", [4, 5, 6, 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_are_searched_with_and_without_columns(rng, n_clusters, dtype):
    X = sparse.random(2000, 3000, 0.003, format="csr", rng=rng).astype(dtype)
    exact = X.toarray().astype(np.float64)
    centroids = exact[:n_clusters] + 0.01
    layouts = CentroidLayouts(centroids)
    rows_of = compiled_form(X)
    assert layouts.suiting(rows_of, n_searched=5).columns.size == 0
    assert layouts.suiting(rows_of, n_searched=None).columns.shape == (3000, n_clusters)
    with MemoryDataset(X) as rows:
        searched = []
        for _ in range(6):
            sums = rows.run(ModePass(centroids, 0, 0.1))
            searched.append(sums.searched)
            np.testing.assert_array_equal(rows.labels(), reference.assign(exact, centroids))
            centroids = centroids + 1e-4 * rng.normal(size=centroids.shape)
    assert 0 < searched[-1] < 2000


@pytest.mark.parametrize("scale", [1e-30, 1e-21, 1e20])
def test_labels_of_rows_of_any_size(rng, monkeypatch, scale):
    monkeypatch.setattr(bounds, "FEWEST_NUMBERS", 0)
    for dtype in (np.float32, np.float64):
        X = (rng.normal(size=(1500, 100)) * scale).astype(dtype)
        exact = X.astype(np.float64)
        centroids = exact[:67].copy()
        with MemoryDataset(X) as rows:
            for _ in range(4):
                with np.errstate(over="ignore", under="ignore"):
                    rows.run(ModePass(centroids, 0, 0.0))
                np.testing.assert_array_equal(rows.labels(), reference.assign(exact, centroids))
                centroids = centroids + 0.05 * scale * rng.normal(size=centroids.shape)


def test_a_pass_that_failed_leaves_no_bounds_behind(rng, monkeypatch):
    X = rng.normal(size=(1000, 3))
    near, far = X[:5].copy(), X[:5] + 100.0
    with MemoryDataset(X) as rows:
        rows.run(ModePass(near, 0, 0.1))
        with monkeypatch.context() as patch:
            patch.setattr(mode_pass, "_sweep", None)
            with pytest.raises(TypeError):
                rows.run(ModePass(far, 0, 0.1))
        rows.run(ModePass(far + 1e-6, 0, 0.1))
        np.testing.assert_array_equal(rows.labels(), reference.assign(X, far + 1e-6))
