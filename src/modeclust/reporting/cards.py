"""The cards of a report: what each cluster is, in the words of the user's data."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from modeclust.data.reading import Doubles
from modeclust.plotting.axes import cut
from modeclust.plotting.exemplars import lengths, nearest_by_distance, without_zero_weights
from modeclust.reporting.columns import Column
from modeclust.reporting.data import Source
from modeclust.reporting.rows import Rows
from modeclust.reporting.terms import Terms
from modeclust.reporting.typical import AllRows, Typical, Weights
from modeclust.reporting.wording import (
    N_IN_NAME,
    N_TERMS_IN_NAME,
    SMALLEST_EFFECT,
    ColumnWords,
    describe_cluster,
    finite_or_none,
    isolated,
    name_clusters,
    shorten,
)

N_APART, N_APART_FROM_NEAREST, N_IN_SENTENCE = 5, 3, 3
N_EXAMPLES, FEWEST_EXAMPLES = 5, 3
MAX_EXAMPLE_VALUES = 100_000  # in the examples of all clusters
MAX_TEXT, MAX_OTHER_TEXT = 1_500, 300  # letters of a text
MAX_LEVELS = 8  # categories with a share on a card
# A column is in the name of a cluster only if the whole cluster, and not just the rows around its
# mode, differs by this many spreads, and by this many standard errors.
SMALLEST_EFFECT_OF_MEMBERS, N_ERRORS = 0.1, 3
# A name has a date or a year of the mode only if the whole cluster is so far on the way to it.
NEAR_MODE = 0.5
PRIVATE = ("part", "holds", "is_near")  # what makes names, and is not in the summary


class ColumnSummary:
    """A column: what is usual in it, typical in each cluster, and how far these are apart."""

    def __init__(
        self, column: Column, weights: Weights, members: Weights, weight: Doubles | None
    ) -> None:
        self.column = column
        self.all_rows = AllRows(column, weight)
        self.typical = Typical(column, weights)
        self.words = ColumnWords(column, self.all_rows)
        self.positions = self.all_rows.positions(weights)
        self.effects = self.all_rows.effects(self.positions, self.all_rows.center)
        self._of_members = self.all_rows.positions(members)
        self._limits = np.maximum(SMALLEST_EFFECT_OF_MEMBERS, N_ERRORS * _errors(column, members))

    def apart(self, k: int, other: int | None = None) -> dict[str, Any] | None:
        """Return how a cluster differs from all rows, or from another cluster; None if unknown."""
        position = self.positions[k]
        reference = self.all_rows.center if other is None else self.positions[other]
        if np.isnan(position).any() or np.isnan(reference).any():
            return None
        level = self.all_rows.telling_level(position, reference)
        effect = self.all_rows.effect(position, reference, level)
        whole = self.all_rows.center if other is None else self._of_members[other]
        of_members = self.all_rows.effect(self._of_members[k], whole, level)
        toward_mode = of_members * np.sign(effect)
        has_value = self.column.kind == "date" or self.words.format.is_year  # in its part
        item: dict[str, Any] = {"column": self.column.name}
        category: str | None = None
        if self.column.kind in ("category", "boolean"):
            is_boolean = self.column.kind == "boolean"
            category = "True" if is_boolean else self.column.levels[level]
            item |= {"category": category}
            value, usual = float(position[level]), float(reference[level])
        else:
            values = self.typical.values
            value = self.value(float(values[k]))
            usual = self.value(float(self.all_rows.value if other is None else values[other]))
        has_share = category is not None or self.words.format.is_share
        named = float(self._of_members[k][level]) if has_share else value
        where = "all rows " if other is None else "there "
        return item | {
            "value": value,
            "overall" if other is None else "other": usual,
            "effect": round(effect, 4),
            "text": self.words.compare(value, usual, where, category),
            "part": self.words.adjective(effect, named, category),
            "holds": toward_mode >= self._limits[k],
            "is_near": not has_value or toward_mode >= NEAR_MODE * abs(effect),
        }

    def value(self, value: float) -> Any:
        """Return a value as JSON can hold it; numbers are rounded, to keep the page small."""
        if self.column.kind == "number" and np.isfinite(value):
            return round(value, self.words.format.digits)
        if self.column.kind == "date" and self.words.is_daily:
            return self.column.to_json(math.floor(value) if np.isfinite(value) else value)
        return self.column.to_json(value)

    def to_values(self, typical: Typical) -> list[Any]:
        """Return the typical value of each cluster as JSON can hold it."""
        return [self.value(value) for value in typical.values.tolist()]

    def detail(self, k: int) -> dict[str, Any]:
        """Return the range of a cluster, or its shares, and how much is missing."""
        found: dict[str, Any] = {}
        if self.column.kind in ("number", "date"):
            low, high = (self.value(value) for value in self.typical.ranges[k].tolist())
            found["range"] = None if low is None else [low, high]
        else:
            shares = np.round(self.typical.shares[k], 4)
            names: Sequence[Any] = self.column.levels
            if self.column.kind == "boolean":
                shares, names = np.array([round(1 - shares[0], 4), shares[0]]), (False, True)
            if not np.isnan(shares).any():
                order = [j for j in np.argsort(-shares, kind="stable")[:MAX_LEVELS] if shares[j]]
                found["share"] = float(shares[order[0]])
                found["shares"] = [[names[j], float(shares[j])] for j in order]
        if missing := round(float(np.nan_to_num(self.typical.missing[k])), 4):
            found["missing"] = missing
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what the page must know about the column itself."""
        column, all_rows = self.column, self.all_rows
        found: dict[str, Any] = {
            "name": column.name,
            "kind": column.kind,
            "clustered": column.clustered,
            "missing": int(column.is_missing.sum()),
            "overall": self.value(all_rows.value),
            "range": None,
            "integer": column.is_integer,
            "binary": self.words.format.is_share,
            "year": self.words.format.is_year,
            "decimals": self.words.format.decimals,
            "unit": self.words.format.unit,
        }
        if column.kind in ("number", "date"):
            found["range"] = [self.value(value) for value in all_rows.range.tolist()]
        elif column.kind == "category":
            found["overall_share"] = round(float(all_rows.center.max()), 4)
        else:
            share = float(all_rows.center[0])
            found["overall_share"] = round(max(share, 1 - share), 4)
        return found


def _errors(column: Column, members: Weights) -> Doubles:
    """Return the standard error of each cluster's difference to all rows, in spreads."""
    known = members.labels[~column.is_missing]
    counts = np.bincount(known[known >= 0], minlength=members.n_clusters)
    return np.asarray(np.sqrt(1 / np.maximum(counts, 1) - 1 / max(len(known), 1)))


def describe_strings(column: Column) -> dict[str, Any]:
    """Return what the page must know about a column of texts or ids."""
    return {
        "name": column.name,
        "kind": column.kind,
        "clustered": column.clustered,
        "missing": int(column.is_missing.sum()),
        "overall": None,
        "range": None,
        "integer": False,
        "binary": False,
        "year": False,
        "decimals": 0,
        "unit": 1.0,
    }


class Parts(NamedTuple):
    """What the cards are made of."""

    source: Source
    rows: Rows
    weights: Weights  # in the modes
    summaries: list[ColumnSummary]
    terms: Terms
    named_by_terms: bool


def make_cards(parts: Parts, classes: Any, class_names: list[str] | None) -> list[dict[str, Any]]:
    """Return the card of each cluster."""
    source, rows, summaries = parts.source, parts.rows, parts.summaries
    averaged = _rows_averaged(source, parts.weights)
    bandwidths = source.path.cluster_bandwidths[-1]
    apart = [_most_apart(summaries, k, None, N_APART) for k in range(source.n_clusters)]
    names = _names(parts, apart)
    nearest = _nearest(source, summaries)
    cards = []
    for k, count in enumerate(source.counts):
        share, words = count / source.n_rows, parts.terms[k]
        told = [item["text"] for item in apart[k] if item["holds"]][:N_IN_SENTENCE]
        if parts.named_by_terms and words:
            told = [term for term, _ in words[:N_IN_SENTENCE]]
        cards.append(
            {
                "cluster": k,
                "label": source.names[k],
                "name": names[k],
                "sentence": describe_cluster(share, told if count else ()),
                "rows": count,
                "share": share,
                "rows_averaged": averaged[k],
                "mode_bandwidth": finite_or_none(bandwidths[k]),
                "stability": None,
                "typical": {},
                "detail": {},
                "apart": [_public(item) for item in apart[k]],
                "terms": words if count else [],
                "nearest": nearest[k],
                "classes": None
                if class_names is None
                else _classes(source, classes, k, class_names),
                "redundant_with": [],
            }
        )
    for summary in summaries:
        for k, value in enumerate(summary.to_values(summary.typical)):
            cards[k]["typical"][summary.column.name] = value
            cards[k]["detail"][summary.column.name] = summary.detail(k)
    for card, own in zip(cards, nearest_rows(source, rows), strict=True):
        card["examples"] = [example(source, rows, row, classes, class_names) for row in own]
    return cards


def _most_apart(
    summaries: list[ColumnSummary], k: int, other: int | None, n: int
) -> list[dict[str, Any]]:
    found = [item for summary in summaries if (item := summary.apart(k, other)) is not None]
    return sorted(found, key=lambda item: -abs(item["effect"]))[:n]


def _public(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in PRIVATE}


def _names(parts: Parts, apart: list[list[dict[str, Any]]]) -> list[str]:
    source = parts.source
    fallbacks = [f"Cluster {label}" for label in source.names]
    if any(isinstance(label, str) for label in source.names):  # the user has named them
        return [str(label) for label in source.names]
    if parts.named_by_terms:
        words = [[isolated(shorten(term)) for term, _ in terms] for terms in parts.terms]
        return name_clusters(words, fallbacks, N_TERMS_IN_NAME)
    if not parts.rows.has_names:
        return fallbacks
    told = [
        [
            i["part"]
            for i in own
            if i["holds"] and i["is_near"] and abs(i["effect"]) >= SMALLEST_EFFECT
        ]
        for own in apart
    ]
    return name_clusters(told, fallbacks, N_IN_NAME)


def _rows_averaged(source: Source, weights: Weights) -> list[float | None]:
    known = getattr(source.model, "rows_averaged_", None)
    if known is None:
        known = source.path.rows_averaged[-1] if source.path.rows_averaged is not None else None
    values = weights.rows_averaged(source.weight) if known is None else np.asarray(known)
    return [round(finite_or_none(value) or 0.0, 2) for value in values]


def _nearest(source: Source, summaries: list[ColumnSummary]) -> list[dict[str, Any] | None]:
    """Return the cluster with the nearest mode, and what tells the two apart."""
    found: list[dict[str, Any] | None] = []
    present = np.array(source.counts) > 0
    for k, mode in enumerate(source.modes):
        distances = np.where(present, lengths(source.modes - mode), np.inf)
        distances[k] = np.inf
        j = int(np.argmin(distances))
        if not present[k] or not np.isfinite(distances[j]):
            found.append(None)
            continue
        apart = _most_apart(summaries, k, j, N_APART_FROM_NEAREST)
        found.append(
            {
                "cluster": j,
                "distance": float(distances[j]),
                "apart": [_public(item) for item in apart],
            }
        )
    return found


def _classes(source: Source, classes: Any, k: int, class_names: list[str]) -> list[list[Any]]:
    counts = np.bincount(classes[source.labels[-1] == k], minlength=len(class_names))
    order = [c for c in np.argsort(-counts, kind="stable") if counts[c]]
    return [[class_names[c], int(counts[c])] for c in order]


def nearest_rows(source: Source, rows: Rows) -> list[list[int]]:
    """Return the rows nearest to the mode of each cluster."""
    n_values = max(len(rows.columns), 1) * source.n_clusters
    n = max(FEWEST_EXAMPLES, min(N_EXAMPLES, MAX_EXAMPLE_VALUES // n_values))
    candidates = without_zero_weights(source.labels[-1], source.weight)
    found = nearest_by_distance(source.distances(-1), candidates, source.n_clusters, n)
    return [[row for row in own if row >= 0] for own in found.tolist()]


def example(
    source: Source, rows: Rows, row: int, classes: Any, class_names: list[str] | None
) -> dict[str, Any]:
    """Return a row with all its fields."""
    number = source.number(row)
    text = None if rows.texts is None else rows.texts.item(row)
    values = {c.name: c.item(row) for c in rows.columns if c is not rows.texts}
    for name, value in values.items():
        if isinstance(value, str) and len(value) > MAX_OTHER_TEXT:
            values[name] = shorten(value, MAX_OTHER_TEXT)
    return {
        "name": rows.name(row, number) or f"row {number}",
        "row": number,
        "own_row": row,  # for the images
        "values": values,
        "text": None if text is None else cut(text, MAX_TEXT),
        "image": None,
        "class": None if class_names is None else class_names[classes[row]],
    }
