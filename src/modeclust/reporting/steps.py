"""The points of a path that a report shows: what the slider goes over."""

import math
from typing import Any

import numpy as np

from modeclust.plotting.clustering import (
    comparable_objectives,
    has_own_bandwidths,
    labelled_step,
)
from modeclust.plotting.density import MAX_BINS
from modeclust.plotting.exemplars import lengths
from modeclust.reporting.cards import ColumnSummary
from modeclust.reporting.charts import N_DENSITY_POINTS
from modeclust.reporting.data import Source
from modeclust.reporting.images import MAX_MODE_BYTES
from modeclust.reporting.rows import Rows
from modeclust.reporting.typical import Typical
from modeclust.reporting.wording import finite_or_none

# With more values than this along the path, some columns are left out until this many are left,
# and then some points.
MAX_STEP_VALUES = 200_000
MAX_STEP_COLUMNS = 100
STAGES = ("Means", "Centers", "Modes")


def limit_steps(source: Source, rows: Rows) -> tuple[Source, int]:
    """Return the source with few enough points of its path for a page, and how many were omitted.

    The first and the last one are kept, and the one at which labels are frozen.
    """
    n_steps = len(source.path)
    n_numbers = min(len(rows.summarized), MAX_STEP_COLUMNS) + 4
    if source.X.shape[1] == 1:
        n_numbers += N_DENSITY_POINTS + MAX_BINS
    ends = np.array([0, labelled_step(source.path.stage), n_steps - 1])
    most = MAX_STEP_VALUES // (source.n_clusters * n_numbers)
    if rows.image_shape is not None:
        most = min(most, MAX_MODE_BYTES // (source.n_clusters * math.prod(rows.image_shape)))
    max_steps = max(len(np.unique(ends)), most)
    if n_steps <= max_steps:
        return source, 0
    kept = np.linspace(0, n_steps - 1, max_steps).round().astype(int)
    if ends[1] not in kept:
        inner = kept[1:-1]
        inner[np.argmin(np.abs(inner - ends[1]))] = ends[1]
    return source.with_steps(kept), n_steps - len(kept)


def step_columns(source: Source, summaries: list[ColumnSummary]) -> list[int]:
    """Return the columns whose values are shown along the path: all, or those that differ most."""
    n = max(MAX_STEP_COLUMNS, MAX_STEP_VALUES // (len(source.path) * source.n_clusters) - 4)
    if len(summaries) <= n:
        return list(range(len(summaries)))
    largest = [np.nanmax(np.abs(summary.effects), initial=0.0) for summary in summaries]
    return sorted(np.argsort(-np.array(largest), kind="stable")[:n].tolist())


def summarize_steps(
    source: Source, summaries: list[ColumnSummary], columns: list[int]
) -> list[dict[str, Any]]:
    """Return what is shown at each point of the path."""
    path, model = source.path, source.model
    objectives, own = comparable_objectives(model, path), has_own_bandwidths(path)
    steps = []
    for i, point in enumerate(path):
        weights = source.weights(i)
        typical = [summaries[c].to_values(Typical(summaries[c].column, weights)) for c in columns]
        averaged = point.rows_averaged
        steps.append(
            {
                "stage": point.stage,
                "name": STAGES[point.stage],
                "bandwidth": finite_or_none(point.bandwidth),
                # If each cluster has a bandwidth of its own, `bandwidth` is their median.
                "own_bandwidths": bool(own[i]),
                "rows_averaged": None if averaged is None else averaged.round(2).tolist(),
                "objective": finite_or_none(objectives[i]),
                "counts": point.counts.tolist(),
                "moved": [
                    finite_or_none(distance)
                    for distance in lengths(point.centers.astype(np.float64) - path.centers[0])
                ],
                "n_changed": int(
                    np.count_nonzero(source.labels[i] != source.labels[max(i - 1, 0)])
                ),
                "typical": [list(values) for values in zip(*typical, strict=True)]
                or [[] for _ in range(source.n_clusters)],
            }
        )
    return steps
