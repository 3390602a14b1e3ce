"""Passes that assign and sum rows, each against a plain loop."""

import gc
import json
import multiprocessing
import os
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import reference
from core_cases import digest, digests_of_variants, make_rows, open_rows

from modeclust import _core
from modeclust.kernels import KERNELS

FEATURES = [1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 130]


def kernel_value(kernel, t):
    """Return G(t), the largest value being 1."""
    return reference.PROFILES[kernel](t)


def kernel_weight(kernel, t):
    """Return the weight of a row in a mode step: -G'(t) over -G'(0)."""
    with np.errstate(divide="ignore"):
        return np.exp(reference.LOG_PULLS[kernel](t))


class Expected:
    """A mode pass as a plain loop over clusters."""

    def __init__(self, X, centers, kernel, factor, weight, scale):
        X = X.astype(np.float64)
        weight = np.ones(len(X)) if weight is None else weight
        precision = np.ones(len(X)) if scale is None else scale**-2.0
        squared = np.square(X[:, None] - centers).sum(axis=2)
        self.labels = squared.argmin(axis=1)
        own = squared.min(axis=1)
        t = own * precision * factor
        self.objective = weight @ kernel_value(kernel, t)
        self.half_objective = weight @ kernel_value(kernel, t / 2)
        self.inertia = weight @ (own * precision)
        self.counts = np.bincount(self.labels, minlength=len(centers))
        self.moved = centers.copy()
        self.rows_averaged = np.zeros(len(centers))
        self.nearest = np.full(len(centers), np.inf)  # the distance of the nearest row
        for k in range(len(centers)):
            rows = np.flatnonzero((self.labels == k) & (weight > 0))
            if len(rows):
                self.nearest[k] = own[rows].min()
                # A common factor makes no difference, and keeps weights from underflow.
                least = t[rows].min() if kernel == "gaussian" else 0.0
                one = precision[rows] * kernel_weight(kernel, t[rows] - least)
                w = weight[rows] * one
                if w.sum() > 0:
                    self.moved[k] = w @ X[rows] / w.sum()
                    self.rows_averaged[k] = w.sum() ** 2 / (w @ one)


def is_in_float32(form, dtype, n_features):
    return form == "dense" and dtype == np.float32 and n_features >= 64


def rounded(centers, form, dtype, n_features):
    """Return centers as the core compares rows with them."""
    exact = not is_in_float32(form, dtype, n_features)
    return centers if exact else centers.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("weighted", [False, True])
def test_mode_passes_agree_with_a_plain_loop(rng, form, dtype, n_features, weighted):
    names = list(KERNELS)
    for case, n_clusters in enumerate([1, 2, 3, 13, 17, 60]):
        for n_rows in (max(n_clusters, 41), 1500):
            X, weight, scale = make_rows(
                rng, n_rows, n_features, dtype, form=form, weighted=weighted
            )
            kernel = names[(case + n_features) % 4]
            factor = 0.5 / n_features
            rows = open_rows(X, weight, scale, form=form, n_threads=2, protect=True)
            rows.negligible = 600.0
            centers = X[:n_clusters] + 0.01
            for _ in range(3):  # the second and third have bounds
                seen = rounded(centers.astype(np.float64), form, dtype, n_features)
                expected = Expected(X, seen, kernel, factor, weight, scale)
                sums = rows.mode_pass(centers, KERNELS[kernel], factor, also_at=factor / 2)
                mass, mass_squared, totals, counts, nearest, nearest_distance = sums[1:7]
                rtol = 1e-5 if is_in_float32(form, dtype, n_features) else 1e-9
                np.testing.assert_array_equal(rows.labels, expected.labels)
                np.testing.assert_array_equal(counts, expected.counts)
                np.testing.assert_allclose(sums[8], expected.half_objective, rtol=rtol)
                np.testing.assert_allclose(sums[9], expected.objective, rtol=rtol)
                np.testing.assert_allclose(sums[10], expected.inertia, rtol=rtol)
                np.testing.assert_allclose(nearest_distance, expected.nearest, rtol, atol=1e-12)
                np.testing.assert_array_equal(nearest < 0, np.isinf(expected.nearest))
                found = np.flatnonzero(nearest >= 0)
                np.testing.assert_array_equal(rows.labels[nearest[found]], found)
                averaged = np.divide(mass**2, mass_squared, where=mass > 0, out=0 * mass)
                np.testing.assert_allclose(averaged, expected.rows_averaged, rtol=rtol)
                moved = _core.means(totals, mass, centers)
                np.testing.assert_allclose(moved, expected.moved, rtol=rtol, atol=rtol)
                centers = moved


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 3, 8, 33, 64, 130])
def test_mean_passes_agree_with_a_plain_loop(rng, form, dtype, n_features):
    X, weight, scale = make_rows(rng, 1500, n_features, dtype, form=form, weighted=True)
    pull = weight / scale**2
    atol = 1e-3 if is_in_float32(form, dtype, n_features) else 1e-9
    for n_clusters in (1, 5, 60):
        rows = open_rows(X, weight, scale, form=form, n_threads=2, protect=True)
        centers, after, total = X[:n_clusters].astype(np.float64), None, None
        for _ in range(4):
            seen = rounded(centers, form, dtype, n_features)
            expected = Expected(X, seen, "gaussian", 0.0, weight, scale)
            *sums, _changed, searched, read, _ = rows.mean_pass(centers, after)
            total = sums if total is None else [a + b for a, b in zip(total, sums, strict=True)]
            np.testing.assert_array_equal(rows.labels, expected.labels)
            mass = np.bincount(expected.labels, pull, minlength=n_clusters)
            np.testing.assert_allclose(total[0], mass, atol=1e-9)
            totals = np.zeros((n_clusters, n_features))
            np.add.at(totals, expected.labels, pull[:, None] * X)
            np.testing.assert_allclose(total[1], totals, atol=atol)
            present = np.bincount(expected.labels[pull > 0], minlength=n_clusters)
            np.testing.assert_array_equal(total[2], present)
            assert searched <= read <= 1500
            after, centers = centers, expected.moved


def test_a_pass_by_hand():
    rows = _core.Rows(np.array([[0.0], [1.0], [10.0], [13.0]]), weight=np.array([1.0, 3, 1, 0]))
    sums = rows.mode_pass(np.array([[0.0], [10.0]]), KERNELS["biweight"], 0.25)
    reference, mass, mass_squared, totals, counts, nearest, distance, *_ = sums
    assert rows.labels.tolist() == [0, 0, 1, 1]
    assert reference.tolist() == [0.0, 0.0]
    assert mass.tolist() == [1.0 + 3 * 0.75, 1.0]  # t = 1/4 has the weight 1 - 1/4
    assert mass_squared.tolist() == [1.0 + 3 * 0.75**2, 1.0]  # a weight of 3 is three rows
    assert totals.tolist() == [[3 * 0.75], [10.0]]
    assert counts.tolist() == [2, 2]  # whatever their weight
    assert nearest.tolist() == [0, 2]
    assert distance.tolist() == [0.0, 0.0]
    assert sums[9:12] == (1.0 + 3 * 0.75**2 + 1.0, 3.0, 5.0)  # objective, inertia, weight


def test_long_float32_rows_are_measured_to_the_precision_of_the_rows(rng):
    X = rng.normal(size=(3000, 784)).astype(np.float32) + 3
    centers = X[:7].astype(np.float64)
    single, double = _core.Rows(X), _core.Rows(X.astype(np.float64))
    for factor in (1e-3, 1e-2):
        one, other = (rows.mode_pass(centers, 0, factor) for rows in (single, double))
        np.testing.assert_allclose(one[9:12], other[9:12], rtol=2e-6)
        moved = [_core.means(sums[3], sums[1], centers) for sums in (one, other)]
        bandwidth = factor**-0.5
        assert np.abs(moved[0] - moved[1]).max() < 2e-6 * bandwidth


PROGRAM = """
import json
import numpy as np
from core_cases import digest, make_rows, open_rows
from modeclust.kernels import KERNELS
rng = np.random.default_rng(0)
found = []
for form in ("dense", "csr"):
    for dtype in (np.float32, np.float64):
        for n_features in (1, 2, 3, 7, 16, 24, 33, 64, 100):
            X, weight, scale = make_rows(rng, 5000, n_features, dtype, form=form, weighted=True)
            for kernel in KERNELS.values():
                for n_clusters in (3, 20, 70):
                    rows = open_rows(X, weight, scale, form=form, n_threads=THREADS)
                    centers = X[:n_clusters].astype(float)
                    for _ in range(3):
                        sums = rows.mode_pass(centers, kernel, 0.3 / n_features, also_at=0.1)
                        centers = np.where(sums[1][:, None] > 0,
                            sums[3] / np.where(sums[1] > 0, sums[1], 1)[:, None], centers)
                        found.append(digest(rows.labels, *sums))
                    means = open_rows(X, weight, scale, form=form, n_threads=THREADS)
                    after = None
                    for step in range(3):
                        *sums, _changed, _searched, _read, _ = means.mean_pass(centers, after)
                        found.append(digest(means.labels, *sums))
                        after, centers = centers, centers + 0.01 * step
print(json.dumps(found))
"""


def test_every_variant_and_number_of_threads_gives_the_same_bits():
    found = set()
    for n_threads in (1, 2, 3, 5):
        program = PROGRAM.replace("THREADS", str(n_threads))
        variants = digests_of_variants(program) if n_threads < 3 else {"": _run(program)}
        found |= {tuple(value) for value in variants.values()}
    assert len(found) == 1


def _run(program):
    """Return what a program prints when it is run here."""
    printed = []
    exec(program, {"print": printed.append})
    return json.loads(printed[0])


@pytest.mark.parametrize(
    ("centers", "kernel", "message"),
    [
        (np.zeros((2, 4)), 0, "features of X"),
        (np.zeros((0, 3)), 0, "one row for each cluster"),
        (np.zeros((2, 3)), len(KERNELS), "kernel must be"),
        (np.zeros((2, 3)), -1, "kernel must be"),
    ],
)
def test_what_a_pass_does_not_take(centers, kernel, message):
    rows = _core.Rows(np.zeros((5, 3)))
    with pytest.raises(ValueError, match=message):
        rows.mode_pass(centers, kernel, 1.0)


def test_labels_must_be_there_before_they_can_be_kept():
    rows = _core.Rows(np.zeros((5, 3)))
    assert not rows.has_labels
    with pytest.raises(RuntimeError, match="no labels yet"):
        rows.mode_pass(np.zeros((2, 3)), 0, 1.0, reassign=False)


def test_centers_that_are_no_numbers_leave_no_bounds():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, centers = rng.normal(size=(200, 3)), rng.normal(size=(4, 3))
        damaged = centers + 0.1 * rng.normal(size=(4, 3))
        damaged[seed % 4, 0] = np.nan
        rows = _core.Rows(X)
        rows.mean_pass(damaged)
        rows.mean_pass(centers)
        nearest = np.linalg.norm(X[:, None] - centers, axis=2).argmin(axis=1)
        np.testing.assert_array_equal(rows.labels, nearest)


def test_rows_that_are_not_there():
    rows = _core.Rows(np.empty((0, 3)))
    sums = rows.mode_pass(np.zeros((2, 3)), 0, 1.0)
    assert sums[1].tolist() == [0.0, 0.0]
    assert np.isinf(sums[0]).all()
    assert rows.mean_pass(np.zeros((2, 3)))[2].tolist() == [0, 0]


def test_labels_cannot_be_written_to():
    rows = _core.Rows(np.zeros((5, 3)))
    rows.mode_pass(np.zeros((2, 3)), 0, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        rows.labels[0] = 1


def test_labels_outlive_their_rows():
    rows = _core.Rows(np.arange(6.0)[:, None])
    rows.mode_pass(np.array([[0.0], [5.0]]), 0, 1.0)
    labels = rows.labels
    del rows
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]


def _totals(X, n_threads=2):
    rows = _core.Rows(X, n_threads=n_threads)
    centers = X[:5].copy()
    for _ in range(4):
        sums = rows.mode_pass(centers, 0, 0.5)
        centers = _core.means(sums[3], sums[1], centers)
    return centers


def test_several_threads_may_run_passes_at_once(rng):
    X = rng.normal(size=(30_000, 8))
    expected = _totals(X)
    shared = _core.Rows(X, n_threads=2)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: _totals(X), range(8)):
            assert found.tobytes() == expected.tobytes()
        # One dataset in several threads: one pass after the other.
        sums = list(pool.map(lambda _: shared.mode_pass(X[:5], 0, 0.5), range(8)))
    assert len({digest(*found[:6]) for found in sums}) == 1


@pytest.mark.posix
def test_passes_in_a_forked_process(rng):
    X = rng.normal(size=(30_000, 8))
    expected = _totals(X)  # which starts threads that the copy does not have
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        sender.send(_totals(X).tobytes() == expected.tobytes())
        os._exit(0)
    assert receiver.poll(60)
    assert receiver.recv()
    os.waitpid(child, 0)


@pytest.mark.posix
def test_too_little_memory_is_a_memory_error():
    program = """
import resource
import numpy as np
from modeclust import _core
X = np.zeros((1000, 1000))
rows, centers = _core.Rows(X), np.zeros((20_000, 1000))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))
try:
    rows.mode_pass(centers, 0, 1.0)
except MemoryError:
    print("MemoryError")
rows.mode_pass(centers[:2], 0, 1.0)
print("goes on")
"""
    if not Path("/proc/self/statm").exists():
        pytest.skip("left out: the memory of a process is not told here")
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.split("\n")[:2] == ["MemoryError", "goes on"]


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_are_kept_without_the_rows(form, dtype, rng):
    X = rng.normal(size=(3000, 40)).astype(dtype)
    centers = X[:30].astype(np.float64)
    first, again = open_rows(X.copy(), form=form), open_rows(X.copy(), form=form)
    before = first.mode_pass(centers, 0, 0.1)
    labels = first.labels
    kept = first.detach_labels()
    assert not first.has_labels
    again.attach_labels(kept)
    after = again.mode_pass(centers, 0, 0.1)
    *_, changed, searched, _ = after
    assert changed == 0
    assert searched < before[-2] == len(X)  # bounds were kept too
    np.testing.assert_array_equal(again.labels, labels)
    for one, other in zip(before[:-3], after[:-3], strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="attached to rows already"):
        first.attach_labels(kept)
    with pytest.raises(ValueError, match="of the same shape as before"):
        open_rows(X[:100], form=form).attach_labels(again.detach_labels())


def test_kept_labels_let_the_rows_go(rng):
    X = rng.normal(size=(100, 3))
    gone = weakref.ref(X)
    rows = _core.Rows(X)
    rows.mode_pass(X[:2].copy(), 0, 0.1)
    labels, kept = rows.labels, rows.detach_labels()
    del rows, X
    gc.collect()
    assert gone() is None
    del kept
    assert set(labels) == {0, 1}


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n_features", [1, 3, 16, 70])
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_a_cluster_can_have_a_bandwidth_of_its_own(rng, form, n_features, kernel):
    X, weight, scale = make_rows(rng, 900, n_features, form=form, weighted=True)
    centers, factors = X[:3].astype(np.float64), np.array([0.0, 0.2, 1.5]) / n_features
    rows = open_rows(X, weight, scale, form=form)
    rows.negligible = 600.0
    rows.mode_pass(centers, 0, 0.0)
    sums = rows.mode_pass(centers, KERNELS[kernel], 1.0, False, cluster_factors=factors)
    objective = 0.0
    for k, factor in enumerate(factors):
        own = rows.labels == k
        alone = open_rows(X[own], weight[own], scale[own], form=form)
        alone.negligible = 600.0
        expected = alone.mode_pass(centers[k : k + 1], KERNELS[kernel], factor)
        objective += expected[9]
        for name, found in zip(["moved", "averaged"], _step(sums, centers), strict=True):
            assert_close = np.testing.assert_allclose
            wanted = dict(zip(["moved", "averaged"], _step(expected, centers[k:][:1]), strict=True))
            assert_close(found[k], wanted[name][0], rtol=1e-9, atol=1e-12, err_msg=name)
    assert sums[9] == pytest.approx(objective, rel=1e-9)


def _step(sums, centers):
    """Return the centers after a mode step, and the rows that it averages."""
    _, mass, mass_squared, totals, *_ = sums
    averaged = np.divide(mass**2, mass_squared, where=mass > 0, out=np.zeros_like(mass))
    return _core.means(totals, mass, centers), averaged


def test_factors_of_clusters_are_checked():
    rows = _core.Rows(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="one number for each center"):
        rows.mode_pass(np.zeros((2, 2)), 0, 1.0, cluster_factors=np.ones(3))
    with pytest.raises(ValueError, match="without also_at"):
        rows.mode_pass(np.zeros((2, 2)), 0, 1.0, also_at=0.5, cluster_factors=np.ones(2))


@pytest.mark.parametrize("form", ["dense", "csr", "float16"])
@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 16, 70])
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_can_be_left_out(rng, form, n_features, kernel, weighted):
    X, weight, scale = make_rows(rng, 5_000, n_features, form=form, weighted=weighted)
    if form == "float16":
        X, form = X.astype(np.float16), "dense"
    centers, factors = X[:4].astype(np.float64), np.array([0.3, 0.2, 1.5, 0.7]) / n_features
    rows = open_rows(X, weight, scale, form=form)
    rows.mode_pass(centers, 0, 0.0)
    at = {"kernel": KERNELS[kernel], "inverse_squared_bandwidth": 1.0, "reassign": False}
    whole = rows.mode_pass(centers, **at, cluster_factors=factors)
    left_out = np.array([False, True, False, True])
    some = rows.mode_pass(centers, **at, cluster_factors=np.where(left_out, -1.0, factors))
    empty = [np.inf, 0.0, 0.0, np.zeros(n_features), 0, -1, np.inf]
    for found, expected, nothing in zip(some, whole, empty, strict=False):
        np.testing.assert_array_equal(found[~left_out], expected[~left_out])
        np.testing.assert_array_equal(
            found[left_out], np.broadcast_to(nothing, (2, *found.shape[1:]))
        )
    none = rows.mode_pass(centers, **at, cluster_factors=-factors)
    assert not none[4].any()
    np.testing.assert_array_equal(_core.means(none[3], none[1], centers), centers)


def test_factors_are_numbers(rng):
    rows = _core.Rows(rng.normal(size=(4, 2)))
    with pytest.raises(ValueError, match="must be numbers"):
        rows.mode_pass(np.zeros((2, 2)), 0, 1.0, cluster_factors=np.array([1.0, np.nan]))


def test_rows_are_left_out_only_if_labels_are_kept(rng):
    rows = _core.Rows(rng.normal(size=(4, 2)))
    centers, factors = np.zeros((2, 2)), np.array([1.0, -1.0])
    with pytest.raises(ValueError, match="only if labels are kept"):
        rows.mode_pass(centers, 0, 1.0, cluster_factors=factors)
    rows.set_labels(np.zeros(4, dtype=np.int32), 2)
    with pytest.raises(ValueError, match="without squared"):
        rows.mode_pass(centers, 0, 1.0, False, cluster_factors=factors, squared=np.empty(4))


def test_each_move_is_measured():
    before = np.array([[0.0, 0.0], [1e9, 0.0], [1.0, 1.0], [2.0, 0.0]])
    after = before + np.array([[3.0, 4.0], [1e-7, 0.0], [0.0, 0.1], [0.0, 0.0]])
    lengths, small = _core.each_move(before, after, np.array([4.9, 0.0, 0.2, 0.0]), 1e-15)
    np.testing.assert_allclose(lengths, [5, 1.2e-7, 0.1, 0], rtol=0.1)
    assert small.tolist() == [False, True, True, True]
    with pytest.raises(ValueError, match="one tolerance for each center"):
        _core.each_move(before, after, np.zeros(3), 0.0)
    with pytest.raises(ValueError, match="same shape"):
        _core.each_move(before, after[:2], np.zeros(4), 0.0)


def test_labels_can_be_given():
    rows = _core.Rows(np.array([[0.0], [1.0], [10.0], [12.0]]))
    rows.set_labels(np.array([1, 0, 0, 1], dtype=np.int32), 2)
    _, mass, _, totals, counts, *_ = rows.mode_pass(np.zeros((2, 1)), 0, 0.0, reassign=False)
    assert rows.labels.tolist() == [1, 0, 0, 1]
    assert counts.tolist() == [2, 2]
    assert (totals[:, 0] / mass).tolist() == [5.5, 6.0]
    rows.mode_pass(np.array([[0.0], [10.0]]), 0, 0.0)  # finds the labels of nearest centers
    assert rows.labels.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [0, -1, 1]])
def test_given_labels_are_checked(labels):
    rows = _core.Rows(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="labels must"):
        rows.set_labels(np.array(labels, dtype=np.int32), 2)


def test_a_pass_that_keeps_labels_needs_a_center_for_each():
    rows = _core.Rows(np.arange(6.0)[:, None])
    rows.mode_pass(np.arange(3.0)[:, None], 0, 1.0)
    with pytest.raises(ValueError, match="a center for each"):
        rows.mode_pass(np.zeros((2, 1)), 0, 1.0, reassign=False)


@pytest.mark.parametrize("n_features", [16, 64, 100])
@pytest.mark.parametrize("weight", [1e-50, 1e-150, 1e39, 1e140, "mixed"])
def test_weights_beyond_the_range_of_float32(rng, n_features, weight):
    X = rng.normal(size=(300, n_features)).astype(np.float32) + 1
    centers = X[:3].astype(np.float64)
    weights = np.full(300, 0.5 if weight == "mixed" else weight)
    if weight == "mixed":  # each cluster has weights of its own
        squared = np.square(X[:, None] - centers).sum(axis=2)
        weights *= np.array([1e-50, 1.0, 1e45])[squared.argmin(axis=1)]
    sums = _core.Rows(X, weight=weights).mode_pass(centers, 0, 1 / n_features)
    expected = Expected(X, centers, "gaussian", 1 / n_features, weights, None)
    np.testing.assert_allclose(_core.means(sums[3], sums[1], centers), expected.moved, rtol=1e-5)


@pytest.mark.parametrize("n_features", [40, 64, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_whose_scores_overflow_get_the_nearest_center(rng, n_features, dtype):
    largest = np.finfo(dtype).max
    signs = np.where(np.arange(n_features) % 2, 1, -1)
    X = np.stack([np.full(n_features, largest), largest * signs, 0 * signs]).astype(dtype)
    centers = rng.normal(size=(5, n_features))
    centers[0] = 3.0  # on one side of the mean of the centers in every feature
    rows = _core.Rows(X)
    for _ in range(2):
        rows.mode_pass(centers, 0, 0.0)
        assert rows.labels.min() >= 0
        assert rows.labels[2] == np.square(centers).sum(axis=1).argmin()


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_a_bandwidth_that_is_none_is_refused(value, rng):
    rows = _core.Rows(rng.normal(size=(9, 2)))
    with pytest.raises(ValueError, match="inverse_squared_bandwidth must be finite"):
        rows.mode_pass(np.zeros((1, 2)), 0, value)
    with pytest.raises(ValueError, match="negligible must be > 0 and at most 600"):
        rows.negligible = 601.0 if value > 0 else value


def test_labels_may_be_detached_while_others_use_them(rng):
    X, centers = rng.normal(size=(20_000, 40)), rng.normal(size=(5, 40))
    rows = _core.Rows(X, n_threads=2)
    expected = np.square(X[:, None] - centers).sum(axis=2).argmin(axis=1)

    def work(number):
        for _ in range(20):
            if number == 0:
                rows.attach_labels(rows.detach_labels())
            elif number == 1:
                rows.set_precision(np.full(len(X), 2.0))
            elif number == 2 and rows.has_labels:
                assert rows.labels.shape == (len(X),)
            else:
                with suppress(RuntimeError):  # the labels were detached meanwhile
                    rows.mode_pass(centers, 0, 1.0)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(work, range(5)))
    rows.mode_pass(centers, 0, 1.0)
    np.testing.assert_array_equal(rows.labels, expected)


def test_labels_attached_to_rows_of_another_type_have_no_bounds(rng):
    X, centers = rng.normal(size=(3000, 40)).astype(np.float32), rng.normal(size=(60, 40))
    first, other = _core.Rows(X), _core.Rows(X.astype(np.float64))
    for _ in range(3):
        first.mode_pass(centers, 0, 1.0)
    other.attach_labels(first.detach_labels())
    centers = centers + 1e-3
    other.mode_pass(centers, 0, 1.0)
    squared = np.square(X[:, None].astype(np.float64) - centers).sum(axis=2)
    np.testing.assert_array_equal(other.labels, squared.argmin(axis=1))
