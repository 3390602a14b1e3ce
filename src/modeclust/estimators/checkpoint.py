"""Checkpoints: an observer that saves a fit, so that it can be resumed with the same bits."""

import copy
import hashlib
import os
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array, check_random_state

from modeclust import _core
from modeclust._sklearn import is_array_like
from modeclust.estimators.observers import FitObserver, Progress
from modeclust.estimators.problem import NO_CENTERS, Problem
from modeclust.exceptions import CheckpointError, CheckpointWarning, _warn_user
from modeclust.io.atomic import remove_parts
from modeclust.io.checkpoint import (
    OF_LAST,
    DamagedPartError,
    SavedFit,
    check_writable,
    read_checkpoint,
    refuse_part,
    write_checkpoint,
)
from modeclust.io.model_file import set_generator
from modeclust.solvers.kmodes import State

# Parameters that do not change the result.
IRRELEVANT = {"n_jobs", "verbose", "checkpoint", "keep_checkpoint", "half_life"}


class Checkpoint(FitObserver):
    """Saves the progress of a fit to a file, after each restart and bandwidth.

    A fit calls `generator` before it opens the dataset, `resume` as soon as that is open, and
    `restore` before K-means.
    """

    def __init__(self, file: str | os.PathLike[str], *, keep: bool = False) -> None:
        self.file = file
        self.target: tuple[float, Any] | None = None  # the bandwidth, local scales
        self._keep = keep
        self._facts: dict[str, str] = {}
        self._contents: dict[str, str] = {}
        self._begun: dict[str, Any] = {}  # the generator's state before rows were sampled
        self._rng: np.random.RandomState
        self._found: SavedFit | None = None
        self._has_warned = False

    @classmethod
    def of(cls, estimator: Any) -> Self | None:
        """Return the checkpoint of an estimator, or None; an error if it belongs to another fit."""
        if estimator.checkpoint is None:
            return None
        checkpoint = cls(estimator.checkpoint, keep=estimator.keep_checkpoint)
        check_writable(checkpoint.file)
        checkpoint._facts = describe_parameters(estimator)
        if Path(checkpoint.file).exists():
            checkpoint._found = read_checkpoint(checkpoint.file)
            checkpoint._compare(checkpoint._found.facts)
        return checkpoint

    def generator(self, random_state: Any) -> np.random.RandomState:
        """Return the generator of a fit, in the state in which the fit began."""
        self._rng = check_random_state(random_state)
        if self._found is not None:
            if not isinstance(random_state, np.random.RandomState):
                self._rng = copy.deepcopy(self._rng)  # it may be the global one of numpy
            self._set_generator("begun")
        self._begun = self._rng.get_state(legacy=False)
        return self._rng

    def resume(self, problem: Problem) -> None:
        """Set the target of the saved fit; raise an error if the data differ."""
        self._facts |= describe_data(problem)
        self._contents = digest_data(problem)
        if self._found is not None:
            self._compare(self._found.facts, self._found.contents)
            scales = None if self._found.target is None else self._found.target[1]
            if scales is not None and len(scales) != problem.dataset.n_rows:
                refuse_part(self.file, "target")
            self.target = self._found.target

    def restore(self, progress: Progress, n_init: int, n_bandwidths: int) -> None:
        """Restore the progress of the saved fit, of this many restarts and bandwidths.

        The generator gets its saved state only now: the steps before draw the same rows again.
        """
        found, record = self._found, progress.record
        if found is None:
            return
        try:
            n_rows = record.problem.dataset.n_rows
            found.check_sizes(n_rows, n_init, n_bandwidths, record.centers.shape)
        except DamagedPartError as error:
            refuse_part(self.file, str(error))
        self._set_generator("generator")
        states = _unpack(found.states)
        progress.n_restarts, progress.bandwidths = found.n_restarts, found.bandwidths
        progress.start = found.start
        if len(found.centers):
            record.restore(states, found.centers, found.labels)
        elif states:
            progress.best = states[0]

    @property
    def resumed_from(self) -> str | None:
        """The file of the saved fit, and its progress."""
        return None if self._found is None else f"{self._name}: {self._found.progress}"

    def begin_stage(self, name: str, n_steps: int, progress: Progress) -> None:
        """Save the target bandwidth before K-means: choosing it may have taken long."""
        if name == "k-means":
            self.write(progress)

    def after_restart(self, progress: Progress, run: State) -> bool:
        """Save the best restart."""
        self.write(progress)
        return False

    def after_kmeans(self, progress: Progress) -> None:
        """Save the beginning of the path."""
        self.write(progress)

    def after_bandwidth(self, progress: Progress) -> bool:
        """Save the path so far."""
        self.write(progress)
        return False

    def write(self, progress: Progress) -> None:
        """Write the file; warn once if that fails."""
        record, best = progress.record, progress.best
        bandwidth, scales = self.target or (0.0, None)
        try:
            fit = SavedFit(
                facts=self._facts,
                contents=self._contents,
                begun=self._begun,
                generator=dict(self._rng.get_state(legacy=False)),
                # Scales on Dask workers are computed again.
                target=(bandwidth, scales if isinstance(scales, np.ndarray) else None),
                n_restarts=progress.n_restarts,
                bandwidths=progress.bandwidths,
                start=progress.start,
                states=_pack(record.states or ([] if best is None else [best])),
                centers=record.centers[: len(record.states)],
                labels=np.stack(record.labels) if record.labels else None,
            )
        except DamagedPartError as error:  # it went on from damaged numbers
            refuse_part(self.file, str(error))
        try:
            write_checkpoint(self.file, fit)
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                self._warn(f"be written, and the fit continues: {error}.")

    def end_fit(self) -> None:
        """Remove incomplete files of killed fits, and the file of this fit unless it is kept."""
        try:
            remove_parts(self.file)
            if not self._keep:
                Path(os.path.realpath(self.file)).unlink(missing_ok=True)
        except OSError as error:
            self._warn(f"be removed: {error}.")

    def _set_generator(self, part: str) -> None:
        """Set the generator to a state of the saved fit."""
        try:
            set_generator(self._rng, getattr(self._found, part))
        except ValueError:
            refuse_part(self.file, part)

    @property
    def _name(self) -> str:
        return repr(os.fspath(self.file))

    def _warn(self, what: str) -> None:
        _warn_user(f"The checkpoint {self._name} could not {what}", CheckpointWarning)

    def _compare(self, facts: dict[str, str], contents: dict[str, str] | None = None) -> None:
        """Raise an error that lists the differences if the checkpoint is of another fit."""
        differences = [
            f"{name} is {facts.get(name)} there and {here} here"
            for name, here in self._facts.items()
            if facts.get(name) != here
        ]
        # If other facts differ, the same rows may be in other blocks and have other digests.
        if contents is not None and not differences:
            differences = [
                f"the values of {name} differ"
                for name, here in self._contents.items()
                if contents.get(name) != here
            ]
        if differences:
            raise CheckpointError(
                f"{self._name} is the checkpoint of another fit: {'; '.join(differences)}. Pass "
                "another file, or remove it to start again."
            )


def describe_parameters(estimator: Any) -> dict[str, str]:
    """Return the parameters that the result depends on, as text."""
    parameters = estimator.get_params(deep=False)
    texts = {name: _describe(v) for name, v in parameters.items() if name not in IRRELEVANT}
    return {"the estimator": type(estimator).__name__, **texts}


def describe_data(problem: Problem) -> dict[str, str]:
    """Return the shape, type and location of the data, as text; other chunks give other bits."""
    dataset = problem.dataset
    return {
        "the shape of X": str((dataset.n_rows, dataset.n_features)),
        "the dtype of X": str(dataset.dtype),
        "X": "sparse" if dataset.is_sparse else "dense",
        "the location of X": dataset.location,
    }


@dataclass
class Digests:
    """Digests of the rows of each block, of their weights and of their scales, in order."""

    rows: bytes = b""
    weight: bytes = b""
    scale: bytes = b""

    def merge(self, other: "Digests") -> None:
        """Add the digests of the rows that follow."""
        self.rows += other.rows
        self.weight += other.weight
        self.scale += other.scale


class DigestPass:
    """Digest each block of rows; any number of threads gives the same bytes."""

    def run(self, rows: _core.Rows) -> Digests:
        """Return the digests of some rows."""
        return Digests(*rows.digest())


def digest_data(problem: Problem) -> dict[str, str]:
    """Return digests of the user's data, by the rescaled rows of a problem."""
    digests, rescaling = problem.dataset.run(DigestPass()), problem.rescaling
    offset = b"" if rescaling.offset is None else rescaling.offset.tobytes()
    parts = {
        "X": (digests.rows, repr(rescaling.scale).encode(), offset),
        "sample_weight": (digests.weight,),
        "sample_scale": (digests.scale, repr(problem.mean_scale).encode()),
    }
    return {name: _digest(*values) for name, values in parts.items()}


def _digest(*parts: Any) -> str:
    """Return a digest of bytes or contiguous arrays, one after the other."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(part)
    return state.hexdigest()


def _describe(value: Any) -> str:
    """Return a parameter as text; values that mean the same have the same text."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, np.random.RandomState):
        # Without its state, which the interrupted fit has changed.
        return f"a RandomState of {value.get_state(legacy=False)['bit_generator']}"
    if is_array_like(value):
        values = check_array(value, dtype=np.float64, order="C")
        return f"an array {values.shape} of digest {_digest(values)[:16]}"
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return repr(value)


def _pack(states: list[State]) -> dict[str, Any]:
    """Return states as one array for each field. Some fields are only of the last state."""
    small = [name for name in State._fields if name not in OF_LAST]
    states = [
        state._replace(cluster_bandwidths=np.full(len(state.counts), state.bandwidth))
        if state.cluster_bandwidths is None
        else state
        for state in states
    ]
    packed = {name: np.array([getattr(state, name) for state in states]) for name in small}
    return packed | {name: getattr(states[-1], name) for name in OF_LAST if states}


def _unpack(packed: dict[str, Any]) -> list[State]:
    """Return the states that were packed; only the last one has all fields."""
    small = [name for name in packed if name not in OF_LAST]
    columns = [packed[name] for name in small]
    rows = zip(*(c.tolist() if c.ndim == 1 else c for c in columns), strict=True)
    states = [State(centers=NO_CENTERS, **dict(zip(small, values, strict=True))) for values in rows]
    if states:
        states[-1] = states[-1]._replace(**{name: packed[name] for name in OF_LAST})
    return states
