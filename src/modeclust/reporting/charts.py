"""The charts of a report: the map of the rows, and the histogram of a single feature."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modeclust.data.reading import Doubles, is_sparse
from modeclust.plotting.clustering import density_bandwidths, fit_parameter
from modeclust.plotting.density import ClusterDensity, histogram_edges, histogram_limits
from modeclust.plotting.exemplars import Indices
from modeclust.plotting.projection import Projection
from modeclust.reporting.cards import ColumnSummary
from modeclust.reporting.data import Source
from modeclust.reporting.rows import Rows

MAX_HEAT_COLUMNS = 500
MAX_HEAT_LEVELS = 6  # categories of a column in the heat map
# The histogram of outlier scores ends here, and its last bar has all higher ones.
MAX_SHOWN_SCORE = 12.0
N_OUTLIERS = 20
N_DENSITY_POINTS = 400


def summarize_map(source: Source, shown: Indices, names: Any) -> dict[str, Any]:
    """Return the coordinates of the rows `shown`, and of the modes at each point of the path."""
    projection = Projection.of(source.X, names)
    points = projection.transform(source.X[shown])
    centers = [_among_rows(source, step) for step in range(len(source.path))]
    return {
        "axes": list(projection.axis_labels),
        "rows": [source.number(row) for row in shown.tolist()],
        "points": [axis for [axis] in (rounded_rows(a[None], np.ptp(a)) for a in points.T)],
        "centers": [
            [rounded_rows(c[None], np.ptp(points))[0] for c in projection.transform(own)]
            for own in centers
        ],
    }


def _among_rows(source: Source, step: int) -> Doubles:
    """Return the modes at a point of the path; with the metric "cosine", not of length 1.

    Means of rows of length 1 are shorter. If they had length 1 too, the modes of text would be far
    from all rows. Their length is the mean cosine similarity of the rows.
    """
    centers: Doubles = source.path.centers[step].astype(np.float64)
    if source.model is None or fit_parameter(source.model, "metric") != "cosine":
        return centers
    similarities = 1 - source.distances(step) ** 2 / 2
    lengths = source.weights(step).means(similarities)
    return centers * np.nan_to_num(lengths, nan=1.0)[:, None]


def summarize_histogram(source: Source) -> dict[str, Any] | None:
    """Return the histogram and the density of each cluster at each point, for one feature.

    Each density has the bandwidth of its cluster. Densities are evaluated on a grid. If a
    bandwidth is smaller than the spacing of the grid, the spacing is used instead.
    """
    if source.X.shape[1] != 1:
        return None
    path, n_clusters = source.path, source.n_clusters
    X = source.X.toarray() if is_sparse(source.X) else source.X
    values = np.asarray(X, dtype=np.float64)[:, 0]
    low, high = histogram_limits(values, path.centers[-1])
    edges = histogram_edges(values, low, high)
    grid = np.linspace(edges[0], edges[-1], N_DENSITY_POINTS)
    # Rows without a cluster have no weight.
    weight = np.ones(len(values)) if source.weight is None else source.weight
    counted = np.where(source.labels[-1] >= 0, weight, 0.0)
    density = ClusterDensity.of(values[:, None], source.kernel, counted, source.scale)
    bin_width, spacing = edges[1] - edges[0], grid[1] - grid[0]
    curves = [
        None
        if (bandwidths := density_bandwidths(path, step)) is None
        else bin_width
        * density.with_area_of_weights(
            grid, np.maximum(own, 0), n_clusters, np.maximum(bandwidths, spacing)
        )
        for step, own in enumerate(source.labels)
    ]
    counts = [
        [
            np.histogram(values[own == k], edges, weights=density.weight[own == k])[0].tolist()
            for k in range(n_clusters)
        ]
        for own in source.labels
    ]
    return {
        "edges": edges.tolist(),
        "n_outside": int(np.count_nonzero((values < edges[0]) | (values > edges[-1]))),
        "weighted": source.weight is not None,
        "counts": counts,
        "grid": grid.tolist(),
        "densities": [None if c is None else rounded_rows(c, c.max()) for c in curves],
    }


def summarize_heat(summaries: list[ColumnSummary], n_clusters: int) -> dict[str, Any] | None:
    """Return how far each cluster is from all rows in each column, in spreads.

    Columns that differ most between clusters come first. Each of the commonest categories of a
    column has its own row, with the share of the category in each cluster.
    """
    if n_clusters < 2 or not summaries:
        return None
    found: list[tuple[float, dict[str, Any], Doubles, Doubles | None]] = []
    for number, summary in enumerate(summaries):
        name, is_category = summary.column.name, summary.column.kind == "category"
        is_share = is_category or summary.column.kind == "boolean"
        top = np.argsort(-summary.all_rows.center, kind="stable")[:MAX_HEAT_LEVELS]
        for level in top.tolist():
            category = summary.column.levels[level] if is_category else None
            label = f"{name} = {category}" if is_category else name
            effects = summary.effects[:, level]
            row = {"column": number, "category": category, "label": label}
            largest = float(np.nan_to_num(np.abs(effects)).max())
            found.append((largest, row, effects, summary.positions[:, level] if is_share else None))
    found = sorted(found, key=lambda item: -item[0])[:MAX_HEAT_COLUMNS]
    return {
        "rows": [row for _, row, _, _ in found],
        "effects": _by_cluster([effects for _, _, effects, _ in found], n_clusters),
        "values": _by_cluster([shares for _, _, _, shares in found], n_clusters),
    }


def _by_cluster(rows: Sequence[Doubles | None], n_clusters: int) -> list[list[float | None]]:
    return [
        [None if v is None or np.isnan(v[k]) else round(float(v[k]), 3) for v in rows]
        for k in range(n_clusters)
    ]


def summarize_outliers(source: Source, rows: Rows) -> dict[str, Any] | None:
    """Return the rows with the largest outlier scores, and a histogram of the scores."""
    scores = getattr(source.model, "outlier_scores_", None)
    if scores is None:
        return None
    scores = np.asarray(scores, dtype=np.float64)
    if len(scores) != source.X.shape[0] and source.sample is not None:
        scores = scores[source.sample.indices]
    known = scores[np.isfinite(scores)]
    counts, edges = np.histogram(np.minimum(known, MAX_SHOWN_SCORE), bins=40)
    top = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:N_OUTLIERS]
    return {
        "edges": edges.tolist(),
        "counts": counts.tolist(),
        "n_above": int(np.count_nonzero(known > MAX_SHOWN_SCORE)),
        "rows": [
            {
                "row": source.number(row),
                "name": rows.name(row, source.number(row)),
                "cluster": int(source.labels[-1][row]),
                "score": float(scores[row]) if np.isfinite(scores[row]) else None,
            }
            for row in top.tolist()
        ],
    }


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
