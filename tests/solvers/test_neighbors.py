from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from modeclust.data.rescaling import Rescaling
from modeclust.solvers.neighbors import (
    exact_is_slow,
    nearest_other_rows,
    nearest_rows,
    neighbor_graph,
)


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


def test_rows_that_are_rescaled_when_read(rng, tmp_path):
    X = 1e9 + rng.integers(0, 1000, size=(300, 20)).astype(float)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    rescaling = Rescaling.of(X)
    assert not rescaling.is_identity
    rows = rescaling.to_internal(mapped)
    distances, neighbors = nearest_other_rows(rows, 5)
    wanted = nearest_other_rows(X, 5)
    np.testing.assert_array_equal(neighbors, wanted[1])
    np.testing.assert_array_equal(distances * rescaling.scale, wanted[0])
    distances, neighbors = nearest_rows(rows, rows, 1)
    assert np.all(distances == 0)
    np.testing.assert_array_equal(neighbors.ravel(), np.arange(300))


def test_new_rows_of_another_type(rng):
    X = rng.normal(size=(200, 20)).astype(np.float32)
    queries = rng.normal(size=(30, 20))
    wanted = np.linalg.norm(queries[:, None] - X.astype(float), axis=2)
    for new in (queries, sparse.csr_array(queries)):
        distances, neighbors = nearest_rows(X, new, 3)
        np.testing.assert_array_equal(neighbors, np.argsort(wanted, axis=1)[:, :3])
        np.testing.assert_allclose(distances, np.sort(wanted, axis=1)[:, :3], rtol=1e-13)


def test_which_searches_are_slow():
    class Rows(NamedTuple):
        shape: tuple[int, int]

    assert not exact_is_slow(Rows((300_000, 100)))
    assert exact_is_slow(Rows((400_000, 100)))
    assert not exact_is_slow(Rows((10_000_000, 15)))  # a tree
