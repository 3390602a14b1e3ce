"""What `fit` and `explore` do: read data, scale it, cluster it, describe the clusters."""

import csv
import math
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from modeclust.cli.columns import in_blocks
from modeclust.cli.formats import AS_SEEN, TextFormat
from modeclust.cli.options import BUILT_IN, Job, check_name
from modeclust.cli.printing import Progress, in_options, tell
from modeclust.cli.tables import (
    Table,
    check_distinct,
    check_present,
    chosen_columns,
    read_table,
)
from modeclust.data.reading import is_sparse
from modeclust.datasets import load_dataset
from modeclust.estimators.kmodes import KModes
from modeclust.estimators.scaling import Scaling
from modeclust.plotting.exemplars import lengths
from modeclust.solvers.bandwidth import RULES, parse_rule

NUMBERS_LOOKED_AT = 2**20
MOST_UNEVEN = 100


class Fit(NamedTuple):
    """A fitted model, and the data as the model saw it."""

    model: KModes
    table: Table
    scaling: Scaling | None
    warnings: list[str]
    # The commonest class of each cluster and its share of the rows, where there are classes.
    commonest: "list[tuple[str | None, float | None]] | None"

    def to_original(self, centers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return centroids in the units of the data."""
        return centers if self.scaling is None else self.scaling.inverse_transform(centers)


def run(job: Job, *, show_progress: bool) -> Fit:
    """Read the data of a job and cluster it."""
    bandwidth, image_shape = parse_bandwidth(job.bandwidth), parse_image(job.image)
    columns, exclude = parse_columns(job.columns), parse_columns(job.exclude, "--exclude")
    table = read_data(
        job.data,
        columns,
        job.label_column,
        job.weight_column,
        job.id_column,
        exclude=exclude or (),
        stream=job.stream,
        text=TextFormat(job.header, job.separator, job.decimal_comma),
    )
    if image_shape is not None:
        table = table._replace(image_shape=image_shape)
    _check_image(table)
    if not job.standardize and (hint := uneven_scales(table)):
        tell("note", hint)
        table = table._replace(notices=(*table.notices, hint))
    scaling = scaling_of(table.X, table.weight) if job.standardize else None
    if scaling is not None:
        table = table._replace(X=scaling.transform(table.X))
    model = KModes(
        job.n_clusters,
        bandwidth=bandwidth,
        kernel=str(job.kernel),
        adaptive=job.adaptive,
        n_bandwidths=job.n_bandwidths,
        n_init=job.n_init,
        random_state=job.seed,
        n_jobs=job.jobs,
        checkpoint=job.checkpoint,
    )
    with warnings.catch_warnings(record=True) as caught, threads(job.jobs):
        warnings.simplefilter("always", UserWarning)
        if show_progress:
            with Progress() as progress:
                model.set_callbacks(progress).fit(table.X, sample_weight=table.weight)
            model.set_callbacks()
        else:
            model.fit(table.X, sample_weight=table.weight)
        model.labels_ = np.asarray(model.labels_)
        classes = None if table.labels is None else commonest(model, table.labels)
    told = dict.fromkeys(in_options(str(warning.message)) for warning in caught)
    return Fit(model, table, scaling, list(told), classes)


def scaling_of(X: Any, weight: Any) -> Scaling:
    """Return the scaling that suits rows; constant columns keep their scale."""
    scaler = StandardScaler(with_mean=not is_sparse(X))
    for rows, own in in_blocks(X, weight):
        if own is None or own.any():
            scaler.partial_fit(rows, sample_weight=own)
    if not hasattr(scaler, "scale_"):  # as `fit` would say of them
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return Scaling(None if is_sparse(X) else scaler.mean_, scaler.scale_)


def uneven_scales(table: Table) -> str | None:
    """Return a hint where a column varies far more than others, by the first rows; None elsewhere.

    A few columns that hardly vary are none: pixels at the edge of images are so. Nor are sparse
    rows, such as counts of words, of which most are rare.
    """
    if is_sparse(table.X) or table.image_shape is not None:
        return None
    rows = table.X[: max(2, NUMBERS_LOOKED_AT // len(table.columns))]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.asarray(rows).astype(np.float64).std(axis=0)
    varying = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if len(varying) < 2:
        return None
    order = varying[np.argsort(spread[varying])]
    low, high = order[(len(order) - 1) // 4], order[-1]
    if spread[high] <= MOST_UNEVEN * spread[low]:
        return None
    return (
        f"columns differ in scale: {table.columns[high]!r} varies "
        f"{spread[high] / spread[low]:,.0f} times as much as {table.columns[low]!r} and counts for "
        "more; --standardize scales them alike"
    )


def parse_bandwidth(text: str) -> float | str:
    """Return a bandwidth or the name of a rule."""
    with suppress(ValueError):
        parse_rule(text)
        return text
    try:
        bandwidth = float(text)
    except ValueError:
        bandwidth = math.nan
    if not bandwidth > 0:
        raise ValueError(
            f"--bandwidth must be a number > 0, inf, one of {', '.join(RULES)}, or a part of one "
            f"such as knn/3, got {text!r}."
        )
    return bandwidth


def parse_image(text: str | None) -> tuple[int, int] | None:
    """Return height and width."""
    if text is None:
        return None
    sides = text.lower().split("x")
    if len(sides) != 2 or not all(side.isdecimal() and int(side) > 0 for side in sides):
        raise ValueError(f"--image must be HEIGHTxWIDTH, e.g. 28x28, got {text!r}.")
    return int(sides[0]), int(sides[1])


def parse_columns(text: str | None, option: str = "--columns") -> list[str] | None:
    """Return the names in a comma separated list; a name with a comma is in quotes."""
    if text is None:
        return None
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names:
        raise ValueError(f"{option} must name at least one column, got {text!r}.")
    return names


def read_data(
    data: str,
    columns: Sequence[str] | None = None,
    label_column: str | None = None,
    weight_column: str | None = None,
    id_column: str | None = None,
    *,
    exclude: Sequence[str] = (),
    stream: bool | None = None,
    text: TextFormat = AS_SEEN,
) -> Table:
    """Return the data of a name: a file, or built-in data."""
    if data not in BUILT_IN:
        check_name(data)
        return read_table(
            data,
            columns,
            label_column,
            weight_column,
            id_column,
            exclude=exclude,
            stream=stream,
            text=text,
            note=partial(tell, "note"),
        )
    if text.options:
        raise ValueError(f"Built-in data such as {data!r} is no text; leave out {text.options[0]}.")
    if stream:
        raise ValueError(f"Built-in data such as {data!r} is in memory; leave out --stream.")
    if not label_column is weight_column is id_column is None:
        raise ValueError(
            f"Built-in data such as {data!r} has no columns of labels, weights or ids."
        )
    found = load_dataset(data)
    table = Table(
        found.X,
        found.feature_names,
        found.y,
        image_shape=found.image_shape,
        title=found.title,
        is_named=False,  # as `load_dataset` gives it in Python
    )
    check_distinct(columns or (), exclude=exclude)
    check_present([*(columns or ()), *exclude], table.columns, data)
    columns = chosen_columns(columns, table.columns, exclude, data)
    if columns == table.columns:
        return table
    chosen = [table.columns.index(name) for name in columns]
    return table._replace(X=found.X[:, chosen], columns=columns, image_shape=None)


def _check_image(table: Table) -> None:
    shape, n_features = table.image_shape, len(table.columns)
    if shape is not None and math.prod(shape) != n_features:
        raise ValueError(
            f"--image {shape[0]}x{shape[1]} needs {math.prod(shape)} columns, got {n_features}."
        )


def describe(fit: Fit) -> dict[str, Any]:
    """Return what there is to say of a fit, as JSON knows it."""
    model, table = fit.model, fit.table
    moved = lengths(model.cluster_centers_.astype(np.float64) - model.path_.centers[0])
    clusters: list[dict[str, Any]] = [
        {
            "cluster": k,
            "count": int(model.counts_[k]),
            "exemplar": int(model.exemplar_indices_[k]),
            "moved": float(moved[k]),
        }
        for k in range(len(moved))
    ]
    if fit.commonest is not None:
        for cluster, (name, share) in zip(clusters, fit.commonest, strict=True):
            cluster.update({"class": name, "share": share})
    is_kmeans = math.isinf(model.bandwidth_)
    return {
        "data": table.title,
        "n_rows": int(table.X.shape[0]),
        "n_features": int(table.X.shape[1]),
        "n_clusters": len(clusters),
        "kernel": model.kernel,
        "bandwidth": None if is_kmeans else model.bandwidth_,
        "rule": model.bandwidth if isinstance(model.bandwidth, str) else None,
        "objective": model.objective_,
        "inertia": model.inertia_,
        "n_iter": model.n_iter_,
        "standardized": fit.scaling is not None,
        "clusters": clusters,
        "redundant": [] if is_kmeans else [list(pair) for pair in model.redundant_clusters()],
        "notices": list(table.notices),
        "warnings": fit.warnings,
    }


def commonest(model: KModes, classes: Any) -> list[tuple[str | None, float | None]]:
    """Return the commonest class of each cluster and its share of the rows."""
    counts: list[Counter[Any]] = [Counter() for _ in model.counts_]
    first = 0
    for (own,) in in_blocks(classes):
        labels = model.labels_[first : first + len(own)]
        for k, counter in enumerate(counts):
            counter.update(own[labels == k].tolist())
        first += len(own)
    tops = [(counter.most_common(1), counter.total()) for counter in counts]
    return [(str(top[0][0]), top[0][1] / total) if top else (None, None) for top, total in tops]


def threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Return what lets Dask, where it is used, work with as many threads as asked for."""
    if n_jobs is None or n_jobs < 1 or find_spec("dask") is None:
        return nullcontext()
    import dask

    limited: AbstractContextManager[Any] = dask.config.set(num_workers=n_jobs)
    return limited
