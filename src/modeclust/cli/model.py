"""The model that the options ask for, and errors about options that do not fit the method."""

import math
from contextlib import suppress
from typing import Any

from modeclust.cli.options import FitOptions, Method
from modeclust.data.validation import LARGEST, SMALLEST
from modeclust.estimators.kmodes import KModes
from modeclust.estimators.laplacian_kmodes import LaplacianKModes
from modeclust.solvers.bandwidth import RULES, parse_rule

Model = KModes | LaplacianKModes


def make_model(options: FitOptions) -> Model:
    """Return the model to fit, or raise an error if options are invalid or of another method."""
    is_kmodes = options.method == Method.kmodes
    if misplaced := _misplaced(options):
        fitting = Method.laplacian if is_kmodes else Method.kmodes
        raise ValueError(
            f"{misplaced[0]} applies only to --method {fitting}; remove it, or pass "
            f"--method {fitting}."
        )
    n_clusters = parse_count(options.n_clusters, "--clusters")
    bandwidth = parse_bandwidth(options.bandwidth)
    shared: dict[str, Any] = {
        "bandwidth": bandwidth,
        "rows_per_mode": parse_rows_per_mode(options.rows_per_mode, bandwidth),
        "kernel": str(options.kernel),
        "metric": str(options.metric),
        "random_state": options.seed,
        "n_jobs": options.jobs,
    }
    if options.max_clusters is not None:
        if n_clusters != "auto":
            raise ValueError(
                f"--max-clusters applies only to --clusters auto, got --clusters {n_clusters}; "
                "remove one of the two."
            )
        shared["max_clusters"] = options.max_clusters
    if options.n_bandwidths is not None:
        shared["n_bandwidths"] = options.n_bandwidths
    if is_kmodes:
        return KModes(
            n_clusters,
            adaptive=options.adaptive,
            n_init=parse_count(options.n_init, "--n-init"),
            checkpoint=options.checkpoint,
            keep_checkpoint=options.checkpoint is not None,  # until the results are written
            **shared,
        )
    return LaplacianKModes(
        n_clusters,
        smoothing=parse_smoothing(options.smoothing),
        n_neighbors=parse_count(options.n_neighbors, "--n-neighbors"),
        neighbor_search=str(options.neighbor_search),
        solver=str(options.solver),
        **shared,
    )


def _misplaced(options: FitOptions) -> list[str]:
    """Return the options that were given but belong to the other method."""
    defaults = FitOptions._field_defaults
    if options.method == Method.kmodes:
        names = ["smoothing", "n_neighbors", "neighbor_search", "solver"]
    else:
        names = ["adaptive", "n_init", "stream", "checkpoint"]
    given = [name for name in names if getattr(options, name) not in (defaults[name], False)]
    misplaced = [f"--{name.replace('_', '-')}" for name in given]
    if options.method == Method.laplacian and options.bandwidth == "inf":
        misplaced.append("--bandwidth inf")
    return misplaced


def parse_bandwidth(text: str) -> float | str:
    """Return a bandwidth, the name of a rule, or "auto"."""
    if text == "auto":
        return text
    with suppress(ValueError):
        parse_rule(text)
        return text
    with suppress(ValueError):
        if (bandwidth := float(text)) > 0:
            return bandwidth
    raise ValueError(
        f"--bandwidth must be auto, a number > 0, inf, one of {', '.join(RULES)}, or one of these "
        f"rules with a factor, such as 0.4*knn or knn/3, got {text!r}."
    )


def parse_rows_per_mode(text: str, bandwidth: float | str) -> float | str:
    """Return how many rows a mode averages, or "auto"."""
    if text == "auto":
        return text
    try:
        n_rows = float(text)
    except ValueError:
        n_rows = math.nan
    if not n_rows >= 1:
        raise ValueError(f"--rows-per-mode must be auto, a number >= 1, or inf, got {text!r}.")
    if bandwidth != "auto":
        raise ValueError(
            f"--rows-per-mode applies only to --bandwidth auto, got --bandwidth {bandwidth}; "
            "remove one of the two."
        )
    return n_rows


def parse_count(text: str, option: str) -> int | str:
    """Return a positive integer, or "auto"."""
    if text == "auto":
        return text
    if not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"{option} must be auto or an integer > 0, got {text!r}.")
    return int(text)


def parse_smoothing(text: str) -> float | str:
    """Return the weight of the graph, or "auto"."""
    if text == "auto":
        return text
    with suppress(ValueError):
        smoothing = float(text)
        if smoothing == 0 or SMALLEST <= smoothing <= LARGEST:
            return smoothing
    raise ValueError(
        f"--smoothing must be auto, 0, or a number from {SMALLEST:g} to {LARGEST:g}, got {text!r}."
    )
