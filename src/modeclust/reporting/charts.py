"""The charts of a report: the map of the rows, and the histogram of a single feature."""

from typing import Any

import numpy as np

from modeclust.data.reading import Doubles
from modeclust.path import Path
from modeclust.plotting.clustering import adaptive_scales, density_bandwidths, fit_parameter
from modeclust.plotting.density import KernelDensity, histogram_edges, histogram_limits
from modeclust.plotting.exemplars import Indices, Labels
from modeclust.plotting.projection import Projection
from modeclust.reporting.data import ReportData
from modeclust.reporting.patterns import rounded_rows

N_DENSITY_POINTS = 400
# Bins of the histogram of outlier scores, and how many of the farthest rows are listed.
N_SCORE_BINS, N_FARTHEST = 40, 12
# A row with a higher score is an outlier: one in 700 rows of a Gaussian cluster has one.
OUTLIER_SCORE = 3.0
MAX_SHOWN_SCORE = 8.0  # higher ones are in the last bin


def summarize_map(data: ReportData, path: Path, shown: Indices) -> dict[str, Any]:
    """Return the coordinates of the rows `shown`, and of the modes at each bandwidth."""
    projection = Projection.of(data.X, data.feature_names)
    points = projection.transform(data.X[shown])
    return {
        "axes": list(projection.axis_labels),
        "rows": shown.tolist(),
        "points": [axis for [axis] in (rounded_rows(a[None], np.ptp(a)) for a in points.T)],
        "centers": [projection.transform(centers).tolist() for centers in path.centers],
        "classes": None if data.classes is None else data.classes[shown].tolist(),
    }


def summarize_outliers(scores: Doubles, labels: Labels) -> dict[str, Any]:
    """Return the histogram of the outlier scores, and the rows with the highest ones."""
    last = min(max(float(scores.max()), OUTLIER_SCORE), MAX_SHOWN_SCORE)
    edges = np.linspace(min(float(scores.min()), 0.0), last, N_SCORE_BINS + 1)
    counts, _ = np.histogram(np.minimum(scores, edges[-1]), edges)
    farthest = np.argsort(-scores, kind="stable")[:N_FARTHEST].tolist()
    return {
        "threshold": OUTLIER_SCORE,
        "n_above": int(np.count_nonzero(scores > OUTLIER_SCORE)),
        "n_rows": len(scores),
        "edges": edges.tolist(),
        "counts": counts.tolist(),
        "farthest": [
            {"row": row, "cluster": int(labels[row]), "score": float(scores[row])}
            for row in farthest
        ],
    }


def summarize_histogram(
    data: ReportData, path: Path, labels: Labels, model: Any
) -> dict[str, Any] | None:
    """Return the histogram and the density of each cluster at each bandwidth, for one feature.

    Each density has the bandwidth of its cluster. Densities are evaluated on a grid. If a
    bandwidth is smaller than the spacing of the grid, the spacing is used instead.
    """
    if data.n_features != 1:
        return None
    values = data.dense(np.arange(data.n_rows))[:, 0]
    low, high = histogram_limits(values, path.centers[-1])
    edges = histogram_edges(values, low, high)
    grid = np.linspace(edges[0], edges[-1], N_DENSITY_POINTS)
    scale = data.scale if data.scale is not None else adaptive_scales(model, data.X, data.weight)
    density = KernelDensity.of(values[:, None], fit_parameter(model, "kernel"), data.weight, scale)
    bin_width, spacing = edges[1] - edges[0], grid[1] - grid[0]
    curves = [
        None
        if (bandwidths := density_bandwidths(path, step)) is None
        else bin_width
        * density.with_area_of_weights(grid, own, data.n_clusters, np.maximum(bandwidths, spacing))
        for step, own in enumerate(labels)
    ]
    counts = [
        [
            np.histogram(values[own == k], edges, weights=density.weight[own == k])[0].tolist()
            for k in range(data.n_clusters)
        ]
        for own in labels
    ]
    return {
        "edges": edges.tolist(),
        "n_outside": int(np.count_nonzero((values < edges[0]) | (values > edges[-1]))),
        "weighted": data.weight is not None,
        "counts": counts,
        "grid": grid.tolist(),
        "densities": [None if c is None else rounded_rows(c, c.max()) for c in curves],
    }
