"""The neighbour graph that adapts to the density."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from modeclust.solvers.density_graph import (
    automatic_neighbors,
    component_joins,
    contrasted_affinities,
    density_graph,
    inverse_affinities,
    normalised,
)
from modeclust.solvers.neighbors import nearest_other_rows


def graph(X, n_neighbors):
    return density_graph(X, nearest_other_rows(X, n_neighbors))


def test_q_by_hand():
    X = np.array([[0.0], [1.0], [3.0]])
    q, scales = graph(X, 1)
    np.testing.assert_array_equal(scales, [1, 1, 2])
    mean = 4 / 3
    np.testing.assert_allclose(
        q.toarray(), np.array([[0, 1 + 1, 0], [1 + 1, 0, 0], [0, 4 + 2, 0]]) / (2 * mean**2)
    )
    # The third row is not the neighbour of the second one, so their affinity is half.
    mutual, one_way = 2 * mean**2 / 2, 2 * mean**2 / 6 / 2
    np.testing.assert_allclose(
        inverse_affinities(q).toarray(), [[0, mutual, 0], [mutual, 0, one_way], [0, one_way, 0]]
    )


@pytest.mark.parametrize("n_neighbors", [1, 2, 5])
def test_affinities_by_plain_loops(n_neighbors):
    X = np.random.default_rng(0).normal(size=(60, 3))
    q, scales = graph(X, n_neighbors)
    away = cdist(X, X)
    np.fill_diagonal(away, np.inf)
    nearest = np.argsort(away, axis=1)
    c = np.sort(away, axis=1)[:, max(1, n_neighbors // 2) - 1]
    np.testing.assert_allclose(scales, c)
    dense = q.toarray()
    for i in range(60):
        for j in nearest[i, :n_neighbors]:
            wanted = (away[i, j] ** 2 + c[i] * c[j]) / (2 * c.mean() ** 2)
            assert dense[i, j] == pytest.approx(wanted)
    inverse, contrasted = np.zeros((60, 60)), np.zeros((60, 60))
    for i, j in np.argwhere(dense > 0):
        for a, b in ((i, j), (j, i)):
            inverse[a, b] += 0.5 / dense[i, j]
            contrasted[a, b] += 0.5 * max(np.exp(-2 * dense[i, j]), 1e-12)
    np.testing.assert_allclose(contrasted_affinities(q).toarray(), contrasted)
    np.testing.assert_allclose(inverse_affinities(q).toarray(), inverse)
    inverse = inverse_affinities(q)
    assert abs(inverse - inverse.T).max() == 0
    degrees = np.asarray(inverse.sum(axis=1)).ravel()
    P = normalised(inverse, degrees)
    assert abs(P - P.T).max() == 0
    np.testing.assert_allclose(
        P.toarray(), inverse.toarray() / np.sqrt(np.outer(degrees, degrees)), atol=1e-15
    )


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("sizes", [(30, 5, 2), (200, 80, 70, 3), (4, 4, 4)])
def test_the_graph_is_connected_by_the_shortest_edges(sizes, container):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(100 * i, 1, (n, 2)) for i, n in enumerate(sizes)])
    part = np.repeat(np.arange(len(sizes)), sizes)
    inside = sparse.csr_array((part[:, None] == part).astype(float))
    first, second = component_joins(container(X), inside)
    assert len(first) >= len(sizes) - 1
    joined = inside + sparse.csr_array((np.ones(len(first)), (first, second)), shape=inside.shape)
    assert connected_components(joined, directed=False)[0] == 1
    away = cdist(X, X)
    n_first = len(sizes) - 1  # in the first round, each part but the largest is joined once
    for i, j in zip(first[:n_first], second[:n_first], strict=True):
        others = away[np.ix_(part == part[i], part != part[i])]
        assert away[i, j] == others.min()
    q, _ = density_graph(container(X), nearest_other_rows(container(X), 1))
    assert connected_components(q)[0] == 1


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_of_many_rows_only_some_are_searched(container, monkeypatch):
    # Three lines of 70 rows along one axis, with gaps of 10 and 12.
    X = np.concatenate([start + np.linspace(0, 10, 70) for start in (0, 20, 42)])[:, None]
    inside = sparse.block_diag([np.ones((70, 70))] * 3, format="csr")
    exact = component_joins(container(X), inside)
    monkeypatch.setattr("modeclust.solvers.density_graph.MAX_PAIRS", 3 * 140)
    found = component_joins(container(X), inside)
    assert np.array(found).tolist() == np.array(exact).tolist()
    assert np.array(found).tolist() == [[70, 140], [69, 139]]


def test_equal_rows():
    for X in (np.ones((20, 2)), np.repeat([[0.0], [1.0]], 10, axis=0)):
        q, scales = graph(X, 3)
        assert np.all(scales > 0)
        assert np.all(np.isfinite(q.data))
        assert np.all(q.data > 0)
        assert connected_components(q)[0] == 1


@pytest.mark.parametrize("factor", [2.0**-60, 1.0, 2.0**60])
def test_it_has_no_scale(factor):
    X = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_array_equal(graph(X * factor, 4).q.data, graph(X, 4).q.data)


def test_neighbors_that_were_not_found_are_left_out():
    distances = np.array([[1.0, np.inf], [1.0, 2.0], [2.0, np.inf]])
    neighbors = np.array([[1, -1], [0, 2], [1, -1]])
    X = np.array([[0.0], [1.0], [3.0]])
    q, scales = density_graph(X, (distances, neighbors))
    assert q.nnz == 4
    assert np.all(np.isfinite(scales))


def test_small_clusters_get_few_neighbors():
    assert automatic_neighbors(10_000, 10) == 10
    assert automatic_neighbors(200, 20) == 4
    assert automatic_neighbors(2, 1) == 1
