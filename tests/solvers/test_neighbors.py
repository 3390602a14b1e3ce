import numpy as np
import pytest

from modeclust.solvers.neighbors import nearest_other_rows, neighbor_graph


def test_a_graph_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    distances, neighbors = nearest_other_rows(X, 1)
    assert neighbors.ravel().tolist() == [1, 0, 1, 2]
    graph = neighbor_graph(distances, neighbors, 2.0).toarray()
    wanted = np.zeros((4, 4))
    for i, j, away in [(0, 1, 1), (1, 2, 2), (2, 3, 4)]:
        wanted[i, j] = wanted[j, i] = np.exp(-(away**2) / 8)
    np.testing.assert_allclose(graph, wanted)


def test_scales_of_each_row_multiply():
    X = np.array([[0.0], [1.0], [3.0]])
    distances, neighbors = nearest_other_rows(X, 1)
    graph = neighbor_graph(distances, neighbors, np.array([1.0, 2.0, 4.0])).toarray()
    assert graph[0, 1] == pytest.approx(np.exp(-1 / 4))
    assert graph[1, 2] == graph[2, 1] == pytest.approx(np.exp(-4 / 16))


def test_without_scales_the_affinity_of_neighbours_is_1(rng):
    X = rng.normal(size=(80, 3))
    graph = neighbor_graph(*nearest_other_rows(X, 4), None)
    away = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(away, np.inf)
    near = np.argsort(away, axis=1)[:, :4]
    wanted = np.zeros((80, 80))
    wanted[np.repeat(np.arange(80), 4), near.ravel()] = 1
    np.testing.assert_array_equal(graph.toarray(), np.maximum(wanted, wanted.T))
    assert graph.has_canonical_format
