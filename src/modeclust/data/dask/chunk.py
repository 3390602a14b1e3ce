"""One chunk of rows, and the functions that workers call on it.

Labels and bounds stay in the process that ran the last pass over a chunk. They are a cache: each
request carries a `LabelVersion`, and a process without that version recomputes the labels.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust import _core
from modeclust.data.dataset import Part, pass_assigns
from modeclust.data.mean_pass import MeanPass
from modeclust.data.memory import MemoryDataset
from modeclust.data.mode_pass import ModePass
from modeclust.data.reading import Doubles, Indices, UnitRows
from modeclust.kernels import GAUSSIAN

# A process keeps the labels of at most this many fits.
MAX_FITS = 4
_kept_labels: OrderedDict[str, dict[int, tuple[int, _core.KeptLabels]]] = OrderedDict()
_lock = Lock()


class LabelVersion(NamedTuple):
    """Identifies the current labels of the rows: those of the nearest centers."""

    fit_id: str
    number: int  # passes so far that assigned labels
    centers: Doubles | None


class Chunk(NamedTuple):
    """The rows of one chunk, with their weights and scales."""

    X: Any
    weight: Doubles | None
    scale: Doubles | None
    number: int
    first_row: int
    n_clusters: int

    @classmethod
    def of(cls, X: Any, weight: Any, scale: Any, *others: Any) -> "Chunk":
        """Return a chunk; weights and scales are converted to float64 arrays."""
        columns: Any = (None if c is None else np.asarray(c, np.float64) for c in (weight, scale))
        return cls(X, *columns, *others)

    def scaled(self, scale: Doubles | None) -> "Chunk":
        """Return the chunk with other local scales."""
        return self._replace(scale=None if scale is None else np.asarray(scale, np.float64))

    def open(self) -> MemoryDataset:
        """Return a dataset of these rows."""
        return MemoryDataset(
            self.X,
            weight=self.weight,
            scale=self.scale,
            n_clusters=self.n_clusters,
            n_jobs=1,
            first_row=self.first_row,
        )

    def present(self) -> Indices:
        """Return the indices of the rows of positive weight."""
        return np.arange(self.X.shape[0]) if self.weight is None else np.flatnonzero(self.weight)

    def part(self, are_counts: bool) -> Part:
        """Return the rows of positive weight; weights that are counts are repetitions."""
        present = self.present()
        has_all = len(present) == self.X.shape[0] and not isinstance(self.X, UnitRows)
        X = self.X if has_all else self.X[present]
        counts = np.ones(len(present))
        if are_counts and self.weight is not None:
            counts = self.weight[present]
        return Part(X, counts, self.first_row + present, n_jobs=1)


def run_pass(chunk: Chunk, job: tuple[Any, LabelVersion]) -> Any:
    """Run a pass over the chunk, and return its partial sums."""
    pass_, labels = job
    dataset = _open_with_labels(chunk, labels, for_means=isinstance(pass_, MeanPass))
    partial_sums = dataset.run(pass_)
    _keep_state(labels, chunk.number, labels.number + pass_assigns(pass_), dataset.rows)
    return partial_sums


def _open_with_labels(
    chunk: Chunk, labels: LabelVersion, *, for_means: bool = False
) -> MemoryDataset:
    """Open a chunk with its current labels; recompute them if they are not in the cache."""
    with _lock:
        # Removed from the cache: after an interrupted task, this state would not be valid.
        number, kept = _kept_labels.get(labels.fit_id, {}).pop(chunk.number, (-1, None))
    dataset = chunk.open()
    if kept is not None and number == labels.number:
        dataset.rows.attach_labels(kept)
    elif labels.centers is not None:
        mode_pass: Any = ModePass(labels.centers, GAUSSIAN, inverse_squared_bandwidth=0.0)
        dataset.run(MeanPass(labels.centers) if for_means else mode_pass)
    return dataset


def _keep_state(labels: LabelVersion, chunk: int, number: int, rows: _core.Rows) -> None:
    """Keep labels and bounds, but not the rows: they may not all fit in memory."""
    kept = rows.detach_labels()
    with _lock:
        _kept_labels.setdefault(labels.fit_id, {})[chunk] = (number, kept)
        _kept_labels.move_to_end(labels.fit_id)
        while len(_kept_labels) > MAX_FITS:
            _kept_labels.popitem(last=False)


def drop_states(fit_id: str) -> None:
    """Remove the labels and bounds of a fit from the cache."""
    with _lock:
        _kept_labels.pop(fit_id, None)


def labels_at(chunk: Chunk, labels: LabelVersion, indices: Indices) -> npt.NDArray[np.int32]:
    """Return the labels of the rows at `indices` of the chunk."""
    dataset = _open_with_labels(chunk, labels)
    found = dataset.labels_at(indices)
    _keep_state(labels, chunk.number, labels.number, dataset.rows)
    return found


def on_rows(chunk: Chunk, method: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a method of `MemoryDataset` for the rows of the chunk."""
    return method(chunk.open(), *arguments)


def present_at(chunk: Chunk, indices: Indices) -> Indices:
    """Return indices in the dataset for indices among the rows of positive weight."""
    return chunk.first_row + chunk.present()[indices]


def on_part(chunk: Chunk, are_counts: bool, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function of the rows of positive weight."""
    return function(chunk.part(are_counts), *arguments)


def column(
    chunk: Chunk, are_counts: bool, function: Callable[..., Doubles], *arguments: Any
) -> Doubles:
    """Return the result of a function for each row; -1 for rows of weight 0."""
    out = np.full(chunk.X.shape[0], -1.0)
    part = chunk.part(are_counts)
    if len(part.counts):
        out[chunk.present()] = function(part, *arguments)
    return out


def fill(chunk: Chunk, values: Doubles) -> Doubles:
    """Return one number for each row: `values` for those of positive weight, 1 for others."""
    out = np.ones(chunk.X.shape[0])
    out[chunk.present()] = values
    return out


def weighted_sum(chunk: Chunk, values: Any) -> tuple[float, float]:
    """Return the weighted sum of `values`, and the sum of the weights."""
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(values)) if chunk.weight is None else chunk.weight
    return float(values @ weight), float(weight.sum())
