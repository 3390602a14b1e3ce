"""The parts of a checkpoint: whether they are what a fit writes, and fit together."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modeclust.io.model_file import is_array
from modeclust.solvers.solve import State

# Fields of a state that matter only of the last one.
LAST = ("centroids", "labels", "memberships", "history", "mass", "reference")
PARTS = frozenset(
    ("facts", "contents", "begun", "generator", "target")
    + ("n_restarts", "bandwidths", "states", "centers", "labels")
)


def wrong_part(found: dict[str, Any]) -> str | None:
    """Return the name of a part that no fit writes, if there is one."""
    if found.keys() != PARTS:
        return ", ".join(sorted(found.keys() ^ PARTS))
    return next((name for name, fits in _checks(found) if not fits), None)


def misfit(found: dict[str, Any], n_rows: int, n_init: int, shape: tuple[int, ...]) -> str | None:
    """Return the name of a part that is not of so many rows and restarts, or such centers."""
    centers, labels, bandwidths = found["centers"], found["labels"], found["bandwidths"]
    n_states, (length, *of_one) = len(centers), shape
    expected = length - 1 if n_states else 0
    states = found["states"]
    checks = {
        "n_restarts": found["n_restarts"] <= n_init,
        "centers": n_states <= length and list(centers.shape[1:]) == of_one,
        "bandwidths": (0 if bandwidths is None else len(bandwidths)) == expected,
        "labels": labels is None or labels.shape == (n_states, n_rows),
        "states": bool(np.all(states["nearest"] < n_rows)),
    }
    return next((name for name, fits in checks.items() if not fits), None)


def _checks(found: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield names of parts and whether they fit; none may be asked for after one that does not."""
    for name in ("facts", "contents"):
        told = found[name]
        yield name, isinstance(told, dict) and all(isinstance(v, str) for v in told.values())
    target, n_restarts, bandwidths = found["target"], found["n_restarts"], found["bandwidths"]
    yield "target", target is None or _is_target(target)
    yield "n_restarts", type(n_restarts) is int and n_restarts >= 0
    fits = bandwidths is None or (is_array(bandwidths, "f", None) and _are_positive(bandwidths))
    yield "bandwidths", fits
    centers, labels = found["centers"], found["labels"]
    fits = isinstance(centers, np.ndarray) and centers.dtype.kind == "f" and centers.ndim == 3
    yield "centers", fits and bool(np.isfinite(centers).all())
    n_states, n_clusters, n_features = centers.shape
    fits = labels is None or is_array(labels, "iu", n_states, None)
    yield "labels", fits and (labels is None or _are_places(labels, 0, n_clusters))
    n_states = n_states or min(n_restarts, 1)  # that of the best restart
    yield "states", _are_states(found["states"], n_states, n_clusters, n_features)


def _is_target(target: Any) -> bool:
    if type(target) is not tuple or len(target) != 2:
        return False
    bandwidth, scales = target
    return (
        type(bandwidth) is float
        and bandwidth > 0
        and (scales is None or (is_array(scales, "f", None) and _are_positive(scales)))
    )


def _are_states(packed: Any, n_states: int, n_clusters: int, n_features: int) -> bool:
    """Return whether these are the states of a path, of which the last has all fields."""
    if not isinstance(packed, dict) or not set(State._fields) - set(LAST) <= packed.keys():
        return False
    if n_states == 0:
        return all(isinstance(part, np.ndarray) and part.size == 0 for part in packed.values())
    kinds = {"bandwidth": "f", "objective": "f", "inertia": "f", "residual": "f", "n_iter": "i"}
    kinds |= {"converged": "b", "counts": "i", "nearest": "i", "unsupported": "b"}
    widths = dict.fromkeys(("counts", "nearest", "unsupported"), (n_clusters,))
    if packed.keys() != set(State._fields) or not all(
        is_array(packed[name], kind, n_states, *widths.get(name, ()))
        for name, kind in kinds.items()
    ):
        return False
    sums = [packed["mass"], packed["reference"]]
    return (
        is_array(packed["centroids"], "f", n_clusters, n_features)
        and bool(np.isfinite(packed["centroids"]).all())
        and bool((packed["bandwidth"] > 0).all() and np.isfinite(packed["objective"]).all())
        and bool((packed["inertia"] >= 0).all() and (packed["n_iter"] >= 0).all())
        and bool((packed["counts"] >= 0).all() and (packed["nearest"] >= -1).all())
        and bool(np.ptp(packed["counts"].sum(axis=1)) == 0)  # all are of the same rows
        and packed["labels"] is packed["memberships"] is None
        and isinstance(packed["history"], tuple)
        and all(part is None or is_array(part, "f", n_clusters) for part in sums)
        and all(part is None or bool((part >= 0).all()) for part in sums)
    )


def _are_positive(values: Any) -> bool:
    return bool(np.isfinite(values).all() and (values > 0).all())


def _are_places(values: Any, least: int, end: int) -> bool:
    return bool(((values >= least) & (values < end)).all())
