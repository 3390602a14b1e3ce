"""The file of a checkpoint: the parts of a fit that was interrupted."""

import errno
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from modeclust import __version__
from modeclust.exceptions import CheckpointError
from modeclust.io.atomic import StrPath
from modeclust.io.model_file import Document, Kind, is_array, read_document, write_document

CHECKPOINT = Kind("checkpoint", "fit", "Remove it to start again.", CheckpointError)
CLASS_NAME = "Checkpoint"
# Fields of the states of a path, with their kinds: one number, or one for each cluster.
NUMBERS = {"bandwidth": "f", "objective": "f", "inertia": "f", "residual": "f", "n_iter": "i"}
NUMBERS |= {"converged": "b", "stage": "i"}
PER_CLUSTER = {"counts": "i", "nearest": "i", "unsupported": "b"}
PER_CLUSTER |= {"rows_averaged": "f", "cluster_bandwidths": "f"}
LARGEST = 1e150
# Fields that are saved of the last state only.
OF_LAST = ("centers", "labels", "memberships", "history", "mass", "reference", "frozen")


class DamagedPartError(ValueError):
    """A part of a checkpoint is not valid; the message is the name of the part."""


@dataclass(frozen=True)
class SavedFit:
    """The parts of a checkpoint. Parts that no fit writes raise a `DamagedPartError`."""

    facts: dict[str, str]  # what the result depends on, as text
    contents: dict[str, str]  # digests of the data
    begun: dict[str, Any]  # the state of the random generator at the beginning of the fit
    generator: dict[str, Any]  # its state now
    target: tuple[float, Any] | None  # the bandwidth, and local scales if they were computed
    n_restarts: int
    bandwidths: Any  # after K-means; None before they are known
    start: Any  # (K, D) centers where the path starts; None for those of K-means
    states: dict[str, Any]  # of the path; before it, of the best restart
    centers: Any  # (S, K, D) of the path
    labels: Any  # (S, N) of the path, if they are stored

    def __post_init__(self) -> None:
        for name in ("facts", "contents"):
            texts = getattr(self, name)
            _check(
                name, isinstance(texts, dict) and all(isinstance(t, str) for t in texts.values())
            )
        _check("target", self.target is None or _is_target(self.target))
        _check("n_restarts", type(self.n_restarts) is int and self.n_restarts >= 0)
        bandwidths, centers, labels = self.bandwidths, self.centers, self.labels
        _check("bandwidths", bandwidths is None or _are_positive(bandwidths))
        are_numbers = isinstance(centers, np.ndarray) and centers.dtype.kind == "f"
        _check("centers", are_numbers and centers.ndim == 3 and _are_finite(centers))
        n_states, n_clusters, n_features = centers.shape
        if labels is not None:
            _check("labels", is_array(labels, "iu", n_states, None))
            _check("labels", bool(((labels >= 0) & (labels < n_clusters)).all()))
        start = self.start
        is_start = start is None or (is_array(start, "f", None, None) and _are_finite(start))
        _check("start", is_start)
        n_states = n_states or min(self.n_restarts, 1)
        _check("states", _are_states(self.states, n_states, n_clusters, n_features))

    def check_sizes(self, n_rows: int, n_init: int, n_planned: int, shape: tuple[int, ...]) -> None:
        """Raise a `DamagedPartError` if the parts do not have the sizes of a fit."""
        n_states, (length, *shape_of_one) = len(self.centers), shape
        n_bandwidths = 0 if self.bandwidths is None else len(self.bandwidths)
        scales = None if self.target is None else self.target[1]
        _check("target", scales is None or len(scales) == n_rows)
        _check("n_restarts", self.n_restarts <= n_init)
        _check("centers", n_states <= length and list(self.centers.shape[1:]) == shape_of_one)
        _check("start", self.start is None or list(self.start.shape) == shape_of_one)
        _check("bandwidths", n_bandwidths == (n_planned if n_states else 0))
        _check("labels", self.labels is None or self.labels.shape == (n_states, n_rows))
        _check("states", bool(np.all(self.states["nearest"] < n_rows)))
        sizes = self.states["counts"].reshape(-1, shape_of_one[0]).sum(axis=1)
        _check("states", bool(np.all(sizes == n_rows)))
        # K-means, then the bandwidths, then the levels of the modes.
        stages = self.states["stage"] if n_states else np.zeros(1)
        path, levels = stages[1 : 1 + n_bandwidths], stages[1 + n_bandwidths :]
        _check("states", stages[0] == 0 and bool((path == path[:1]).all() and (levels == 2).all()))

    @property
    def progress(self) -> str:
        """How far the fit has come."""
        if self.bandwidths is None:
            return f"{self.n_restarts} restarts done"
        n_done = len(self.centers) - 1
        n_bandwidths = len(self.bandwidths)
        if n_done > n_bandwidths:
            return f"all bandwidths and {n_done - n_bandwidths} levels of the modes done"
        return f"{n_done} of {n_bandwidths} bandwidths done"


def write_checkpoint(file: StrPath, fit: SavedFit) -> None:
    """Write the parts of a fit to a file."""
    state = {field.name: getattr(fit, field.name) for field in fields(fit)}
    write_document(file, Document(__version__, CLASS_NAME, state, {}, CHECKPOINT))


def read_checkpoint(file: StrPath) -> SavedFit:
    """Read the parts of a fit; raise an error if the file is not a checkpoint or is damaged."""
    if not Path(file).is_file():
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(file))
    document = read_document(file, __version__, {CLASS_NAME: ()}, CHECKPOINT)
    if document.version != __version__:
        raise CheckpointError(
            f"{os.fspath(file)!r} was written by modeclust {document.version}, and this is "
            f"{__version__}, which may give other results; continue with that version, or remove "
            "the file to start again."
        )
    names, found = {field.name for field in fields(SavedFit)}, document.state.keys()
    if names != found:
        refuse_part(file, ", ".join(sorted(names - found)) or "other parts")
    try:
        return SavedFit(**document.state)
    except DamagedPartError as error:
        refuse_part(file, str(error))


def refuse_part(file: StrPath, part: str) -> NoReturn:
    """Raise the error of a checkpoint with a damaged part."""
    raise CheckpointError(
        f"{os.fspath(file)!r} is damaged: its {part} cannot be those of a fit. {CHECKPOINT.remedy}"
    )


def describe_checkpoint(file: StrPath) -> str:
    """Return how far the fit of a checkpoint has come."""
    return read_checkpoint(file).progress


def check_writable(file: StrPath) -> None:
    """Raise an error if no file can be written at this path."""
    target = Path(os.path.realpath(file))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(file))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "the folder of the checkpoint does not exist", os.fspath(file)
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            errno.EACCES, "the folder of the checkpoint is read-only", os.fspath(file)
        )


def _check(part: str, is_right: bool) -> None:
    if not is_right:
        raise DamagedPartError(part)


def _is_target(target: Any) -> bool:
    if type(target) is not tuple or len(target) != 2:
        return False
    bandwidth, scales = target
    is_positive = type(bandwidth) is float and bandwidth > 0
    if scales is None or not is_positive:
        return is_positive
    # Rows are weighed by the inverse squares of their scales, which must not overflow.
    return _are_positive(scales) and bool((scales > 1 / LARGEST).all() and _are_small(scales))


def _are_states(packed: Any, n_states: int, n_clusters: int, n_features: int) -> bool:
    """Return whether these are the fields of the states of a path."""
    if not isinstance(packed, dict) or not {*NUMBERS, *PER_CLUSTER} <= packed.keys():
        return False
    if n_states == 0:
        return all(isinstance(part, np.ndarray) and part.size == 0 for part in packed.values())
    if packed.keys() != {*NUMBERS, *PER_CLUSTER, *OF_LAST}:
        return False
    if not all(is_array(packed[name], kind, n_states) for name, kind in NUMBERS.items()):
        return False
    if not all(is_array(packed[n], kind, n_states, n_clusters) for n, kind in PER_CLUSTER.items()):
        return False
    sums = [packed[name] for name in ("mass", "reference") if packed[name] is not None]
    frozen = packed["frozen"]
    return (
        is_array(packed["centers"], "f", n_clusters, n_features)
        and _are_finite(packed["centers"])
        and bool((packed["bandwidth"] > 0).all() and np.isfinite(packed["objective"]).all())
        and bool((packed["inertia"] >= 0).all() and (packed["n_iter"] >= 0).all())
        and bool((packed["counts"] >= 0).all() and (packed["nearest"] >= -1).all())
        and bool((packed["rows_averaged"] >= 0).all() and (packed["cluster_bandwidths"] > 0).all())
        and bool(np.isin(packed["stage"], (0, 1, 2)).all())
        and (frozen is None or is_array(frozen, "b", n_clusters))
        and bool(np.ptp(packed["counts"].sum(axis=1)) == 0)  # all have the same rows
        and packed["labels"] is packed["memberships"] is None
        and isinstance(packed["history"], tuple)
        and all(is_array(part, "f", n_clusters) and bool((part >= 0).all()) for part in sums)
        and (packed["mass"] is None or _are_small(packed["mass"]))
    )


def _are_positive(values: Any) -> bool:
    return is_array(values, "f", None) and _are_finite(values) and bool((values > 0).all())


def _are_small(values: Any) -> bool:
    """Return whether the squares of numbers do not overflow."""
    return bool((values < LARGEST).all())


def _are_finite(values: Any) -> bool:
    return bool(np.isfinite(values).all())
