import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from modeclust.data.graph_pass import BoundPass, LaplacianPass, ProjectPass, project
from modeclust.data.memory import MemoryDataset


@settings(deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 9)),
        elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 6)),
    )
)
def test_the_projection_is_the_nearest_point_of_the_simplex(V):
    found = V.copy()
    for row in found:
        project(row)
    scale = max(1.0, np.abs(V).max())
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12 * scale * V.shape[1])
    np.testing.assert_allclose(found, reference.project(V), atol=1e-12 * scale * V.shape[1])


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
        found = np.array(row)
        project(found)
        np.testing.assert_allclose(found, wanted, atol=1e-15)


@pytest.fixture
def problem(rng):
    W = sparse.random_array((60, 60), density=0.1, rng=rng)
    W = sparse.csr_array(W.maximum(W.T))
    Z = rng.dirichlet(np.ones(3), 60)
    before = rng.dirichlet(np.ones(3), 60)
    return W, Z, before, rng.random((60, 3))


def test_a_projected_step_agrees_with_the_formula(problem):
    W, Z, before, g = problem
    degrees = W.sum(axis=1)
    following = np.empty_like(Z)
    with MemoryDataset(W, block_size=7) as rows:
        pass_ = ProjectPass(Z, before, W @ Z, W @ before, g, degrees, 0.7, 0.05, 0.4, following)
        rows.run(pass_)
    Y = Z + 0.4 * (Z - before)
    slope = 2 * 0.7 * (degrees[:, None] * Y - W @ Y) - g
    np.testing.assert_allclose(following, reference.project(Y - 0.05 * slope), atol=1e-12)


def test_products_and_energy_agree_with_the_formula(problem):
    W, Z, _, g = problem
    degrees = W.sum(axis=1)
    products = np.empty_like(Z)
    with MemoryDataset(W, block_size=7) as rows:
        energy = rows.run(LaplacianPass(Z, g, 0.7, products)).value
    laplacian = np.diag(degrees) - W.toarray()
    np.testing.assert_allclose(products, W @ Z, atol=1e-13)
    assert energy == pytest.approx(0.7 * np.trace(Z.T @ laplacian @ Z) - (Z * g).sum())


@pytest.mark.parametrize("damping", [0.0, 2.5])
def test_a_bound_step_agrees_with_the_formula(problem, damping):
    W, Z, _, g = problem
    following = np.empty_like(Z)
    with MemoryDataset(W, block_size=7) as rows:
        energy = rows.run(BoundPass(Z, g, 0.7, damping, following)).value
    exponents = np.exp((g + 0.7 * (W @ Z) + damping * np.log(Z)) / (1 + damping))
    np.testing.assert_allclose(following, exponents / exponents.sum(axis=1, keepdims=True))
    wanted = (Z * np.log(Z)).sum() - (Z * g).sum() - 0.35 * np.sum(Z * (W @ Z))
    assert energy == pytest.approx(wanted)


def test_any_number_of_threads_gives_the_same_bits(problem):
    W, Z, _, g = problem
    found = []
    for n_jobs in (1, 2, 4):
        products = np.empty_like(Z)
        with MemoryDataset(W, n_jobs=n_jobs, block_size=7) as rows:
            energy = rows.run(LaplacianPass(Z, g, 0.7, products)).value
        found.append((energy, products.tobytes()))
    assert found[0] == found[1] == found[2]
