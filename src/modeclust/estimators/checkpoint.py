"""Checkpoints: files from which an interrupted fit goes on, to the same bits."""

import copy
import errno
import os
import warnings
from itertools import groupby
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array, check_random_state

from modeclust import __version__
from modeclust.data.dask.chunks import Column
from modeclust.data.dask.dataset import DaskDataset
from modeclust.data.digest_pass import DigestPass, digest
from modeclust.estimators.checkpoint_parts import LAST, misfit, wrong_part
from modeclust.estimators.problem import NO_CENTERS, Problem, Record
from modeclust.exceptions import CheckpointError, CheckpointWarning
from modeclust.io.atomic import remove_parts
from modeclust.io.model_file import Document, Kind, read_document, set_generator, write_document
from modeclust.solvers.solve import State
from modeclust.validation import Doubles, is_array_like

CHECKPOINT = Kind("checkpoint", "fit", "Remove it to begin anew.", CheckpointError)
CLASS_NAME = "Checkpoint"
# Parameters that change no bit of the result.
FREE = {"n_jobs", "verbose", "checkpoint", "keep_checkpoint", "half_life"}
# Lengths of chunks are told one by one up to so many characters.
LONGEST = 60


class Checkpoint:
    """How far a fit has come, and the file that keeps it; without a file, nothing is written.

    A fit takes its steps in this order: `generator` before it opens its problem, `resume` once
    that is open, `restore` of its record, `write` whenever it came farther, and `end`.
    """

    def __init__(self, file: str | os.PathLike[str] | None = None, *, keep: bool = False) -> None:
        self.file = file
        self.target: tuple[float, Any] | None = None  # the bandwidth, local scales
        self.n_restarts = 0
        self.best: State | None = None  # of these restarts
        self.bandwidths: Doubles | None = None  # of the path, in the units of the problem
        self._keep = keep
        self._facts: dict[str, str] = {}
        self._contents: dict[str, str] = {}
        self._begun: dict[str, Any] = {}  # the generator's state before rows were sampled
        self._rng: np.random.RandomState
        self._found: dict[str, Any] | None = None
        self._has_warned = False

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return the checkpoint of an estimator's parameters; refuse one of others."""
        checkpoint = cls(estimator.checkpoint, keep=estimator.keep_checkpoint)
        if checkpoint.file is not None:
            check_place(checkpoint.file)
            checkpoint._facts = facts_of(estimator)
            if Path(checkpoint.file).exists():
                checkpoint._found = read_checkpoint(checkpoint.file)
                checkpoint._compare(checkpoint._found["facts"])
        return checkpoint

    def generator(self, random_state: Any) -> np.random.RandomState:
        """Return the generator of a fit, in the state in which the fit began."""
        self._rng = check_random_state(random_state)
        if self._found is not None:
            if not isinstance(random_state, np.random.RandomState):
                self._rng = copy.deepcopy(self._rng)  # others draw from numpy's own
            self._set_generator("begun")
        self._begun = self._rng.get_state(legacy=False)
        return self._rng

    def resume(self, problem: Problem) -> None:
        """Take up what was found, if it is of these data."""
        if self.file is None:
            return
        self._facts |= shape_of(problem)
        self._contents = contents_of(problem)
        if self._found is None:
            return
        found = self._found
        self._compare(found["facts"], found["contents"])
        scales = None if found["target"] is None else found["target"][1]
        if scales is not None and len(scales) != problem.dataset.n_rows:
            raise damaged(self.file, "target")
        self.target = found["target"]
        self.n_restarts = found["n_restarts"]
        self.bandwidths = found["bandwidths"]

    def restore(self, record: Record, n_init: int) -> None:
        """Put the states that were found into a new record, or see which restart was best.

        Only now the generator is as it was then: what is found again before draws as it did.
        """
        if self._found is None:
            return
        n_rows = record.problem.dataset.n_rows
        self._refuse(misfit(self._found, n_rows, n_init, record.centers.shape))
        self._set_generator("generator")
        states = _unpack(self._found["states"])
        if len(self._found["centers"]):
            record.take_up(states, self._found["centers"], self._found["labels"])
        else:
            self.best = states[0] if states else None

    @property
    def told(self) -> str | None:
        """How far the fit had come whose checkpoint was found, if there was one."""
        return None if self._found is None else f"{self._name}: {_progress(self._found)}"

    def write(self, record: Record) -> None:
        """Write how far the fit has come; where that fails, warn once and leave the old file."""
        if self.file is None:
            return
        best = [] if self.best is None else [self.best]
        state = {
            "facts": self._facts,
            "contents": self._contents,
            "begun": self._begun,
            "generator": self._rng.get_state(legacy=False),
            "target": self._lasting_target,
            "n_restarts": self.n_restarts,
            "bandwidths": self.bandwidths,
            "states": _pack(record.states or best),
            "centers": record.centers[: len(record.states)],
            "labels": np.stack(record.labels) if record.labels else None,
        }
        try:
            write_document(self.file, Document(__version__, CLASS_NAME, state, {}, CHECKPOINT))
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                self._warn(f"be written, and the fit goes on: {error}.", stacklevel=8)

    def end(self) -> None:
        """Remove what killed fits left, and the file of this one unless it is to be kept."""
        if self.file is None:
            return
        try:
            remove_parts(self.file)
            if not self._keep:
                Path(os.path.realpath(self.file)).unlink(missing_ok=True)
        except OSError as error:
            self._warn(f"be removed: {error}.", stacklevel=7)

    @property
    def _lasting_target(self) -> tuple[float, Doubles | None] | None:
        """The target without scales that are on workers, which are to be found again."""
        if self.target is None:
            return None
        bandwidth, scales = self.target
        return bandwidth, None if isinstance(scales, Column) else scales

    def _set_generator(self, part: str) -> None:
        """Set the generator to a state that was found."""
        try:
            set_generator(self._rng, self._found and self._found[part])
        except ValueError:
            self._refuse(part)

    def _refuse(self, part: str | None) -> None:
        """Refuse a checkpoint that has such a part."""
        if part is not None:
            raise damaged(self.file or "", part)

    @property
    def _name(self) -> str:
        return repr(os.fspath(self.file or ""))

    def _warn(self, what: str, stacklevel: int) -> None:
        message = f"The checkpoint {self._name} could not {what}"
        warnings.warn(message, CheckpointWarning, stacklevel=stacklevel)

    def _compare(self, facts: dict[str, str], contents: dict[str, str] | None = None) -> None:
        """Refuse a checkpoint of another fit, and say what differs."""
        differences = [
            f"{name} is {facts.get(name)} there and {here} here"
            for name, here in self._facts.items()
            if facts.get(name) != here
        ]
        # Other facts may mean other blocks, and so other digests of the same rows.
        if contents is not None and not differences:
            differences = [
                f"the values of {name} differ"
                for name, here in self._contents.items()
                if contents.get(name) != here
            ]
        if differences:
            raise CheckpointError(
                f"{self._name} is the checkpoint of another fit: {'; '.join(differences)}. Name "
                "another file, or remove it to begin anew."
            )


def check_place(file: str | os.PathLike[str]) -> None:
    """Refuse a place at which no file can be written."""
    target = Path(os.path.realpath(file))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(file))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "there is no folder for the checkpoint, make it first", os.fspath(file)
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            errno.EACCES, "the folder of the checkpoint is read-only", os.fspath(file)
        )


def read_checkpoint(file: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what is in a checkpoint, or refuse a file that is none or is damaged."""
    if not Path(file).is_file():
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(file))
    document = read_document(file, __version__, {CLASS_NAME: ()}, CHECKPOINT)
    if document.version != __version__:
        raise CheckpointError(
            f"{os.fspath(file)!r} was written by modeclust {document.version}, and this is "
            f"{__version__}, which may find other bits; go on with that one, or remove the file "
            "to begin anew."
        )
    if (part := wrong_part(document.state)) is not None:
        raise damaged(file, part)
    return document.state


def damaged(file: str | os.PathLike[str], part: str) -> CheckpointError:
    """Return the error of a checkpoint with a part that does not fit."""
    return CheckpointError(
        f"{os.fspath(file)!r} is damaged: its {part} cannot be those of a fit. {CHECKPOINT.remedy}"
    )


def describe_checkpoint(file: str | os.PathLike[str]) -> str:
    """Return how far the fit of a checkpoint has come."""
    return _progress(read_checkpoint(file))


def _progress(found: dict[str, Any]) -> str:
    if found["bandwidths"] is None:
        return f"{found['n_restarts']} restarts done"
    return f"{len(found['centers']) - 1} of {len(found['bandwidths'])} bandwidths done"


def facts_of(estimator: Any) -> dict[str, str]:
    """Return in words what the result depends on besides the data."""
    parameters = estimator.get_params(deep=False)
    told = {name: _told(value) for name, value in parameters.items() if name not in FREE}
    return {"the estimator": type(estimator).__name__, **told}


def shape_of(problem: Problem) -> dict[str, str]:
    """Return in words what kind of data a problem has."""
    dataset = problem.dataset
    return {
        "the shape of X": str((dataset.n_rows, dataset.n_features)),
        "the dtype of X": str(dataset.dtype),
        "X": "sparse" if dataset.is_sparse else "dense",
        "the place of X": place_of(problem),
    }


def place_of(problem: Problem) -> str:
    """Return in words where the rows are; other chunks mean other bits."""
    if not isinstance(problem.dataset, DaskDataset):
        return "memory"
    lengths = problem.X.chunks[0]
    told = ", ".join(f"{len(list(run))} of {length}" for length, run in groupby(lengths))
    if len(told) > LONGEST:
        short = digest(told.encode()).hex()[:16]
        told = f"{len(lengths)} of {min(lengths)} to {max(lengths)}, of digest {short}"
    return f"Dask chunks ({told})"


def contents_of(problem: Problem) -> dict[str, str]:
    """Return digests of the user's data, which a problem has in units of its own."""
    digests, rescaling = problem.dataset.run(DigestPass()), problem.rescaling
    offset = b"" if rescaling.offset is None else rescaling.offset.tobytes()
    parts = {
        "X": (digests.rows, repr(rescaling.scale).encode(), offset),
        "sample_weight": (digests.weight,),
        "sample_scale": (digests.scale, repr(problem.mean_scale).encode()),
    }
    return {name: digest(*values).hex() for name, values in parts.items()}


def _told(value: Any) -> str:
    """Return a parameter in words, the same for values that mean the same."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, np.random.RandomState):
        # Not its state: an interrupted fit has drawn from it.
        return f"a RandomState of {value.get_state(legacy=False)['bit_generator']}"
    if is_array_like(value):
        values = check_array(value, dtype=np.float64, order="C")
        return f"an array {values.shape} of digest {digest(values).hex()[:16]}"
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return repr(value)


def _pack(states: list[State]) -> dict[str, Any]:
    """Return states as one array for each field, and of some fields that of the last state."""
    small = [name for name in State._fields if name not in LAST]
    packed = {name: np.array([getattr(state, name) for state in states]) for name in small}
    return packed | {name: getattr(states[-1], name) for name in LAST if states}


def _unpack(packed: dict[str, Any]) -> list[State]:
    """Return the states that were packed; only the last one has all fields."""
    small = [name for name in packed if name not in LAST]
    columns = [packed[name] for name in small]
    rows = zip(*(c.tolist() if c.ndim == 1 else c for c in columns), strict=True)
    states = [
        State(centroids=NO_CENTERS, **dict(zip(small, values, strict=True))) for values in rows
    ]
    if states:
        states[-1] = states[-1]._replace(**{name: packed[name] for name in LAST})
    return states
