"""Calls of the compiled core with damaged arguments: wrong types, shapes, strides and numbers.

The library never passes such arguments. The core must refuse them, or return something, and must
still give the right result for the next valid call.
"""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
from protected import at_end_of_memory
from scipy import sparse

from modeclust import _core

N, D, K = 40, 3, 4
NUMBERS = (0, -1, 1, 2, 3, 127, 2**31 - 1, 2**31, 2**62, 0.5, -0.0, 1e308, 5e-324)
SPECIAL = (*NUMBERS, math.nan, math.inf, -math.inf)
TYPES = ("f2", "f4", "f8", ">f8", "i1", "i4", "i8", "u8", "?", "c16", "U3", "M8[s]", "V8")
OTHERS = (None, True, "word", b"", [], [1.0], 10**30, 1j, np.array([1.0], object))
# RuntimeError: labels are kept that rows do not have, as after `detach_labels`.
REFUSALS = (ValueError, TypeError, OverflowError, MemoryError, RuntimeError)

Call = tuple[Any, dict[str, Any]]


def make_calls() -> dict[str, Call]:
    """Return a valid call of every function and method of the core. Methods share their objects."""
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(N, D)), rng.normal(size=(K, D))
    C = sparse.csr_array(np.where(X > 0, X, 0))
    weight, scores = rng.uniform(0.5, 2, N), rng.uniform(size=(N, K))
    labels = np.arange(N, dtype=np.int32) % K
    pairs = np.array([[0, 1], [2, 3]])
    memberships = scores / scores.sum(axis=1, keepdims=True)
    affinity = np.ones(2 * N)
    neighbors = np.sort([np.arange(-1, N - 1) % N, np.arange(1, N + 1) % N], axis=0)
    of_rows = {"weight": weight, "precision": weight, "factors": None, "n_clusters": K}
    dense = {"X": X, **of_rows, "offset": centers[0], "scale": 2.0, "n_threads": 2, "first_row": 3}
    csr = {"data": C.data, "indices": C.indices, "indptr": C.indptr, "n_features": D, **of_rows}
    links = {
        "data": affinity,
        "indices": neighbors.T.ravel().astype(np.int32),
        "indptr": np.arange(0, 2 * N + 1, 2),
        "n_threads": 2,
    }
    rows, others = _core.Rows(**dense), _core.Rows(**csr)
    tree, graph = _core.DensityRows(rows), _core.Graph(**links)
    at = {"kernel": 0, "inverse_squared_bandwidth": 0.5}
    soft = {"memberships": memberships, "kernel_values": scores, "smoothing": 0.5}
    calls: dict[str, Call] = {
        "Rows": (_core.Rows, dense),
        "Rows (CSR)": (_core.Rows, csr),
        "DensityRows": (_core.DensityRows, {"rows": rows}),
        "DensityRows.shift_sums": (tree.shift_sums, {"points": X[:7].copy(), **at}),
        "Graph": (_core.Graph, links),
        "Graph.descend": (
            graph.descend,
            {
                **soft,
                "before": memberships,
                "products": scores,
                "products_before": scores,
                "degrees": weight,
                "rate": 0.1,
                "momentum": 0.5,
                "out": np.empty((N, K)),
            },
        ),
        "Graph.multiply": (graph.multiply, {**soft, "out": np.empty((N, K))}),
        "Graph.soften": (graph.soften, {**soft, "damping": 0.5, "out": np.empty((N, K))}),
        "project_rows": (_core.project_rows, {"rows": scores.copy()}),
        "means": (_core.means, {"totals": centers, "mass": weight[:K], "otherwise": centers}),
        "center_moves": (_core.center_moves, {"before": centers, "after": 2 * centers}),
        "each_move": (
            _core.each_move,
            {
                "before": centers,
                "after": 2 * centers,
                "tolerances": np.ones(K),
                "rounding": 1e-15,
            },
        ),
        "merge_mode_sums": (
            _core.merge_mode_sums,
            {
                "kernel": 0,
                **{name: weight[:K].copy() for name in ("reference", "mass", "mass_squared")},
                "totals": centers.copy(),
                **{f"other_{name}": weight[:K] for name in ("reference", "mass", "mass_squared")},
                "other_totals": centers,
            },
        ),
        "bandwidths_for_rows": (
            _core.bandwidths_for_rows,
            {
                "kernel": 0,
                "histogram": rng.uniform(size=(K, 30, 3)),
                "unit": 0.1,
                "wanted": np.full(K, 2.0),
            },
        ),
        "relative_weights": (
            _core.relative_weights,
            {"kernel": 0, "squared": weight, "reference": weight[::-1].copy()},
        ),
        "prune_centers": (
            _core.prune_centers,
            {"losses": scores, "weight": weight, "n_kept": 2},
        ),
        "dip": (_core.dip, {"values": X[:, 0].copy(), "weight": weight}),
    }
    clustering = {"squares": scores, "centers": centers, "weight": weight, "labels": labels}
    calls["separations"] = _core.separations, {**clustering, "pairs": pairs, "n_threads": 2}
    calls["pair_values"] = _core.pair_values, {**clustering, "i": 0, "j": 2}
    for kind, some in (("", rows), (" (CSR)", others)):
        here = {"rows": some, "centers": centers}
        some.set_labels(labels, K)
        calls |= {
            f"Rows.mode_pass{kind}": (
                some.mode_pass,
                {"centers": centers, **at, "reassign": True, "also_at": 0.4},
            ),
            f"Rows.mode_pass of kept labels{kind}": (
                some.mode_pass,
                {
                    "centers": centers,
                    **at,
                    "reassign": False,
                    "cluster_factors": np.ones(K),
                    "squared": np.empty(N),
                },
            ),
            f"Rows.mode_pass of some clusters{kind}": (
                some.mode_pass,
                {
                    "centers": centers,
                    **at,
                    "reassign": False,
                    "cluster_factors": np.where(np.arange(K) % 2, 1.0, -1.0),
                },
            ),
            f"Rows.mean_pass{kind}": (some.mean_pass, {"centers": centers, "after": 2 * centers}),
            f"Rows.set_labels{kind}": (some.set_labels, {"labels": labels, "n_clusters": K}),
            f"Rows.set_precision{kind}": (some.set_precision, {"precision": weight}),
            f"Rows.keys{kind}": (some.keys, {"directions": np.ones(D)}),
            f"Rows.detach_labels{kind}": (some.detach_labels, {}),
            f"Rows.attach_labels{kind}": (
                some.attach_labels,
                {"kept": _core.Rows(**(csr if kind else dense)).detach_labels()},
            ),
            f"Rows.digest{kind}": (some.digest, {}),
            f"Rows.inverse_lengths{kind}": (some.inverse_lengths, {}),
            f"Rows.row_weights{kind}": (some.row_weights, {}),
            f"distances{kind}": (_core.distances, {**here, "out": np.empty((N, K))}),
            f"own_distances{kind}": (_core.own_distances, {**here, "labels": labels}),
            f"nearest_rows{kind}": (
                _core.nearest_rows,
                {"rows": some, "n_nearest": 5, "queries": _core.Rows(X[:7].copy())},
            ),
            f"kernel_values{kind}": (
                _core.kernel_values,
                {**here, **at, "out": np.empty((N, K))},
            ),
            f"soft_sums{kind}": (_core.soft_sums, {**here, **at, "memberships": memberships}),
            f"segment_densities{kind}": (
                _core.segment_densities,
                {**here, **at, "labels": labels, "pairs": pairs, "fractions": weight[:5]},
            ),
            f"distance_histogram{kind}": (
                _core.distance_histogram,
                {"rows": some, "squared": weight, "labels": labels, "n_clusters": K, "unit": 0.1},
            ),
        }
    calls["Rows.column_limits"] = rows.column_limits, {}
    return calls


def damage_call(rng: random.Random, content: bytes, _donor: bytes) -> bytes:
    """Return the name of a call with a random number, which decides what is damaged."""
    return content.partition(b" #")[0] + b" #" + str(rng.getrandbits(48)).encode()


def judge_call(path: Path) -> str:
    """Call the core with damaged arguments, and then with valid ones."""
    name, _, number = path.read_text().partition(" #")
    calls = make_calls()
    function, arguments = calls[name]
    rng = random.Random(number)
    if not number:
        function(**arguments)
        return "read"
    for _ in range(rng.choice((0, 0, 1, 3))):  # calls before it, which change the rows
        _try(rng, *calls[rng.choice(sorted(calls))])
    outcome = _try(rng, function, arguments)
    _check_rows_still_work(calls)
    return outcome


def _try(rng: random.Random, function: Any, arguments: dict[str, Any]) -> str:
    damaged = dict(arguments)
    for name in rng.sample(sorted(damaged), k=min(len(damaged), rng.choice((1, 1, 2)))):
        damaged[name] = _damage(rng, damaged[name])
    try:
        function(**damaged)
    except REFUSALS:
        return "refused"
    return "read"


def _damage(rng: random.Random, value: Any) -> Any:
    if rng.random() < 0.05:
        return rng.choice(OTHERS)
    if isinstance(value, np.ndarray):
        return rng.choice((_retyped, _laid_out, _reshaped, _renumbered))(rng, value)
    if isinstance(value, _core.Rows):
        return _core.Rows(np.ones((rng.choice((0, 7, N)), rng.choice((1, D)))))
    if isinstance(value, _core.KeptLabels):
        return _core.Rows(np.ones((7, D))).detach_labels()
    return rng.choice(SPECIAL)


def _retyped(rng: random.Random, array: Any) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(TYPES))


def _laid_out(rng: random.Random, array: Any) -> Any:
    way = rng.randrange(5)
    if way == 0:
        return array[::-1]
    if way == 1:
        return np.repeat(array, 2, axis=0)[::2]
    if way == 2:
        return np.broadcast_to(array[:1], array.shape)
    if way == 3:
        return np.asfortranarray(array)
    unaligned = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    return unaligned


def _reshaped(rng: random.Random, array: Any) -> Any:
    way = rng.randrange(5)
    if way == 0:
        return array.ravel()
    if way == 1:
        return array[None]
    if way == 2:
        return array.T.copy()
    length = rng.choice((0, 1, len(array) - 1, len(array) + 1, 2 * len(array)))
    if way == 3 and array.ndim > 1:
        return at_end_of_memory(np.resize(array, (len(array), length)))
    return at_end_of_memory(np.resize(array, (length, *array.shape[1:])))


def _renumbered(rng: random.Random, array: Any) -> Any:
    changed = at_end_of_memory(array)
    for _ in range(rng.choice((1, 1, 3)) if array.size else 0):
        number = rng.choice(SPECIAL if array.dtype.kind == "f" else NUMBERS)
        with np.errstate(all="ignore"):
            changed.flat[rng.randrange(array.size)] = np.float64(number).astype(array.dtype)
    return changed


def _check_rows_still_work(calls: dict[str, Call]) -> None:
    """Assert that rows give the same bits after damaged calls as rows that had none."""
    for kind in ("", " (CSR)"):
        found = []
        for some in (calls, make_calls()):
            rows = some[f"Rows.mode_pass{kind}"][0].__self__
            rows.set_precision(None)
            rows.negligible = 600.0
            function, arguments = some[f"Rows.mode_pass{kind}"]
            sums = function(**arguments)
            found.append([np.asarray(part).tobytes() for part in (rows.labels, *sums[:4])])
        assert found[0] == found[1], "rows give other results after a damaged call"
