"""The cards of a report: the mode of each cluster, its exemplars, and their classes."""

from typing import Any

import numpy as np

from modeclust.data.reading import Doubles
from modeclust.data.rescaling import column_limits
from modeclust.path import Path
from modeclust.plotting.exemplars import (
    Indices,
    Labels,
    nearest_by_distance,
    own_distances,
    without_zero_weights,
)
from modeclust.reporting.data import ReportData

N_EXEMPLARS = 20
N_ROW_TERMS, N_MODE_TERMS = 12, 50  # largest features of a row and of a mode
# With more numbers than this, there are fewer exemplars.
MAX_EXEMPLAR_NUMBERS = 1_000_000
BLOCK_ROWS = 256  # exemplars that are made dense at a time
# Each feature has its own scale if the widest one is this many times as wide as the median.
MAX_WIDTH_RATIO = 5


def summarize_patterns(data: ReportData, path: Path, labels: Labels) -> dict[str, Any]:
    """Return the modes at each bandwidth, and the rows of each cluster nearest to them.

    With classes, it also returns those of these rows, and the most frequent class of each cluster.
    """
    mean_distances, nearest_by_step = [], []
    for own, point in zip(labels, path, strict=True):
        distances = own_distances(data.X, own, point.centers)
        mean_distances.append(_cluster_means(distances, own, data.n_clusters))
        candidates = without_zero_weights(own, data.weight)
        nearest_by_step.append(
            nearest_by_distance(distances, candidates, data.n_clusters, N_EXEMPLARS)
        )
    nearest, rows = _limit_exemplars(np.stack(nearest_by_step), data)
    as_terms = data.pattern == "terms"
    low, high = column_limits(data.X)
    half_width = high / 2 - low / 2
    patterns: dict[str, Any] = {
        "pattern": data.pattern,
        "centers": (
            [_largest_features(centers, N_MODE_TERMS) for centers in path.centers]
            if as_terms
            else path.centers.tolist()
        ),
        "feature_ranges": _feature_ranges(low, high) if data.pattern == "profile" else None,
        "mean_distances": mean_distances,
        "exemplars": [[[r for r in own if r >= 0] for own in step] for step in nearest.tolist()],
        "exemplar_rows": rows.tolist(),
        "exemplar_values": [
            pattern
            for start in range(0, len(rows), BLOCK_ROWS)
            for values in [data.dense(rows[start : start + BLOCK_ROWS])]
            for pattern in (
                _largest_features(values, N_ROW_TERMS)
                if as_terms
                else rounded_rows(values, half_width)
            )
        ],
    }
    if data.classes is not None and data.class_names is not None:
        patterns["exemplar_classes"] = data.classes[rows].tolist()
        patterns["top_classes"] = [
            _top_classes(own, data.classes, data.n_clusters) for own in labels
        ]
    return patterns


def _limit_exemplars(nearest: Indices, data: ReportData) -> tuple[Indices, Indices]:
    """Halve the number of exemplars until they fit on the page; return them and their rows."""
    n_numbers = 2 * N_ROW_TERMS if data.pattern == "terms" else data.n_features
    while True:
        rows = np.unique(nearest[nearest >= 0])
        if len(rows) * n_numbers <= MAX_EXEMPLAR_NUMBERS or nearest.shape[2] == 1:
            return nearest, rows
        nearest = nearest[:, :, : nearest.shape[2] // 2]


def _largest_features(values: Any, n_terms: int) -> list[list[list[Any]]]:
    """Return [feature, value] for the largest features of each row, the largest first."""
    values = np.asarray(values)
    top = np.argsort(-values, axis=1, kind="stable")[:, :n_terms]
    return [
        [[int(d), float(row[d])] for d in features if row[d] != 0]
        for row, features in zip(values, top, strict=True)
    ]


def rounded_rows(values: Doubles, widths: Any) -> list[list[float]]:
    """Return rows rounded to a 100,000th of the width of each column, to keep the page small."""
    with np.errstate(divide="ignore"):
        decimals = 5 - np.floor(np.log10(widths))
    digits = [
        int(d) if np.isfinite(d) else None for d in np.broadcast_to(decimals, values.shape[1])
    ]
    return [
        [value if d is None else round(value, d) for value, d in zip(row, digits, strict=True)]
        for row in values.tolist()
    ]


def _feature_ranges(low: Doubles, high: Doubles) -> list[list[float]] | None:
    """Return the range of each feature, or None if their widths are similar."""
    widths = (high / 2 - low / 2)[high > low]
    if len(widths) == 0 or widths.max() <= MAX_WIDTH_RATIO * np.median(widths):
        return None
    return list(np.stack([low, high], axis=1).tolist())


def _cluster_means(values: Doubles, labels: Labels, n_clusters: int) -> list[float | None]:
    """Return the mean value of each cluster; None for an empty cluster."""
    counts = np.bincount(labels, minlength=n_clusters)
    sums = np.bincount(labels, weights=values, minlength=n_clusters)
    return [finite_or_none(s / n) if n else None for s, n in zip(sums, counts, strict=True)]


def _top_classes(labels: Labels, classes: Labels, n_clusters: int) -> list[list[int] | None]:
    """Return the most frequent class of each cluster and its count; None for an empty cluster."""
    found: list[list[int] | None] = []
    for k in range(n_clusters):
        counts = np.bincount(classes[labels == k])
        found.append([int(counts.argmax()), int(counts.max())] if len(counts) else None)
    return found


def finite_or_none(value: float) -> float | None:
    """Return a number, or None if it is infinite, which JSON cannot hold."""
    return float(value) if np.isfinite(value) else None
