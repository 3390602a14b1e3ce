import numpy as np
import pytest
import reference
from scipy import sparse

from modeclust.data.distance_pass import KernelValuePass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.soft_pass import SoftPass
from modeclust.kernels import KERNELS


def memberships_of(rng, n_rows, n_clusters):
    """Return rows of the simplex, most of them with zeros."""
    parts = np.maximum(rng.normal(size=(n_rows, n_clusters)), 0)
    parts[:, 0] += 1e-3
    return parts / parts.sum(axis=1, keepdims=True)


def soft_mode_step(X, Z, centers, bandwidth, kernel, weight, scale):
    """The formula, with weights relative to the largest of each cluster."""
    moved = centers.copy()
    for k in range(len(centers)):
        t = ((X - centers[k]) ** 2).sum(axis=1) / (bandwidth * scale) ** 2
        with np.errstate(divide="ignore"):
            logs = np.log(Z[:, k] * weight / scale**2) + reference.LOG_PULLS[kernel](t)
        if np.isfinite(logs.max()):
            w = np.exp(logs - logs.max())
            moved[k] = (w[:, None] * X).sum(axis=0) / w.sum()
    return moved


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_features", [1, 2, 30])
@pytest.mark.parametrize("bandwidth", [0.3, 5.0])
def test_sums_agree_with_the_formula(rng, kernel, is_sparse, n_features, bandwidth):
    X = np.round(rng.normal(size=(700, n_features)), 1)
    Z = memberships_of(rng, 700, 4)
    weight, scale = rng.integers(0, 3, 700).astype(float), rng.uniform(0.5, 2, 700)
    centers = X[:4] + 0.05
    inverse = 1 / bandwidth**2
    form = sparse.csr_array(X) if is_sparse else X
    kernel_values = np.empty_like(Z)
    with MemoryDataset(form, weight=weight, scale=scale) as rows:
        sums = rows.run(SoftPass(centers, Z, KERNELS[kernel], inverse))
        rows.run(KernelValuePass(centers, KERNELS[kernel], inverse, kernel_values))
    squares = reference.squared_distances(X, centers) / scale[:, None] ** 2
    wanted = weight[:, None] * reference.PROFILES[kernel](squares * inverse)
    np.testing.assert_allclose(kernel_values, wanted, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(sums.objective, (Z * wanted).sum(), rtol=1e-9, atol=1e-250)
    np.testing.assert_allclose(sums.inertia, (Z * weight[:, None] * squares).sum(), rtol=1e-9)
    moved = soft_mode_step(X, Z, centers, bandwidth, kernel, weight, scale)
    np.testing.assert_allclose(sums.moved(centers), moved, rtol=1e-8, atol=1e-9)


def test_one_hot_memberships_are_a_mode_step(rng):
    X = rng.normal(size=(500, 3))
    centers = X[:5].copy()
    with MemoryDataset(X, n_clusters=5) as rows:
        hard = rows.run(ModePass(centers, 0, 1.0))
        Z = np.eye(5)[rows.labels()]
        soft = rows.run(SoftPass(centers, Z, 0, 1.0))
    np.testing.assert_allclose(soft.moved(centers), hard.moved(centers), rtol=1e-12)
    assert soft.objective == pytest.approx(hard.objective, rel=1e-12)


def test_a_cluster_without_members_stays(rng):
    X = rng.normal(size=(50, 2))
    centers = np.array([[0.0, 0.0], [7.0, 7.0]])
    Z = np.tile([1.0, 0.0], (50, 1))
    with MemoryDataset(X) as rows:
        moved = rows.run(SoftPass(centers, Z, 0, 1.0)).moved(centers)
    assert moved[1].tolist() == [7.0, 7.0]


def test_a_far_member_alone_is_found_without_underflow():
    X = np.array([[0.0], [100.0], [101.0]])
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    with MemoryDataset(X) as rows:
        moved = rows.run(SoftPass(np.zeros((2, 1)), Z, 0, 1.0)).moved(np.zeros((2, 1)))
    np.testing.assert_allclose(moved.ravel(), [0.0, 100.0])


def test_any_number_of_threads_gives_the_same_bits(rng):
    X = rng.normal(size=(30_000, 4)).astype(np.float32)
    Z = memberships_of(rng, 30_000, 3)
    found = []
    for n_jobs in (1, 2, 5):
        with MemoryDataset(X, n_jobs=n_jobs) as rows:
            sums = rows.run(SoftPass(X[:3].astype(np.float64), Z, 0, 1.0))
        found.append((sums.totals.tobytes(), sums.mass.tobytes(), sums.objective))
    assert found[0] == found[1] == found[2]
