"""What a report tells of a fitted model, as plain numbers and text."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import is_dask, is_sparse
from modeclust.data.rescaling import column_limits
from modeclust.data.validation import check_scales, check_weights
from modeclust.path import Path
from modeclust.plotting.density import Ground
from modeclust.plotting.exemplars import (
    labels_along,
    labels_of_weight,
    lengths,
    nearest_by,
    own_distances,
)
from modeclust.plotting.fitted import (
    Fitted,
    check_classes,
    check_image_shape,
    fitted_with,
    path_of,
    scales_of,
)
from modeclust.plotting.histogram import MOST_BINS, edges, limits
from modeclust.plotting.projection import Projection
from modeclust.plotting.sampling import sample_by_cluster, sample_rows
from modeclust.solvers.redundancy import redundant_pairs

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Labels = npt.NDArray[np.integer[Any]]

N_EXEMPLARS = 20
# Terms of a row and of a centroid.
N_TERMS, N_CENTER_TERMS = 12, 50
# More features than this are told by the greatest of them alone, except in images.
MOST_FEATURES = 1024
# Bandwidths are left out, evenly, where their centroids would be more numbers than this.
MOST_CENTER_NUMBERS = 1_000_000
MOST_EXEMPLAR_NUMBERS = 1_000_000
# Of more rows than this, only those that are drawn have their labels told.
MOST_LABELLED = 200_000
N_PLACES = 400
REDUNDANT = 0.9
# Features are drawn each on its own scale where one is so many times as wide as they are usually.
UNLIKE = 5


def summarize(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    image_shape: Sequence[int] | None = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    notes: Sequence[str] = (),
    sample_weight: Any = None,
    sample_scale: Any = None,
) -> dict[str, Any]:
    """Return all that a report shows of a model with a path, ready for JSON.

    Parameters
    ----------
    model : KModes
        The fitted model.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data that it was fitted on; of a Dask collection a sample.
    y : array-like of shape (n_samples,), default=None
        Classes of the rows, to compare the clusters with.
    image_shape : tuple of int, default=None
        (height, width) or (height, width, 3), where rows are images.
    feature_names : sequence of str, default=None
        Names of the features; by default those that the model was fitted with.
    title : str, default=None
        The heading.
    notes : sequence of str, default=()
        Sentences to tell the reader.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that the model was fitted with.
    sample_scale : array-like of shape (n_samples,), default=None
        Local scales that the model was fitted with.

    Returns
    -------
    dict
        Numbers, text, lists and dicts; `None` stands for an infinite bandwidth.
    """
    if not isinstance(notes, Iterable):
        raise ValueError(f"notes must be a list of sentences, got {notes!r}.")
    told = [notes] if isinstance(notes, str) else [str(note) for note in notes]
    sample = None
    if is_dask(X):
        sample = sample_rows(model, X)
        model, X, y = sample.model, sample.X, sample.at(y)
        feature_names = sample.names if feature_names is None else feature_names
        sample_weight, sample_scale = sample.at(sample_weight), sample.at(sample_scale)
    data = check_data(
        model,
        X,
        y,
        image_shape=image_shape,
        feature_names=feature_names,
        sample_weight=sample_weight,
        sample_scale=sample_scale,
    )
    path, n_dropped = _thinned(model.path_, data)
    labels = labels_along(data.X, path)
    if n_dropped:
        told.append(f"{n_dropped} bandwidths of the path are left out to keep this page small.")
    shown = sample_by_cluster(labels[-1], data.n_clusters)
    n_rows = data.n_rows if sample is None else sample.n_rows
    summary = {
        "title": str(title or f"{data.n_clusters} modes of {n_rows:,} rows"),
        "notes": told,
        "model": _model(model),
        "n_rows": data.n_rows,
        "is_sample": False,  # of the rows of a Dask collection
        "n_features": data.n_features,
        "n_clusters": data.n_clusters,
        "feature_names": data.feature_names,
        "class_names": data.class_names,
        "image_shape": data.image_shape,
        "steps": _steps(path, labels),
        **_patterns(data, path, labels),
        "map": _map(data, path, shown),
        "line": _line(data, path, labels, model) if data.n_features == 1 else None,
        "labels": _labels(labels, shown, of_all=sample is None or sample.is_all),
        "redundant": _redundant(model),
    }
    return summary if sample is None else sample.told_of_all(summary, labels)


class Data(NamedTuple):
    """A model's data, checked."""

    X: Any
    classes: Labels | None  # code of each row's class
    class_names: list[str] | None
    feature_names: list[str] | None
    image_shape: list[int] | None
    n_clusters: int
    weight: Doubles | None
    scale: Doubles | None

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return int(self.X.shape[1])

    @property
    def pattern(self) -> str:
        """Return how a centroid is best shown."""
        if self.image_shape is not None:
            return "image"
        if is_sparse(self.X) or self.n_features > MOST_FEATURES:
            return "terms"
        return "profile" if self.n_features > 2 else "values"

    def dense(self, rows: Indices) -> Doubles:
        """Return some rows as a dense array."""
        chosen = self.X[rows]
        return np.asarray(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float64)


def check_data(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    image_shape: Sequence[int] | None = None,
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    sample_scale: Any = None,
) -> Data:
    """Check what a user wants to be shown, against the model."""
    path_of(model)
    fitted = Fitted.of(model, X, feature_names=feature_names)
    X = fitted.X
    class_names = classes = None
    if y is not None:
        values, classes = np.unique(check_classes(y, X.shape[0]), return_inverse=True)
        class_names = [str(value) for value in values]
    names, shape = fitted.feature_names, check_image_shape(image_shape, X.shape[1])
    return Data(
        X,
        classes,
        class_names,
        None if names is None else list(names),
        None if shape is None else list(shape),
        len(fitted.centers),
        check_weights(sample_weight, X),
        check_scales(sample_scale, X, adaptive=fitted_with(model, "adaptive")),
    )


def _model(model: Any) -> dict[str, Any]:
    rule = fitted_with(model, "bandwidth")
    return {
        "class": type(model).__name__,
        "kernel": fitted_with(model, "kernel"),
        "adaptive": bool(fitted_with(model, "adaptive")),
        "bandwidth": _number(model.bandwidth_),
        "bandwidth_rule": rule if isinstance(rule, str) else None,
        "objective": float(model.objective_),
        "n_iter": int(model.n_iter_),
    }


def _thinned(path: Path, data: Data) -> tuple[Path, int]:
    """Return the path with few enough bandwidths, its ends among them, and how many are gone."""
    n_steps = len(path)
    length = 2 * N_CENTER_TERMS if data.pattern == "terms" else data.n_features
    if data.n_features == 1:
        length += N_PLACES + MOST_BINS
    most = max(2, MOST_CENTER_NUMBERS // (data.n_clusters * length))
    if n_steps <= most:
        return path, 0
    kept = np.unique(np.linspace(0, n_steps - 1, most).round().astype(int))
    thin = Path(
        path.bandwidths[kept],
        path.centers[kept],
        path.objectives[kept],
        path.inertias[kept],
        path.counts[kept],
        path.n_iter[kept],
        None if path.labels is None else path.labels[kept],
        path.feature_names,
    )
    return thin, n_steps - len(kept)


def _steps(path: Path, labels: Labels) -> list[dict[str, Any]]:
    return [
        {
            "bandwidth": _number(point.bandwidth),
            "objective": point.objective,
            "inertia": _number(point.inertia),
            "n_iter": point.n_iter,
            "counts": point.counts.tolist(),
            "moved": _numbers(lengths(point.centers.astype(np.float64) - path.centers[0])),
            "changed": int(np.count_nonzero(labels[i] != labels[max(i - 1, 0)])),
        }
        for i, point in enumerate(path)
    ]


def _patterns(data: Data, path: Path, labels: Labels) -> dict[str, Any]:
    """Return the centroids at each bandwidth and the rows of their clusters nearest to them."""
    spread, found = [], []
    for own, point in zip(labels, path, strict=True):
        distances = own_distances(data.X, own, point.centers)
        spread.append(_means_by(distances, own, data.n_clusters))
        present = labels_of_weight(own, data.weight)
        found.append(nearest_by(distances, present, data.n_clusters, N_EXEMPLARS))
    nearest, rows = _few_enough(np.stack(found), data)
    by_terms = data.pattern == "terms"
    low, high = column_limits(data.X)
    reach = high / 2 - low / 2
    patterns: dict[str, Any] = {
        "pattern": data.pattern,
        "centers": _terms(path.centers, N_CENTER_TERMS) if by_terms else path.centers.tolist(),
        "feature_ranges": _ranges(low, high) if data.pattern == "profile" else None,
        "spread": spread,
        "exemplars": [[[r for r in own if r >= 0] for own in step] for step in nearest.tolist()],
        "exemplar_rows": rows.tolist(),
        "exemplar_values": [
            pattern
            for first in range(0, len(rows), 256)
            for values in [data.dense(rows[first : first + 256])]
            for pattern in (_terms(values, N_TERMS) if by_terms else _rounded(values, reach))
        ],
    }
    if data.classes is not None and data.class_names is not None:
        patterns["exemplar_classes"] = data.classes[rows].tolist()
        patterns["commonest"] = [_commonest(own, data.classes, data.n_clusters) for own in labels]
    return patterns


def _few_enough(nearest: Indices, data: Data) -> tuple[Indices, Indices]:
    """Return as many exemplars a cluster as a page can hold, and which rows they are."""
    length = 2 * N_TERMS if data.pattern == "terms" else data.n_features
    while True:
        rows = np.unique(nearest[nearest >= 0])
        if len(rows) * length <= MOST_EXEMPLAR_NUMBERS or nearest.shape[2] == 1:
            return nearest, rows
        nearest = nearest[:, :, : nearest.shape[2] // 2]


def _terms(values: Any, n_terms: int) -> Any:
    """Return [feature, value] of the greatest features of each centroid or row, greatest first."""
    values = np.asarray(values)
    if values.ndim > 2:
        return [_terms(part, n_terms) for part in values]
    top = np.argsort(-values, axis=1, kind="stable")[:, :n_terms]
    return [
        [[int(d), float(row[d])] for d in features if row[d] != 0]
        for row, features in zip(values, top, strict=True)
    ]


def _rounded(values: Doubles, reach: Doubles) -> list[list[float]]:
    """Return numbers to a 100,000th of what each column reaches, which is enough to look at."""
    with np.errstate(divide="ignore"):
        decimals = 5 - np.floor(np.log10(reach))
    digits = [
        int(d) if np.isfinite(d) else None for d in np.broadcast_to(decimals, values.shape[1])
    ]
    return [
        [value if d is None else round(value, d) for value, d in zip(row, digits, strict=True)]
        for row in values.tolist()
    ]


def _ranges(low: Doubles, high: Doubles) -> list[list[float]] | None:
    """Return the limits of each feature, or None where one scale suits them all."""
    widths = (high / 2 - low / 2)[high > low]
    if len(widths) == 0 or widths.max() <= UNLIKE * np.median(widths):
        return None
    ranges: list[list[float]] = np.stack([low, high], axis=1).tolist()
    return ranges


def _means_by(values: Doubles, labels: Labels, n_clusters: int) -> list[float | None]:
    counts = np.bincount(labels, minlength=n_clusters)
    sums = np.bincount(labels, weights=values, minlength=n_clusters)
    return [_number(s / n) if n else None for s, n in zip(sums, counts, strict=True)]


def _commonest(labels: Labels, classes: Labels, n_clusters: int) -> list[list[int] | None]:
    """Return the commonest class of each cluster and how many rows have it; None without rows."""
    found: list[list[int] | None] = []
    for k in range(n_clusters):
        counts = np.bincount(classes[labels == k])
        found.append([int(counts.argmax()), int(counts.max())] if len(counts) else None)
    return found


def _map(data: Data, path: Path, shown: Indices) -> dict[str, Any]:
    projection = Projection.of(data.X, data.feature_names)
    places = projection.forward(data.X[shown])
    return {
        "axes": list(projection.axis_labels),
        "rows": shown.tolist(),
        "places": [axis for [axis] in (_rounded(a[None], np.ptp(a)) for a in places.T)],
        "centers": [projection.forward(centers).tolist() for centers in path.centers],
        "classes": None if data.classes is None else data.classes[shown].tolist(),
    }


def _line(data: Data, path: Path, labels: Labels, model: Any) -> dict[str, Any]:
    """Return histograms and densities of one feature, by cluster and bandwidth.

    Where the chart is coarser than a bandwidth, its step takes the place of the bandwidth.
    """
    values = data.dense(np.arange(data.n_rows))[:, 0]
    low, high = limits(values, path.centers[-1])
    bounds = edges(values, low, high)
    grid = np.linspace(bounds[0], bounds[-1], N_PLACES)
    scale = data.scale if data.scale is not None else scales_of(model, data.X, data.weight)
    ground = Ground.of(values[:, None], fitted_with(model, "kernel"), data.weight, scale)
    width, finest = bounds[1] - bounds[0], grid[1] - grid[0]
    heights = [
        None
        if np.isinf(bandwidth)
        else width * ground.weights_along(grid, own, data.n_clusters, max(bandwidth, finest))
        for own, bandwidth in zip(labels, path.bandwidths, strict=True)
    ]
    counts = [
        [
            np.histogram(values[own == k], bounds, weights=ground.weight[own == k])[0].tolist()
            for k in range(data.n_clusters)
        ]
        for own in labels
    ]
    return {
        "edges": bounds.tolist(),
        "outside": int(np.count_nonzero((values < bounds[0]) | (values > bounds[-1]))),
        "weighted": data.weight is not None,
        "counts": counts,
        "grid": grid.tolist(),
        "densities": [None if h is None else _rounded(h, h.max()) for h in heights],
    }


def _labels(labels: Labels, shown: Indices, *, of_all: bool) -> dict[str, Any]:
    """Return labels at the first bandwidth, and at each later one the rows that changed.

    `rows` says which rows have labels here: null is all of them.
    """
    rows = None
    if labels.shape[1] > MOST_LABELLED or not of_all:
        rows, labels = shown.tolist(), labels[:, shown]
    changes = []
    for before, after in pairwise(labels):
        changed = np.flatnonzero(before != after)
        changes.append([changed.tolist(), after[changed].tolist()])
    return {"rows": rows, "first": labels[0].tolist(), "changes": changes}


def _redundant(model: Any) -> dict[str, Any]:
    ratios = model.redundancy_
    pairs = redundant_pairs(ratios, REDUNDANT)
    return {
        "threshold": REDUNDANT,
        "pairs": [{"clusters": [i, j], "ratio": float(ratios[i, j])} for i, j in pairs],
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(values: Doubles) -> list[float | None]:
    return [_number(value) for value in values]
