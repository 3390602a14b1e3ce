"""The summary of a fitted model: everything that a report shows, as numbers and text."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modeclust.data.reading import Doubles, is_dask
from modeclust.path import Path
from modeclust.plotting.clustering import (
    comparable_objectives,
    fit_parameter,
    has_own_bandwidths,
    is_soft,
    known_steps,
    labelled_step,
    labels_along,
)
from modeclust.plotting.density import MAX_BINS
from modeclust.plotting.exemplars import Indices, Labels, lengths, sample_by_cluster
from modeclust.reporting.charts import N_DENSITY_POINTS, summarize_histogram, summarize_map
from modeclust.reporting.data import ReportData, sample_rows
from modeclust.reporting.patterns import N_MODE_TERMS, finite_or_none, summarize_patterns
from modeclust.solvers.redundancy import SIGNIFICANT, redundant_pairs

# With more numbers than this in the modes along the path, some bandwidths are left out.
MAX_CENTER_NUMBERS = 1_000_000
# With more rows than this, the summary has the labels of the rows on the map only.
MAX_LABELLED_ROWS = 200_000


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
    """Return everything that the report of a model shows, ready for JSON.

    The parameters are those of the method `report`. The summary is made of numbers, strings, lists
    and dicts; an infinite bandwidth is None.
    """
    if not isinstance(notes, Iterable):
        raise ValueError(f"notes must be a list of sentences, got {notes!r}.")
    all_notes = [notes] if isinstance(notes, str) else [str(note) for note in notes]
    sample = None
    if is_dask(X):
        sample = sample_rows(model, X)
        model, X, y = sample.model, sample.X, sample.take(y)
        feature_names = sample.feature_names if feature_names is None else feature_names
        sample_weight, sample_scale = sample.take(sample_weight), sample.take(sample_scale)
    data = ReportData.of(
        model,
        X,
        y,
        image_shape=image_shape,
        feature_names=feature_names,
        sample_weight=sample_weight,
        sample_scale=sample_scale,
    )
    suggestion = getattr(model, "cluster_suggestion_", None)
    if suggestion is not None:
        answer = f"{suggestion.answer[0].upper()}{suggestion.answer[1:]}"
        all_notes.append(f"The number of clusters was chosen from the data. {answer}.")
    known = known_steps(model, model.path_)
    path, n_omitted = _limit_bandwidths(model.path_._take(known), data)
    labels = labels_along(model, data.X, path)
    if len(known) < len(model.path_):
        all_notes.append(
            "Labels along the path were not stored, so only the last steps are shown; fit with "
            "store_labels=True to see all."
        )
    if n_omitted:
        all_notes.append(f"{n_omitted} bandwidths of the path are omitted to keep this page small.")
    shown = sample_by_cluster(labels[-1], data.n_clusters)
    n_rows = data.n_rows if sample is None else sample.n_rows
    summary = {
        "title": str(title or f"{data.n_clusters} modes of {n_rows:,} rows"),
        "notes": all_notes,
        "model": _model(model),
        "n_rows": data.n_rows,
        "is_sample": False,  # whether the rows are a sample of a Dask collection
        "n_features": data.n_features,
        "n_clusters": data.n_clusters,
        "feature_names": data.feature_names,
        "class_names": data.class_names,
        "image_shape": data.image_shape,
        "steps": _steps(path, labels, comparable_objectives(model, path)),
        **summarize_patterns(data, path, labels),
        "map": summarize_map(data, path, shown),
        "histogram": summarize_histogram(data, path, labels, model),
        "labels": _labels(labels, shown, are_all=sample is None or sample.is_all),
        "redundant": _redundant(model),
    }
    return summary if sample is None else sample.extend_to_all_rows(summary, labels)


def _model(model: Any) -> dict[str, Any]:
    rule = fit_parameter(model, "bandwidth")
    return {
        "class": type(model).__name__,
        "kernel": fit_parameter(model, "kernel"),
        "adaptive": bool(fit_parameter(model, "adaptive")),
        "bandwidth": finite_or_none(model.bandwidth_),
        "bandwidth_rule": rule if isinstance(rule, str) else None,
        "start": model.path_.start,
        # Whether rows have shares in clusters; if not, labels are those of the nearest centers.
        "is_soft": is_soft(model),
        "smoothing": getattr(model, "smoothing_", None),
        "objective": float(model.objective_),
        "n_iter": int(model.n_iter_),
    }


def _limit_bandwidths(path: Path, data: ReportData) -> tuple[Path, int]:
    """Return the path with few enough bandwidths for a page, and how many were omitted.

    The first and the last bandwidth are kept, and the one at which labels are frozen.
    """
    n_steps = len(path)
    n_numbers = 2 * N_MODE_TERMS if data.pattern == "terms" else data.n_features
    if data.n_features == 1:
        n_numbers += N_DENSITY_POINTS + MAX_BINS
    ends = np.array([0, labelled_step(path.stage), n_steps - 1])
    max_steps = max(len(np.unique(ends)), MAX_CENTER_NUMBERS // (data.n_clusters * n_numbers))
    if n_steps <= max_steps:
        return path, 0
    kept = np.linspace(0, n_steps - 1, max_steps).round().astype(int)
    if ends[1] not in kept:
        inner = kept[1:-1]
        inner[np.argmin(np.abs(inner - ends[1]))] = ends[1]
    return path._take(kept), n_steps - len(kept)


def _steps(path: Path, labels: Labels, objectives: Doubles) -> list[dict[str, Any]]:
    start, own = path.centers[0], has_own_bandwidths(path)
    return [
        {
            "stage": point.stage,
            "bandwidth": finite_or_none(point.bandwidth),
            # If each cluster has a bandwidth of its own, `bandwidth` is their median.
            "own_bandwidths": bool(own[i]),
            "rows_averaged": None if point.rows_averaged is None else point.rows_averaged.tolist(),
            "objective": finite_or_none(objectives[i]),
            "inertia": finite_or_none(point.inertia),
            "n_iter": point.n_iter,
            "counts": point.counts.tolist(),
            "moved": [
                finite_or_none(distance)
                for distance in lengths(point.centers.astype(np.float64) - start)
            ],
            "n_changed": int(np.count_nonzero(labels[i] != labels[max(i - 1, 0)])),
        }
        for i, point in enumerate(path)
    ]


def _labels(labels: Labels, shown: Indices, *, are_all: bool) -> dict[str, Any]:
    """Return the labels at the first bandwidth, and the changes at each later one.

    `rows` lists the rows that have labels here; None means all rows.
    """
    rows = None
    if labels.shape[1] > MAX_LABELLED_ROWS or not are_all:
        rows, labels = shown.tolist(), labels[:, shown]
    changes = []
    for before, after in pairwise(labels):
        changed = np.flatnonzero(before != after)
        changes.append([changed.tolist(), after[changed].tolist()])
    return {"rows": rows, "first": labels[0].tolist(), "changes": changes}


def _redundant(model: Any) -> dict[str, Any] | None:
    """Return the redundant pairs of clusters; None if the model cannot tell which ones are."""
    if not hasattr(model, "redundancy_"):
        return None
    ratios = model.redundancy_
    pairs, is_too_wide = redundant_pairs(model.dip_significance_, SIGNIFICANT)
    if is_too_wide:
        return None
    shares = [float(ratios[i, j]) for i, j in pairs]
    return {
        "threshold": min(shares, default=1.0),  # no dip between redundant clusters is deeper
        "pairs": [
            {"clusters": [i, j], "ratio": share}
            for (i, j), share in zip(pairs, shares, strict=True)
        ],
    }
