"""The clustering that a report shows, and the rows that it clustered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

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
from modeclust.reporting.columns import as_frame
from modeclust.reporting.sample import RowSample, sample_rows
from modeclust.reporting.typical import Weights, kernel_weights

ASK_FOR_X = "if data is not what was clustered, pass that as X."


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


def split_pipeline(clustering: Any, data: Any, X: Any) -> tuple[Any, Any]:
    """Return the clustering at the end of a pipeline, and what its other steps make of the data.

    Anything else than a pipeline is returned as it is.
    """
    if not isinstance(clustering, Pipeline):
        return clustering, X
    if X is not None:
        raise ValueError("X must be None for a pipeline, which computes it from data.")
    check_is_fitted(clustering)
    if len(clustering.steps) == 1:
        return clustering[-1], None
    return clustering[-1], clustering[:-1].transform(data)


def find_features(model: Any, data: Any) -> Any:
    """Return the columns of a frame that a model was fitted on, if it knows their names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or is_dask(data) or (frame := as_frame(data)) is None:
        return data
    wanted = [str(name) for name in names]
    if not set(wanted) <= set(frame.columns) or wanted == frame.columns:
        return data
    return frame.select(wanted).to_native()


def open_source(
    clustering: Any, data: Any, X: Any, sample_weight: Any = None, sample_scale: Any = None
) -> Source:
    """Check a clustering and the rows that it clustered, and return both.

    Without `X`, `data` are these rows.
    """
    is_model = hasattr(clustering, "get_params")
    if is_model:
        check_is_fitted(clustering)
        _check_is_ours(clustering)
    rows = X
    if X is None:
        rows = find_features(clustering, data) if is_model else data
    read = _read_model if is_model else _read_labels
    try:
        return read(clustering, rows, sample_weight, sample_scale)
    except ValueError as error:
        if X is None and str(error).startswith("X "):
            raise ValueError(f"{error} {ASK_FOR_X.capitalize()}") from error
        raise


def _check_is_ours(model: Any) -> None:
    if not (hasattr(model, "labels_") and hasattr(model, "_fitted_with")):
        raise ValueError(
            "clustering must be a fitted KModes, LaplacianKModes or MeanShift, a pipeline that "
            f"ends in one, or labels, got a {type(model).__name__}; pass its labels_ for any other."
        )


def _read_model(model: Any, X: Any, sample_weight: Any, sample_scale: Any) -> Source:
    sample, whole, given = None, model, X
    if is_dask(X):
        sample = sample_rows(model, X)
        model, X = sample.model, sample.X
        sample_weight, sample_scale = sample.take(sample_weight), sample.take(sample_scale)
    if sample_scale is not None and not hasattr(model, "adaptive"):
        raise ValueError(f"sample_scale must be None: {type(model).__name__} has no local scales.")
    clustering = Clustering.of(model, X)
    X = clustering.X
    weight = check_weights(sample_weight, X)
    scale = check_scales(sample_scale, X, adaptive=fit_parameter(model, "adaptive"))
    if scale is None:
        scale = adaptive_scales(model, X, weight)
    n_unknown = 0
    if hasattr(model, "path_"):
        known = known_steps(model, model.path_)
        n_unknown = len(model.path_) - len(known)
        path = model.path_._take(known)
        labels = labels_along(model, X, path)
    else:
        path = _one_point(clustering.centers, model.bandwidth_, model.labels_)
        labels = np.asarray(model.labels_)[None]
    n_clusters = len(clustering.centers)
    return Source(
        model,
        given,
        X,
        path,
        labels,
        weight,
        scale,
        fit_parameter(model, "kernel"),
        list(range(n_clusters)),
        np.bincount(np.asarray(whole.labels_), minlength=n_clusters).tolist(),
        len(whole.labels_),
        sample,
        n_unknown,
    )


def _read_labels(labels: Any, X: Any, sample_weight: Any, sample_scale: Any) -> Source:
    if is_dask(X):
        raise ValueError(
            "X must be in memory for labels, got a Dask collection; pass X.compute(), or a KModes "
            "that was fitted on it."
        )
    rows = check_rows(X)
    codes, names = check_labels(labels, rows.shape[0])
    found = cluster_modes(
        rows, labels, sample_weight=sample_weight, sample_scale=sample_scale, random_state=0
    )
    # Noise, and clusters without weight, have no mode.
    numbers = {name: number for number, name in enumerate(found.labels.tolist())}
    position = np.array([numbers.get(name, -1) for name in names.tolist()])
    codes = np.where(codes < 0, -1, position[codes])
    path = _one_point(found.modes, found.bandwidths, codes, found.rows_averaged)
    return Source(
        None,
        X,
        rows if is_sparse(rows) else np.asarray(rows),
        path,
        codes[None],
        check_weights(sample_weight, rows),
        check_scales(sample_scale, rows),
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


def describe_method(source: Source) -> dict[str, Any]:
    """Return how the clustering was made: a class, and terms with their values in words."""
    model = source.model
    if model is None:
        details = [["labels", "given, from any algorithm"], ["bandwidth", "own for each cluster"]]
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


def check_one_for_each_row(values: Sequence[Any], n_rows: int, name: str) -> list[Any]:
    """Return a sequence as a list, or raise an error if it does not have one value for each row."""
    found = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(found) != n_rows:
        raise ValueError(
            f"{name} must have one value for each of the {n_rows:,} rows, got {len(found):,}."
        )
    return found
