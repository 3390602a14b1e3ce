"""The summary of a clustering: everything that a report shows, as numbers and text."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modeclust.data.reading import is_dask, is_sparse
from modeclust.plotting.clustering import check_classes, count_rows
from modeclust.plotting.exemplars import sample_by_cluster
from modeclust.reporting.cards import ColumnSummary, Parts, describe_strings, make_cards
from modeclust.reporting.charts import (
    summarize_heat,
    summarize_histogram,
    summarize_map,
    summarize_outliers,
)
from modeclust.reporting.columns import as_frame, number_column
from modeclust.reporting.data import (
    Clustered,
    Source,
    check_clustering,
    describe_method,
    open_source,
)
from modeclust.reporting.given import open_given
from modeclust.reporting.glossary import GLOSSARY
from modeclust.reporting.images import summarize_images
from modeclust.reporting.rows import Rows, read_rows
from modeclust.reporting.steps import limit_steps, step_columns, summarize_steps
from modeclust.reporting.terms import contrasting_features, largest, words_of_texts
from modeclust.reporting.typical import Weights
from modeclust.reporting.wording import finite_or_none, percent
from modeclust.solvers.redundancy import SIGNIFICANT, redundant_pairs

MAX_WIDE_COLUMNS = 200
# With more rows than this, the summary has the labels of the rows on the map only.
MAX_LABELLED_ROWS = 200_000


def summarize(
    clustering: Any,
    data: Any,
    *,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    row_names: Any = None,
    texts: Any = None,
    image_shape: Sequence[int] | None = None,
    stability: int = 0,
    feature_names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    sample_weight: Any = None,
    sample_scale: Any = None,
    preparation: Any = None,
) -> dict[str, Any]:
    """Return everything that a report shows, ready for JSON: numbers, text, lists and dicts.

    The parameters are those of `modeclust.report`, and the `preparation` that has made `X` of the
    data, if it is known. What is infinite or undefined is None.
    """
    if not isinstance(notes, Iterable):
        raise ValueError(f"notes must be a list of sentences, got {notes!r}.")
    all_notes = [notes] if isinstance(notes, str) else [str(note) for note in notes]
    clustering, X, preparation = open_given(clustering, data, X, sample_weight, preparation)
    clustered = check_clustering(clustering, data, X, sample_weight, sample_scale)
    _check_stability(stability, clustered.model)
    rows = read_rows(
        data,
        clustered,
        preparation,
        row_names=row_names,
        texts=texts,
        image_shape=image_shape,
        feature_names=feature_names,
    )
    class_names, classes = _classes(y, clustered)
    source = open_source(clustered)
    all_notes += [
        f"Column {name!r} has the labels of the clusters and is left out."
        for name in rows.label_columns
    ]
    all_notes += _notes(source)
    source, n_omitted = limit_steps(source, rows)
    if n_omitted:
        all_notes.append(f"{n_omitted} steps of the path are omitted to keep this page small.")
    parts = _parts(source, rows)
    cards = make_cards(parts, classes, class_names)
    images = summarize_images(source, rows, cards)
    for card in cards:
        for item in card["examples"]:
            item.pop("own_row", None)
    redundant = _redundant(clustered.clustering, cards)
    if stability:
        _add_stability(clustered, cards, stability, sample_weight, sample_scale)
    labels = source.labels[-1].astype(np.intp)
    own = np.where(labels < 0, source.n_clusters, labels)
    shown = sample_by_cluster(own, source.n_clusters + 1)
    chart = summarize_map(source, shown, _axis_names(source, feature_names))
    chart["classes"] = None if classes is None else classes[shown].tolist()
    columns = step_columns(source, parts.summaries)
    n_noise = source.n_rows - sum(source.counts)
    strings = [column for column in rows.columns if not column.is_summarized]
    return {
        "title": str(title or _count_clusters(source)),
        "facts": _facts(source, rows, n_noise),
        "notes": all_notes,
        "noun": "rows",
        "is_text": _is_text(rows, parts.terms),
        "n_rows": source.n_rows,
        "n_clusters": source.n_clusters,
        "n_noise": n_noise,
        "is_sample": source.sample is not None and not source.sample.is_all,
        "method": describe_method(source, preparation),
        "columns": [
            *(summary.to_json() for summary in parts.summaries),
            *map(describe_strings, strings),
        ],
        "cards": cards,
        "heat": summarize_heat(parts.summaries, source.n_clusters),
        "step_columns": columns,
        "steps": summarize_steps(source, parts.summaries, columns) if source.has_path else None,
        "start": source.path.start if source.has_path else None,
        "labels": _labels(source, rows, shown),
        "map": chart,
        "images": images,
        "histogram": summarize_histogram(source),
        "outliers": summarize_outliers(source, rows),
        "redundant": redundant,
        "suggestion": _suggestion(source),
        "class_names": class_names,
        "glossary": dict(GLOSSARY),
    }


def _check_stability(stability: Any, model: Any) -> None:
    if not isinstance(stability, int | np.integer) or isinstance(stability, bool) or stability < 0:
        raise ValueError(f"stability must be a number of resamples >= 0, got {stability!r}.")
    if stability and not hasattr(model, "stability"):
        what = "labels" if model is None else type(model).__name__
        raise ValueError(f"stability must be 0 for {what}, which cannot be fitted to resamples.")


def _classes(y: Any, clustered: Clustered) -> tuple[list[str] | None, Any]:
    if y is None:
        return None, None
    if clustered.sample is not None:
        y = clustered.sample.take(y)
    values, classes = np.unique(check_classes(y, clustered.n_rows), return_inverse=True)
    return [str(value) for value in values], classes


def _notes(source: Source) -> list[str]:
    notes = []
    suggestion = getattr(source.model, "cluster_suggestion_", None)
    if suggestion is not None:
        told = _suggestion_in_words(suggestion)
        notes.append(f"The number of clusters was chosen from the data. {told}")
    if source.n_unknown:
        notes.append(
            "Labels along the path were not stored, so only the last steps are shown; fit with "
            "store_labels=True to see all."
        )
    if source.sample is not None and not source.sample.is_all:
        notes.append(source.sample.note)
    return notes


def _count_clusters(source: Source, *, of_rows: bool = True) -> str:
    n = source.n_clusters
    clusters = f"{n:,} cluster{'' if n == 1 else 's'}"
    return f"{clusters} of {count_rows(source.n_rows)}" if of_rows else clusters


def _facts(source: Source, rows: Rows, n_noise: int) -> list[str]:
    what, clusters = count_rows(source.n_rows), _count_clusters(source, of_rows=False)
    if n_noise:
        what += f": {source.n_rows - n_noise:,} in {clusters}, {n_noise:,} in none (noise)"
    else:
        what += f" in {clusters}"
    how = "" if source.model is None else f", found by {type(source.model).__name__}"
    n_used = sum(column.clustered is True for column in rows.columns)
    if n_used and n_used < rows.n_columns:
        how += f" on {n_used} of {rows.n_columns} columns"
    facts = [f"{what}{how}."]
    averaged = source.path.rows_averaged
    if averaged is not None and (averaged[-1] > 0).any():
        middle = float(np.median(averaged[-1][averaged[-1] > 0]))
        facts.append(
            "The typical row of a cluster is its mode: the average of about "
            f"{count_rows(middle)} where its rows are densest."
        )
    return facts


def _parts(source: Source, rows: Rows) -> Parts:
    """Return the summaries of the columns, and the terms."""
    weights = source.weights(-1)
    own, terms = source.labels[-1], [[] for _ in range(source.n_clusters)]  # type: Any, Any
    named_by_terms = False
    if rows.texts is not None:
        terms = words_of_texts(list(rows.texts.values), own, source.n_clusters, source.weight)
        # Columns that were clustered on say more about a cluster than its texts do.
        is_known = any(column.clustered for column in rows.summarized)
        named_by_terms = any(terms) and not is_known
    elif rows.wide is not None and rows.image_shape is None:
        scores = contrasting_features(rows.wide, weights, source.weight)
        if rows.has_names or is_sparse(rows.wide):
            terms, named_by_terms = largest(scores, rows.wide_names), True
            rows.columns += _wide_columns(rows, scores)
    everything = np.ones(len(own)) if source.weight is None else source.weight
    members = Weights.of(own, everything, source.n_clusters)
    summaries = [
        ColumnSummary(column, weights, members, source.weight) for column in rows.summarized
    ]
    return Parts(source, rows, weights, summaries, terms, named_by_terms)


def _is_text(rows: Rows, terms: Any) -> bool:
    """Return whether the rows are texts, and not a table that has texts too."""
    is_table = rows.wide is None and bool(rows.summarized)
    return rows.texts is not None and any(terms) and not is_table


def _wide_columns(rows: Rows, scores: Any) -> list[Any]:
    """Return the features that tell clusters apart as columns."""
    best = np.argsort(-scores.max(axis=0), kind="stable")[:MAX_WIDE_COLUMNS]
    chosen = rows.wide[:, best]
    values = np.asarray(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float64)
    columns = [
        number_column(rows.wide_names[d], own) for d, own in zip(best, values.T, strict=True)
    ]
    return [column for column in columns if not column.is_constant]


def _axis_names(source: Source, names: Any) -> list[str]:
    n_features = source.X.shape[1]
    known = getattr(source.model, "feature_names_in_", None)
    if known is None and names is not None and len(names) == n_features:
        known = names
    if known is None and not is_dask(source.given):
        frame = as_frame(source.given)
        known = None if frame is None else frame.columns
    return [f"feature {d}" for d in range(n_features)] if known is None else list(map(str, known))


def _labels(source: Source, rows: Rows, shown: Any) -> dict[str, Any]:
    """Return the labels at the first point of the path, and the changes at each later one.

    `rows` lists the rows that have labels here, and `names` their names; None means all rows, and
    no names.
    """
    is_all = source.labels.shape[1] == source.n_rows <= MAX_LABELLED_ROWS
    kept = np.arange(source.n_rows) if is_all else shown
    labels, changes = source.labels[:, kept], []
    for before, after in pairwise(labels):
        changed = np.flatnonzero(before != after)
        changes.append([changed.tolist(), after[changed].tolist()])
    return {
        "rows": None if is_all else [source.number(row) for row in kept.tolist()],
        "names": None if rows.names is None else [rows.names[row] for row in kept.tolist()],
        "first": labels[0].tolist(),
        "changes": changes,
    }


def _redundant(model: Any, cards: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the redundant pairs of clusters; None if the model does not compare clusters.

    The model is that of all rows, not of a sample: what a dip means depends on their number.
    """
    if not hasattr(model, "redundancy_") or np.isinf(model.bandwidth_):
        return None
    pairs, is_too_wide = redundant_pairs(model.dip_significance_, SIGNIFICANT)
    found = []
    for i, j in pairs:
        cards[i]["redundant_with"].append(j)
        cards[j]["redundant_with"].append(i)
        ratio = float(model.redundancy_[i, j])
        text = f"the density between them falls to {percent(ratio)} of the lower peak"
        depth = float(model.dip_significance_[i, j])
        found.append({"clusters": [i, j], "ratio": ratio, "depth": depth, "text": text})
    if is_too_wide:
        sentence = (
            f"The bandwidth {model.bandwidth_:.4g} is too wide to tell which clusters are "
            "redundant: between most of them, the density has no dip. It does not mean that there "
            "are too many clusters. To compare them, fit with a smaller bandwidth, such as 'knn/3'."
        )
    else:
        sentence = (
            "Two clusters are redundant if the dip in the density between them is no deeper than "
            f"chance: less than {SIGNIFICANT:g} standard deviations, at the bandwidth "
            f"{model.bandwidth_:.4g}."
        )
    return {"sentence": sentence, "is_too_wide": is_too_wide, "pairs": found}


def _add_stability(
    clustered: Clustered,
    cards: list[dict[str, Any]],
    n_resamples: int,
    sample_weight: Any,
    sample_scale: Any,
) -> None:
    found = clustered.clustering.stability(
        clustered.given,
        n_resamples=n_resamples,
        sample_weight=sample_weight,
        sample_scale=sample_scale,
    )
    for card, jaccard, shift in zip(cards, found.jaccard, found.mode_shift, strict=True):
        card["stability"] = {
            "jaccard": finite_or_none(jaccard),
            "mode_shift": finite_or_none(shift),
        }


def _suggestion_in_words(found: Any) -> str:
    if found.is_sure:
        return f"{found.answer}, and both tests agree."
    return f"{found.answer[0].upper()}{found.answer[1:]}."


def _suggestion(source: Source) -> dict[str, Any] | None:
    found = getattr(source.model, "cluster_suggestion_", None)
    if found is None:
        return None
    return {
        "n_clusters": found.n_clusters,
        "is_sure": found.is_sure,
        "sentence": _suggestion_in_words(found),
        "n_by_peaks": found.n_by_peaks,
        "n_by_dips": found.n_by_dips,
        "n_by_shape": found.n_by_shape,
        "answered_by": found.answered_by,
        "peak_heights": [finite_or_none(height) for height in found.peak_heights],
        "peak_threshold": finite_or_none(found.peak_threshold),
        "dimension": finite_or_none(found.dimension),
        "dip_counts": found.dip_counts.tolist(),
        "dips": [finite_or_none(dip) for dip in found.dips],
        "dip_threshold": finite_or_none(found.dip_threshold),
    }
