import json

import numpy as np
import pytest
import reference
from core_cases import digest, digests_of_variants
from protected import at_end_of_memory
from scipy import sparse

from modeclust import _core

CLUSTERS = [1, 2, 3, 7, 8, 9, 17]


def graph_of(W, n_threads=1):
    W = sparse.csr_array(W)
    return _core.Graph(W.data, W.indices, W.indptr, n_threads=n_threads)


def make_problem(n_rows, n_clusters, seed=0):
    rng = np.random.default_rng(seed)
    W = sparse.random_array((n_rows, n_rows), density=min(0.1, 2000 / max(n_rows, 1) ** 2), rng=rng)
    W = sparse.csr_array(W.maximum(W.T))
    Z, before = rng.dirichlet(np.ones(n_clusters), (2, n_rows))
    g = rng.random((n_rows, n_clusters))
    return W, *(at_end_of_memory(array) for array in (Z, before, g))


def descend(graph, W, Z, before, g, degrees, out):
    graph.descend(
        memberships=Z,
        before=before,
        products=W @ Z,
        products_before=W @ before,
        kernel_values=g,
        degrees=degrees,
        smoothing=0.7,
        rate=0.05,
        momentum=0.4,
        out=out,
    )


def test_projections_by_hand():
    for row, wanted in [
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([1.0, 1.0], [0.5, 0.5]),
        ([3.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
        ([0.6, 0.8, -5.0], [0.4, 0.6, 0.0]),
        ([-4.0], [1.0]),
        ([2e16, 3e16, 1e16], [0.0, 1.0, 0.0]),
        ([5e20, 5e20, 0.0], [0.5, 0.5, 0.0]),
        ([3e300, 3e300, 3e300], [1 / 3, 1 / 3, 1 / 3]),
    ]:
        found = np.array([row])
        _core.project_rows(found)
        np.testing.assert_allclose(found[0], wanted, atol=1e-15)


@pytest.mark.parametrize("n_clusters", CLUSTERS)
def test_projections_are_the_nearest_points_of_the_simplex(rng, n_clusters):
    rows = rng.normal(size=(200, n_clusters)) * 10 ** rng.uniform(-2, 3, (200, 1))
    found = rows.copy()
    _core.project_rows(found)
    np.testing.assert_allclose(found, reference.project(rows), atol=1e-11)
    assert np.all(found >= 0)


@pytest.mark.parametrize("n_clusters", CLUSTERS)
@pytest.mark.parametrize("n_rows", [1, 5, 60, 1500])
def test_passes_agree_with_the_formulas(n_clusters, n_rows):
    W, Z, before, g = make_problem(n_rows, n_clusters)
    graph, out = graph_of(W), at_end_of_memory(np.full_like(Z, np.nan))
    degrees = W.sum(axis=1)
    descend(graph, W, Z, before, g, degrees, out)
    Y = Z + 0.4 * (Z - before)
    slope = 2 * 0.7 * (degrees[:, None] * Y - W @ Y) - g
    np.testing.assert_allclose(out, reference.project(Y - 0.05 * slope), atol=1e-12)

    energy = graph.multiply(Z, g, smoothing=0.7, out=out)
    np.testing.assert_allclose(out, W @ Z, atol=1e-13)
    laplacian = sparse.diags_array(degrees) - W
    wanted = 0.7 * np.sum(Z * (laplacian @ Z)) - (Z * g).sum()
    assert energy == pytest.approx(wanted, rel=1e-11)

    for damping in (0.0, 2.5):
        energy = graph.soften(Z, g, smoothing=0.7, damping=damping, out=out)
        exponents = np.exp((g + 0.7 * (W @ Z) + damping * np.log(Z)) / (1 + damping))
        wanted = exponents / exponents.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(out, wanted, rtol=1e-12)
        wanted = (Z * np.log(Z)).sum() - (Z * g).sum() - 0.35 * np.sum(Z * (W @ Z))
        assert energy == pytest.approx(wanted, rel=1e-11)


def test_memberships_of_zero():
    Z = np.array([[0.0, 1.0], [0.5, 0.5]])
    W = np.array([[0.0, 1.0], [1.0, 0.0]])
    out = np.empty_like(Z)
    energy = graph_of(W).soften(Z, np.zeros((2, 2)), smoothing=1.0, damping=1.0, out=out)
    assert out[0].tolist() == [0.0, 1.0]
    assert energy == pytest.approx(-np.log(2) - 0.5)
    graph_of(W).soften(Z, np.array([[2000.0, 0.0], [0.0, 0.0]]), smoothing=0, damping=0, out=out)
    assert out[0].tolist() == [1.0, 0.0]


def test_a_graph_without_rows_or_edges():
    nothing, out = np.empty((0, 3)), np.empty((0, 3))
    assert graph_of(np.empty((0, 0))).multiply(nothing, nothing, smoothing=1.0, out=out) == 0.0
    Z, out = np.full((4, 2), 0.5), np.empty((4, 2))
    assert graph_of(np.zeros((4, 4))).multiply(Z, Z, smoothing=1.0, out=out) == -2.0
    assert not out.any()


def all_bits(n_rows, n_clusters, n_threads=1):
    W, Z, before, g = make_problem(n_rows, n_clusters)
    graph, out = graph_of(W, n_threads), np.empty_like(Z)
    found = []
    descend(graph, W, Z, before, g, W.sum(axis=1), out)
    found.append(out.copy())
    found += [graph.multiply(Z, g, smoothing=0.7, out=out), out.copy()]
    found += [graph.soften(Z, g, smoothing=0.7, damping=0.3, out=out), out.copy()]
    return digest(*found)


def test_any_number_of_threads_gives_the_same_bits():
    assert len({all_bits(40_000, 9, n) for n in (1, 2, 3, 5)}) == 1


PROGRAM = """
import json
from core.test_graph import variant_digests
print(json.dumps(variant_digests()))
"""


def variant_digests():
    return [all_bits(300, n_clusters) for n_clusters in CLUSTERS]


def test_every_instruction_set_gives_the_same_bits():
    found = digests_of_variants(PROGRAM)
    expected = json.loads(json.dumps(variant_digests()))
    assert all(digests == expected for digests in found.values()), list(found)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        ([[0.0, 1.0], [2.0, 0.0]], "must be symmetric"),
        ([[0.0, 1.0], [0.0, 0.0]], "must be symmetric"),
        ([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], "indices must ascend"),
    ],
)
def test_matrices_that_are_no_graphs(W, message):
    with pytest.raises(ValueError, match=message):
        graph_of(np.array(W))


def test_an_indptr_beyond_the_entries():
    with pytest.raises(ValueError, match="indptr must ascend"):
        _core.Graph(np.ones(1), np.zeros(1, np.int32), np.array([0, 2]))


def test_arrays_of_other_shapes():
    graph, Z = graph_of(np.zeros((4, 4))), np.zeros((4, 2))
    with pytest.raises(ValueError, match="out must have a row"):
        graph.multiply(Z, Z, smoothing=1.0, out=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="kernel_values must have the shape of out"):
        graph.multiply(Z, Z[:, :1].copy(), smoothing=1.0, out=np.zeros((4, 2)))
    with pytest.raises(ValueError, match="out must not be the memberships"):
        graph.multiply(Z, Z, smoothing=1.0, out=Z)
    with pytest.raises(ValueError, match="damping must be"):
        graph.soften(Z, Z, smoothing=1.0, damping=-1.0, out=np.zeros((4, 2)))
