import numpy as np
import pytest

from modeclust.data.memory import MemoryDataset
from modeclust.kernels import KERNELS
from modeclust.solvers.laplacian import SOLVERS, Graph, solve_soft
from modeclust.solvers.neighbors import nearest_other_rows, neighbor_graph
from modeclust.solvers.options import SolverOptions


@pytest.fixture
def run(rng):
    """Solve a small problem, and check that what comes back is a clustering."""
    X = np.r_[rng.normal(0, 1, (40, 2)), rng.normal(5, 1, (50, 2))]
    W = neighbor_graph(*nearest_other_rows(X, 4), 1.0)

    def solve(solver, smoothing, bandwidth=1.0, kernel="gaussian", max_iter=100, n_jobs=None):
        start = X[[0, 60]].copy()
        labels = np.linalg.norm(X[:, None] - start, axis=2).argmin(axis=1)
        with MemoryDataset(X, n_jobs=n_jobs) as rows:
            smoother = SOLVERS[solver](Graph.of(W, n_jobs), smoothing)
            state = solve_soft(
                rows,
                smoother,
                start,
                np.eye(2)[labels],
                bandwidth,
                SolverOptions(KERNELS[kernel], max_iter=max_iter, tol=1e-5),
            )
        assert np.all(state.memberships >= 0)
        np.testing.assert_allclose(state.memberships.sum(axis=1), 1, atol=1e-12)
        return X, W, state

    return solve


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("smoothing", [0.01, 1.0, 30.0])
def test_the_objective_never_falls(run, solver, smoothing, kernel):
    _, _, state = run(solver, smoothing, kernel=kernel, bandwidth=2.0)
    history = np.array(state.history)
    assert len(history) > 1
    assert np.all(np.diff(history) >= -1e-12 * np.abs(history[:-1]))


def test_memberships_solve_the_quadratic_problem(run, monkeypatch):
    monkeypatch.setattr("modeclust.solvers.laplacian.ENERGY_TOLERANCE", 1e-13)
    X, W, state = run("gradient", 0.5)
    squares = ((X[:, None] - state.centers) ** 2).sum(axis=2)
    kernel_values = np.exp(-squares / 2)
    laplacian = np.diag(W.sum(axis=1)) - W.toarray()
    slope = 2 * 0.5 * laplacian @ state.memberships - kernel_values
    # Where a row has a share in a cluster, no cluster has a lower slope.
    lowest = slope.min(axis=1, keepdims=True)
    assert np.max((slope - lowest) * state.memberships) < 1e-4


def test_centers_are_modes_of_the_rows_that_belong_to_them(run):
    X, _, state = run("gradient", 0.5)
    squares = ((X[:, None] - state.centers) ** 2).sum(axis=2)
    pulls = state.memberships * np.exp(-squares / 2)
    means = (pulls.T @ X) / pulls.sum(axis=0)[:, None]
    np.testing.assert_allclose(means, state.centers, atol=1e-3)


def test_bound_memberships_stand_still(run, monkeypatch):
    monkeypatch.setattr("modeclust.solvers.laplacian.ENERGY_TOLERANCE", 1e-14)
    X, W, state = run("bound", 0.5)
    squares = ((X[:, None] - state.centers) ** 2).sum(axis=2)
    exponents = np.exp(np.exp(-squares / 2) + 0.5 * (W @ state.memberships))
    again = exponents / exponents.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(again, state.memberships, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_number_of_threads_gives_the_same_bits(run, solver):
    found = [run(solver, 1.0, n_jobs=n_jobs)[2] for n_jobs in (1, 2)]
    assert found[0].memberships.tobytes() == found[1].memberships.tobytes()
    assert found[0].history == found[1].history
