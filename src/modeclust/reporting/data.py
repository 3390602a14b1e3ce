"""The clustering that a report shows, and the rows that it clustered."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from modeclust.data.reading import Doubles, is_dask, is_sparse
from modeclust.data.validation import check_rows, check_scales, check_weights
from modeclust.estimators.cluster_modes import check_labels, cluster_modes
from modeclust.path import Path
from modeclust.plotting.clustering import (
    Clustering,
    adaptive_scales,
    fit_parameter,
    is_soft,
    known_steps,
    labels_along,
)
from modeclust.plotting.exemplars import Labels, own_distances
from modeclust.preparation.table import TablePreparation
from modeclust.reporting.columns import as_frame
from modeclust.reporting.given import ASK_FOR_X
from modeclust.reporting.sample import RowSample, sample_rows
from modeclust.reporting.typical import Weights, kernel_weights


@dataclass(frozen=True)
class Source:
    """A clustering with its rows: all of them, or a sample of a Dask collection."""

    model: Any  # None if labels were given
    given: Any  # the rows that were clustered, as the user has them
    X: Any  # of length 1 with the metric "cosine"
    path: Path  # one point, if the model has no path
    labels: Labels  # (S, N), -1 for noise
    weight: Doubles | None
    scale: Doubles | None
    kernel: str
    names: list[Any]  # the label of each cluster, as the user has it
    counts: list[int]  # rows of each cluster, among all rows
    n_rows: int  # among all rows
    sample: RowSample | None = None
    n_unknown: int = 0  # points of the path that are left out because their labels are not stored

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.names)

    @property
    def has_path(self) -> bool:
        """Whether the clustering has a path."""
        return hasattr(self.model, "path_")

    @property
    def modes(self) -> Doubles:
        """The modes, of shape (n_clusters, n_features)."""
        return np.asarray(self.path.centers[-1], dtype=np.float64)

    def number(self, row: int) -> int:
        """Return the number of a row among all rows."""
        return int(row if self.sample is None else self.sample.indices[row])

    def distances(self, step: int) -> Doubles:
        """Return the distance of each row to the mode of its cluster at a point of the path."""
        return own_distances(self.X, np.maximum(self.labels[step], 0), self.path.centers[step])

    def weights(self, step: int) -> Weights:
        """Return the weights of the rows in the modes at a point of the path."""
        values = kernel_weights(
            self.kernel,
            self.distances(step),
            self.labels[step],
            self.path.cluster_bandwidths[step],
            self.weight,
            self.scale,
        )
        return Weights.of(self.labels[step], values, self.n_clusters)

    def with_steps(self, steps: Any) -> "Source":
        """Return the source at some points of its path."""
        changed: dict[str, Any] = {
            **vars(self),
            "path": self.path._take(steps),
            "labels": self.labels[steps],
        }
        return Source(**changed)


def find_features(model: Any, data: Any) -> Any:
    """Return the columns of a frame that a model was fitted on, if it knows their names.

    For a model that was fitted without names, the numbers of the frame are returned as an array.
    """
    if is_dask(data) or (frame := as_frame(data)) is None:
        return data
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        strings = [n for n, t in frame.schema.items() if t in (nw.String, nw.Categorical, nw.Enum)]
        if strings:
            raise ValueError(
                f"X must be given: the model was fitted on an array of numbers, and column "
                f"{strings[0]!r} of data has text. Pass what was clustered as X to "
                "modeclust.report, or pass it the fitted pipeline instead of the model."
            )
        is_numeric = all(dtype.is_numeric() for dtype in frame.schema.dtypes())
        return frame.to_numpy() if is_numeric else data
    wanted = [str(name) for name in names]
    if not set(wanted) <= set(frame.columns) or wanted == frame.columns:
        return data
    return frame.select(wanted).to_native()


@dataclass(frozen=True)
class Clustered:
    """A clustering and the rows that it clustered, as they were given, checked."""

    clustering: Any  # an estimator, or the labels
    given: Any  # the rows as the user has them
    X: Any  # of length 1 with the metric "cosine"
    weight: Doubles | None
    scale: Doubles | None
    sample: RowSample | None = None

    @property
    def model(self) -> Any:
        """The estimator; for a Dask collection, one with the labels of the sample."""
        if self.sample is not None:
            return self.sample.model
        return self.clustering if hasattr(self.clustering, "get_params") else None

    @property
    def n_rows(self) -> int:
        """Number of rows; for a Dask collection, of the sample."""
        return int(self.X.shape[0])

    @property
    def n_all(self) -> int:
        """Number of all rows."""
        return self.n_rows if self.sample is None else self.sample.n_rows

    def take(self, values: Any, name: str) -> list[Any]:
        """Return one value for each row, from one for each of all rows."""
        if self.sample is not None and hasattr(values, "dask"):
            taken: list[Any] = self.sample.take(values).tolist()
            return taken
        if not hasattr(values, "__iter__"):
            raise ValueError(
                f"{name} must be a column of data or one value for each row, got {values!r}."
            )
        found = values.tolist() if hasattr(values, "tolist") else list(values)
        if len(found) != self.n_all:
            raise ValueError(
                f"{name} must have one value for each of the {self.n_all:,} rows, got "
                f"{len(found):,}."
            )
        return found if self.sample is None else [found[row] for row in self.sample.indices]


def check_clustering(
    clustering: Any, data: Any, X: Any, sample_weight: Any = None, sample_scale: Any = None
) -> Clustered:
    """Check a clustering and the rows that it clustered; without `X`, these are `data`."""
    is_model = hasattr(clustering, "get_params")
    rows = X
    if X is None:
        rows = find_features(clustering, data) if is_model else data
        if isinstance(rows, list | tuple) and any(isinstance(row, str) for row in rows):
            raise ValueError("X must be given if data are texts: pass what was clustered as X.")
    check = _check_model if is_model else _check_labels
    try:
        return check(clustering, rows, sample_weight, sample_scale)
    except ValueError as error:
        if X is None and str(error).startswith("X "):
            raise ValueError(f"{error} {ASK_FOR_X}") from error
        raise


def _check_model(clustering: Any, given: Any, weight: Any, scale: Any) -> Clustered:
    sample, model, X = None, clustering, given
    if is_dask(X):
        sample = sample_rows(clustering, X)
        model, X = sample.model, sample.X
        weight, scale = sample.take(weight), sample.take(scale)
    if scale is not None and not hasattr(model, "adaptive"):
        raise ValueError(f"sample_scale must be None: {type(model).__name__} has no local scales.")
    found = Clustering.of(model, X)
    weights = check_weights(weight, found.X)
    scales = check_scales(scale, found.X, adaptive=fit_parameter(model, "adaptive"))
    return Clustered(clustering, given, found.X, weights, scales, sample)


def _check_labels(labels: Any, X: Any, weight: Any, scale: Any) -> Clustered:
    if is_dask(X):
        raise ValueError(
            "X must be in memory for labels, got a Dask collection; pass X.compute(), or a KModes "
            "that was fitted on it."
        )
    rows = check_rows(X)
    check_labels(labels, rows.shape[0])
    rows = rows if is_sparse(rows) else np.asarray(rows)
    return Clustered(labels, X, rows, check_weights(weight, rows), check_scales(scale, rows))


def open_source(clustered: Clustered) -> Source:
    """Return the path, the labels along it and the modes of a clustering."""
    return _open_labels(clustered) if clustered.model is None else _open_model(clustered)


def _open_model(clustered: Clustered) -> Source:
    model, X, whole = clustered.model, clustered.X, clustered.clustering
    scale = clustered.scale
    if scale is None:
        scale = adaptive_scales(model, X, clustered.weight)
    n_unknown = 0
    if hasattr(model, "path_"):
        known = known_steps(model, model.path_)
        n_unknown = len(model.path_) - len(known)
        path = model.path_._take(known)
        labels = labels_along(model, X, path)
    else:
        labels = np.asarray(model.labels_)[None]
        path = _one_point(model.cluster_centers_, model.bandwidth_, labels[0])
    n_clusters = path.centers.shape[1]
    return Source(
        model,
        clustered.given,
        X,
        path,
        labels,
        clustered.weight,
        scale,
        fit_parameter(model, "kernel"),
        list(range(n_clusters)),
        np.bincount(np.asarray(whole.labels_), minlength=n_clusters).tolist(),
        clustered.n_all,
        clustered.sample,
        n_unknown,
    )


def _open_labels(clustered: Clustered) -> Source:
    rows = clustered.X
    codes, names = check_labels(clustered.clustering, rows.shape[0])
    found = cluster_modes(
        rows,
        clustered.clustering,
        sample_weight=clustered.weight,
        sample_scale=clustered.scale,
    )
    # Noise, and clusters without weight, have no mode.
    numbers = {name: number for number, name in enumerate(found.labels.tolist())}
    position = np.array([numbers.get(name, -1) for name in names.tolist()])
    codes = np.where(codes < 0, -1, position[codes])
    return Source(
        None,
        clustered.given,
        rows,
        _one_point(found.modes, found.bandwidths, codes, found.rows_averaged),
        codes[None],
        clustered.weight,
        clustered.scale,
        "gaussian",
        found.labels.tolist(),
        np.bincount(codes[codes >= 0], minlength=len(found.labels)).tolist(),
        rows.shape[0],
    )


def _one_point(centers: Any, bandwidths: Any, labels: Labels, averaged: Any = None) -> Path:
    """Return modes as a path of one point."""
    n_clusters = len(centers)
    own = np.broadcast_to(np.asarray(bandwidths, dtype=np.float64), n_clusters)
    finite = np.sort(own[np.isfinite(own)])
    return Path(
        np.array([finite[len(finite) // 2] if len(finite) else np.inf]),
        np.asarray(centers, dtype=np.float64)[None],
        np.array([np.nan]),
        np.array([np.nan]),
        np.bincount(labels[labels >= 0], minlength=n_clusters)[None],
        np.array([0]),
        stage=np.array([2]),
        cluster_bandwidths=own[None],
        rows_averaged=None if averaged is None else np.asarray(averaged, dtype=np.float64)[None],
    )


def describe_method(source: Source, preparation: Any = None) -> dict[str, Any]:
    """Return how the clustering was made: a class, and terms with their values in words.

    `preparation` has made the rows of the data, if anything has.
    """
    model = source.model
    if model is None:
        details = [["labels", "given, from any algorithm"], ["bandwidth", "own for each cluster"]]
        if isinstance(preparation, TablePreparation):
            how = "; ".join(preparation.describe())
            details.append(["preparation", f"by TablePreparation: {how}"])
        return {"class": "labels", "details": details}
    details = [["clusters", f"{source.n_clusters:,}"], ["kernel", source.kernel]]
    if (metric := fit_parameter(model, "metric")) is not None:
        details.append(["metric", metric])
    details.append(["bandwidth", _bandwidth_in_words(model)])
    if fit_parameter(model, "adaptive"):
        details.append(["local scale", "one for each row"])
    if source.has_path:
        details.append(["start", model.path_.start])
        details.append(["path", f"{len(model.path_)} steps"])
        details.append(["objective", f"{model.objective_:.6g}"])
    if is_soft(model):
        details.append(["smoothing", f"{model.smoothing_:.4g}"])
    details.append(["iterations", f"{int(model.n_iter_):,}"])
    return {"class": type(model).__name__, "details": details}


def _bandwidth_in_words(model: Any) -> str:
    rule, value = fit_parameter(model, "bandwidth"), model.bandwidth_
    text = "infinite" if np.isinf(value) else f"{value:.4g}"
    return f"{text}, by bandwidth={rule!r}" if isinstance(rule, str) else text
