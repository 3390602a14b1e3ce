"""What `fit` and `explore` do: read the data, scale it, cluster it and describe the clusters."""

import csv
import math
import warnings
from collections import Counter
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from modeclust.cli.model import Model, make_model
from modeclust.cli.options import BUILT_IN, FitOptions, Method, check_name
from modeclust.cli.printing import FitProgress, tell, use_option_names
from modeclust.cli.readers.columns import iterate_blocks
from modeclust.cli.readers.csv_files import CsvFormat
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import Table, read_table
from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.data.reading import is_sparse
from modeclust.datasets import load_dataset
from modeclust.estimators.scaling import Scaling
from modeclust.exceptions import UnsureClusterCountWarning
from modeclust.plotting.exemplars import lengths
from modeclust.solvers.redundancy import SIGNIFICANT, Redundant, redundant_pairs

MAX_VALUES_TO_COMPARE = 2**20
MAX_SCALE_RATIO = 100


class Fit(NamedTuple):
    """A fitted model and the data that it was fitted on."""

    model: Model
    table: Table
    scaling: Scaling | None
    warnings: list[str]
    # Most common class of each cluster and its share of the rows, if there is a label column.
    common_classes: "list[tuple[str | None, float | None]] | None"
    original: Any  # the features in the units of the data

    def to_original(self, centers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return modes in the units of the data."""
        return centers if self.scaling is None else self.scaling.inverse_transform(centers)


def fit_data(options: FitOptions, *, show_progress: bool) -> Fit:
    """Read the data and cluster it."""
    model, image_shape = make_model(options), parse_image(options.image)
    reading = ReadOptions(
        parse_columns(options.columns),
        options.label_column,
        options.weight_column,
        options.id_column,
        exclude=parse_columns(options.exclude, "--exclude") or (),
        stream=options.stream,
        can_stream=options.method == Method.kmodes,
        csv_format=CsvFormat(options.header, options.separator, options.decimal_comma),
    )
    table = read_data(options.data, reading)
    if image_shape is not None:
        table = table._replace(image_shape=image_shape)
    if (shape := table.image_shape) is not None and math.prod(shape) != len(table.columns):
        raise ValueError(
            f"--image {shape[0]}x{shape[1]} needs {math.prod(shape)} columns, got "
            f"{len(table.columns)}."
        )
    if not options.standardize and (hint := compare_scales(table)):
        tell("note", hint)
        table = table._replace(notices=(*table.notices, hint))
    scaling = fit_scaling(table.X, table.weight) if options.standardize else None
    original = table.X
    if scaling is not None:
        table = table._replace(X=scaling.transform(table.X))
    with warnings.catch_warnings(record=True) as caught, _limit_dask_threads(options.jobs):
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", UnsureClusterCountWarning)  # the results say so
        if show_progress and hasattr(model, "set_callbacks"):  # from scikit-learn 1.9 on
            with FitProgress() as progress:
                model.set_callbacks(progress).fit(table.X, sample_weight=table.weight)
            model.set_callbacks()
        else:
            model.fit(table.X, sample_weight=table.weight)
        model.labels_ = np.asarray(model.labels_)
        classes = None if table.labels is None else most_common_classes(model, table.labels)
    messages = dict.fromkeys(use_option_names(str(warning.message)) for warning in caught)
    return Fit(model, table, scaling, list(messages), classes, original)


def fit_scaling(X: Any, weight: Any) -> Scaling:
    """Return the scaling to zero mean and unit variance; constant columns are not scaled."""
    scaler = StandardScaler(with_mean=not is_sparse(X))
    for rows, row_weight in iterate_blocks(X, weight):
        if row_weight is None or row_weight.any():
            scaler.partial_fit(rows, sample_weight=row_weight)
    if not hasattr(scaler, "scale_"):  # the same message as `KModes.fit`
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return Scaling(None if is_sparse(X) else scaler.mean_, scaler.scale_)


def compare_scales(table: Table) -> str | None:
    """Return a hint if one column varies far more than the others, judged by the first rows.

    The lower quartile of the standard deviations is compared with the highest, because a few
    columns may vary little, such as pixels at the edge of images. Sparse rows, such as word
    counts, are not compared.
    """
    if is_sparse(table.X) or table.image_shape is not None:
        return None
    rows = table.X[: max(2, MAX_VALUES_TO_COMPARE // len(table.columns))]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.asarray(rows).astype(np.float64).std(axis=0)
    varying = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if len(varying) < 2:
        return None
    order = varying[np.argsort(spread[varying])]
    low, high = order[(len(order) - 1) // 4], order[-1]
    if spread[high] <= MAX_SCALE_RATIO * spread[low]:
        return None
    return (
        f"columns differ in scale: {table.columns[high]!r} varies "
        f"{spread[high] / spread[low]:,.0f} times as much as {table.columns[low]!r} and dominates "
        "the distances; consider --standardize"
    )


def parse_image(text: str | None) -> tuple[int, int] | None:
    """Return height and width."""
    if text is None:
        return None
    sides = text.lower().split("x")
    if len(sides) != 2 or not all(side.isdecimal() and int(side) > 0 for side in sides):
        raise ValueError(f"--image must be HEIGHTxWIDTH, e.g. 28x28, got {text!r}.")
    return int(sides[0]), int(sides[1])


def parse_columns(text: str | None, option: str = "--columns") -> list[str] | None:
    """Return the names in a comma-separated list. Names that contain a comma are quoted."""
    if text is None:
        return None
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names:
        raise ValueError(f"{option} must name at least one column, got {text!r}.")
    return names


def read_data(data: str, options: ReadOptions) -> Table:
    """Read a data file, or load a built-in dataset."""
    if data not in BUILT_IN:
        check_name(data)
        return read_table(data, options, note=partial(tell, "note"))
    misplaced = [f"{option} applies only to text files" for option in options.csv_format.options]
    if options.stream:
        misplaced.append("--stream applies only to files")
    if misplaced:
        raise ValueError(f"{misplaced[0]}, got the built-in dataset {data!r}; remove the option.")
    if options.others:
        raise ValueError(
            f"The built-in dataset {data!r} has no columns of labels, weights or ids; remove "
            "--label-column, --weight-column and --id-column."
        )
    X, y, names, image_shape, title = load_dataset(data)
    columns = options.choose_features(names, names, data)
    if columns != names:
        X, image_shape = X[:, [names.index(name) for name in columns]], None
    # The data are arrays, whose columns have no names.
    return Table(X, columns, y, image_shape=image_shape, title=title, is_named=False)


def describe_fit(fit: Fit) -> dict[str, Any]:
    """Return the results of a fit as values that JSON can hold."""
    model, table = fit.model, fit.table
    moved = lengths(model.modes_.astype(np.float64) - model.path_.centers[0])
    clusters: list[dict[str, Any]] = [
        {
            "cluster": k,
            "count": int(model.counts_[k]),
            "exemplar": int(model.exemplar_indices_[k]),
            "rows_averaged": float(model.rows_averaged_[k]),
            "mode_bandwidth": float(model.mode_bandwidths_[k]),
            "moved": float(moved[k]),
        }
        for k in range(len(moved))
    ]
    if fit.common_classes is not None:
        for cluster, (name, share) in zip(clusters, fit.common_classes, strict=True):
            cluster.update({"class": name, "share": share})
    is_kmeans = math.isinf(model.bandwidth_)
    redundant = find_redundant(model)
    return {
        "data": table.title,
        "n_rows": int(table.X.shape[0]),
        "n_features": int(table.X.shape[1]),
        "n_clusters": len(clusters),
        "class": type(model).__name__,
        "suggestion": describe_suggestion(model.cluster_suggestion_),
        "kernel": model.kernel,
        "metric": model.metric,
        "bandwidth": None if is_kmeans else model.bandwidth_,
        "rule": model.bandwidth if isinstance(model.bandwidth, str) else None,
        "smoothing": getattr(model, "smoothing_", None),
        "start": model.path_.start,
        "objective": model.objective_,
        "inertia": model.inertia_,
        "n_iter": model.n_iter_,
        "standardized": fit.scaling is not None,
        "clusters": clusters,
        "redundant": None if redundant is None else [list(pair) for pair in redundant.pairs],
        "too_wide_for_redundancy": redundant is not None and redundant.is_too_wide,
        "notices": list(table.notices),
        "warnings": fit.warnings,
    }


def describe_suggestion(suggestion: ClusterSuggestion | None) -> dict[str, Any] | None:
    """Return what `-k auto` has found; None if the number of clusters was given."""
    if suggestion is None:
        return None
    return {
        "is_sure": suggestion.is_sure,
        "by_peaks": suggestion.n_by_peaks,
        "by_dips": suggestion.n_by_dips,
        "by_shape": suggestion.n_by_shape,
        "answer": suggestion.answer,
    }


def find_redundant(model: Model) -> Redundant | None:
    """Return the redundant pairs of clusters; None if the model does not compare clusters."""
    if not hasattr(model, "dip_significance_"):
        return None
    return redundant_pairs(model.dip_significance_, SIGNIFICANT)


def most_common_classes(model: Model, classes: Any) -> list[tuple[str | None, float | None]]:
    """Return the most common class of each cluster and its share of the rows."""
    counters: list[Counter[Any]] = [Counter() for _ in model.counts_]
    start = 0
    for (block,) in iterate_blocks(classes):
        labels = model.labels_[start : start + len(block)]
        for k, counter in enumerate(counters):
            counter.update(block[labels == k].tolist())
        start += len(block)
    tops = [(counter.most_common(1), counter.total()) for counter in counters]
    return [(str(top[0][0]), top[0][1] / total) if top else (None, None) for top, total in tops]


def _limit_dask_threads(n_jobs: int | None) -> Any:
    """Return a context in which Dask, if it is installed, uses at most `n_jobs` threads."""
    if n_jobs is None or n_jobs < 1 or find_spec("dask") is None:
        return nullcontext()
    import dask

    return dask.config.set(num_workers=n_jobs)
