"""What `fit` and `explore` do: read the data, prepare it, cluster it and describe the clusters."""

import csv
import math
import warnings
from collections import Counter
from contextlib import nullcontext
from copy import copy
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from modeclust.cli.model import Model, make_model
from modeclust.cli.options import BUILT_IN, FitOptions, Method, check_name
from modeclust.cli.printing import FitProgress, tell, use_option_names
from modeclust.cli.readers.columns import FrameColumns, iterate_blocks
from modeclust.cli.readers.csv_files import CsvFormat
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import Table, read_table
from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.data.dask.chunks import map_rows
from modeclust.data.reading import is_dask, is_sparse, working_dtype
from modeclust.datasets import load_dataset
from modeclust.exceptions import UnsureClusterCountWarning
from modeclust.plotting.exemplars import lengths
from modeclust.preparation.hints import compare_scales
from modeclust.preparation.kinds import KINDS
from modeclust.preparation.table import IF_WRONG, TablePreparation
from modeclust.preparation.table import OTHERWISE as KINDS_ADVICE
from modeclust.solvers.redundancy import SIGNIFICANT, Redundant, redundant_pairs

OTHERWISE = (
    "to do otherwise: --exclude NAMES, --columns NAMES, --kinds NAME=KIND; --raw takes columns as "
    "they are"
)


class Fit(NamedTuple):
    """A fitted model and the data that it was fitted on."""

    model: Model
    table: Table
    # What was done to the columns, if anything: a TablePreparation or a StandardScaler.
    preparation: Any
    warnings: list[str]
    # Most common class of each cluster and its share of the rows, if there is a label column.
    common_classes: "list[tuple[str | None, float | None]] | None"
    original: Any  # the features in the units of the data; None if a frame was prepared

    def to_original(self, centers: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """Return modes as columns in the units of the data; text is left out."""
        if isinstance(self.preparation, TablePreparation):
            table: dict[str, npt.NDArray[Any]]
            table = self.preparation.inverse_transform(centers, "dict")
            return table
        if self.preparation is not None:
            centers = self.preparation.inverse_transform(centers)
        return dict(zip(self.table.columns, centers.T, strict=True))


def fit_data(options: FitOptions, *, show_progress: bool) -> Fit:
    """Read the data and cluster it."""
    model, image_shape = make_model(options), parse_image(options.image)
    kinds = parse_kinds(options.kinds)
    as_frame = not options.raw and image_shape is None
    reading = ReadOptions(
        parse_columns(options.columns),
        options.label_column,
        options.weight_column,
        options.id_column,
        exclude=parse_columns(options.exclude, "--exclude") or (),
        stream=options.stream,
        can_stream=options.method == Method.kmodes,
        csv_format=CsvFormat(options.header, options.separator, options.decimal_comma, as_frame),
        as_frame=as_frame,
    )
    table = read_data(options.data, reading)
    if image_shape is not None:
        table = table._replace(image_shape=image_shape)
    if (shape := table.image_shape) is not None and math.prod(shape) != len(table.columns):
        raise ValueError(
            f"--image {shape[0]}x{shape[1]} needs {math.prod(shape)} columns, got "
            f"{len(table.columns)}."
        )
    original = table.X
    table, preparation = prepare(table, kinds, standardize=options.standardize)
    with warnings.catch_warnings(record=True) as caught, _limit_dask_threads(options.jobs):
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", UnsureClusterCountWarning)  # the results say so
        if show_progress and hasattr(model, "set_callbacks"):  # from scikit-learn 1.9 on
            with FitProgress() as progress:
                model.set_callbacks(progress).fit(table.X, sample_weight=table.weight)
            model.set_callbacks()
        else:
            model.fit(table.X, sample_weight=table.weight)
        if options.checkpoint is not None:
            model.keep_checkpoint = False
        model.labels_ = np.asarray(model.labels_)
        classes = None if table.labels is None else most_common_classes(model, table.labels)
    messages = dict.fromkeys(use_option_names(str(warning.message)) for warning in caught)
    return Fit(model, table, preparation, list(messages), classes, original)


def prepare(
    table: Table, kinds: dict[str, str] | None = None, *, standardize: bool = False
) -> tuple[Table, Any]:
    """Return the table with rows to cluster, and what was done to them, which is told."""
    if table.X is None:
        return prepare_frame(table, kinds, "standard" if standardize else "auto")
    if kinds:
        raise ValueError(
            "--kinds applies only to tables that are prepared, got rows of numbers (an array, "
            "--raw, --image or --stream); remove the option."
        )
    if not standardize:
        hint = None if table.image_shape else compare_scales(table.columns, table.X)
        return (_noted(table, [f"{hint}; consider --standardize"]) if hint else table), None
    scaler = fit_scaling(table.X, table.weight)
    if scaler is None:
        return table, None  # which the fit refuses
    table = table._replace(X=scale_rows(table.X, scaler))
    if table.is_named:
        scaler.feature_names_in_ = np.array(table.columns, dtype=object)
    return table, scaler


def scale_rows(X: Any, scaler: StandardScaler) -> Any:
    """Return scaled rows, which are a Dask array if `X` is one."""
    scaler = copy(scaler)
    vars(scaler).pop("feature_names_in_", None)  # the rows have no names
    if not is_dask(X):
        return scaler.transform(X)
    return map_rows(X, scaler.transform, working_dtype(X.dtype), X.shape[1])


def prepare_frame(
    table: Table,
    kinds: dict[str, str] | None = None,
    scale: str = "auto",
    *,
    otherwise: str = OTHERWISE,
) -> tuple[Table, Any]:
    """Prepare the columns of a frame; `otherwise` names the options that do otherwise."""
    preparation = TablePreparation(kinds, scale=scale)
    frame = table.frame.select(table.columns)
    try:
        X = preparation.fit(frame, sample_weight=table.weight).transform(frame)
    except ValueError as error:
        message = str(error).replace(KINDS_ADVICE, otherwise)
        if message.startswith("X "):
            message = f"{table.title!r}{message[1:]}"
        raise ValueError(message) from None
    if preparation.is_identity:
        return table._replace(X=X), None
    commas = "--decimal-comma or --no-decimal-comma overrules it in text files"
    lines = [line.replace(IF_WRONG, commas) for line in (*preparation.describe(), otherwise)]
    table = table._replace(X=X, columns=preparation.get_feature_names_out().tolist())
    return _noted(table, lines), preparation


def _noted(table: Table, lines: list[str]) -> Table:
    for line in lines:
        tell("note", line)
    return table._replace(notices=(*table.notices, *lines))


def fit_scaling(X: Any, weight: Any) -> StandardScaler | None:
    """Return the scaling to zero mean and unit variance, or None if all weights are 0.

    Constant columns are not scaled.
    """
    scaler = StandardScaler(with_mean=not is_sparse(X))
    for rows, row_weight in iterate_blocks(X, weight):
        if row_weight is None or row_weight.any():
            # Rounding can make the variance of a constant column negative; it is not scaled.
            with np.errstate(invalid="ignore"):
                scaler.partial_fit(rows, sample_weight=row_weight)
    return scaler if hasattr(scaler, "scale_") else None


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
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:  # a line break
        names = []
    if not names:
        raise ValueError(f"{option} must name at least one column, got {text!r}.")
    return names


def parse_kinds(text: str | None) -> dict[str, str] | None:
    """Return the kinds of columns, by name, in a list such as store=category,note=text."""
    if text is None:
        return None
    pairs = [item.rpartition("=") for item in parse_columns(text, "--kinds") or ()]
    if wrong := [kind for name, _, kind in pairs if not name or kind not in KINDS]:
        raise ValueError(
            f"--kinds must have items NAME=KIND, with a KIND of {', '.join(KINDS)}, got "
            f"{wrong[0]!r} in {text!r}."
        )
    return {name.strip(): kind for name, _, kind in pairs}


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
        "standardized": isinstance(fit.preparation, StandardScaler),
        "preparation": describe_preparation(fit.preparation),
        "clusters": clusters,
        "redundant": None if redundant is None else [list(pair) for pair in redundant.pairs],
        "too_wide_for_redundancy": redundant is not None and redundant.is_too_wide,
        "notices": list(table.notices),
        "warnings": fit.warnings,
    }


def describe_preparation(preparation: Any) -> list[dict[str, Any]] | None:
    """Return what was done to each column of a table; None if it was not prepared."""
    if not isinstance(preparation, TablePreparation):
        return None
    return [
        {
            "column": column.name,
            "kind": column.kind,
            "left_out": getattr(column, "reason", None),
            "missing": getattr(column, "missing", None),
            "features": len(column.features),
        }
        for column in preparation.columns_
    ]


def find_ids(preparation: Any, frame: Any) -> dict[str, Any]:
    """Return the columns of a frame that were left out as ids, by name.

    Columns with missing values are omitted, since they do not tell the rows apart.
    """
    if frame is None or not isinstance(preparation, TablePreparation):
        return {}
    columns = FrameColumns(frame)
    names = [name for name in preparation.ids_ if name in columns.names]
    return {name: columns.column(name) for name in names if not frame[name].null_count()}


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
    if not hasattr(model, "dip_significance_") or np.isinf(model.bandwidth_):
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
