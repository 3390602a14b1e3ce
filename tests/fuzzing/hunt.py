"""Reads damaged files in processes of their own, and keeps those that bring one down."""

import multiprocessing
import os
import random
import re
import shutil
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from fuzzing.mutations import damage
from fuzzing.seeds import KINDS, Files, seeds_of

PATIENCE = 30.0  # seconds for one input, on a machine that may be busy
MEMORY = 2**31  # bytes beyond what the process has when it begins
MOST_ALIKE = 3
LATE = "no answer within"
# Known, and not ours to catch: a damaged Parquet page can ask for more memory than there is, and
# polars then ends the process (pola-rs/polars#15342).
POLARS_ABORTS = "memory allocation of"


Input = tuple[str, Callable[[Path], str], Files]


class Fault(NamedTuple):
    """What went wrong with an input."""

    kind: str
    number: int
    what: str  # the first line says where

    @property
    def signature(self) -> tuple[str, str]:
        """What faults of one cause have in common."""
        return self.kind, re.sub(r"\d+", "0", self.what.partition("\n")[0])[:120]


def input_of(kind: str, seed: int, number: int) -> Files:
    """Return an input, always the same for a seed and a number; the first ones are undamaged."""
    rng = random.Random(f"{kind} {seed} {number}")
    seeds = seeds_of(kind)
    if number < len(seeds):
        return seeds[number]
    files = dict(rng.choice(seeds))
    name = rng.choice(sorted(files))
    others = rng.choice(seeds_of(rng.choice(sorted(KINDS))) if rng.random() < 0.2 else seeds)
    donor = rng.choice(sorted(others.values()))
    if len(files) > 1 and rng.random() < 0.1:
        del files[name]
    else:
        files[name] = damage(rng, files[name], donor)
    return files


def write(folder: Path, files: Files) -> None:
    """Write the files of an input to a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def judge(root: str, judged_by: Callable[[Path], str], files: Files) -> tuple[str, str]:
    """Return what came of an input, and of a fault also what it was."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write(Path(folder), files)
        before = sorted(Path(folder).rglob("*"))
        try:
            outcome = judged_by(Path(folder) / root)
            changed = set(before) ^ set(Path(folder).rglob("*"))
            assert not changed, f"written or removed: {[path.name for path in changed]}"
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.name}"
            said = str(error)[:200].replace("\n", " ")
            return "fault", f"{type(error).__name__} in {place}: {said}\n{traceback.format_exc()}"
        finally:
            os.chdir("/")
    return outcome, ""


def _serve(undamaged: list[Input], last_words: str, pipe: Connection) -> None:
    """Judge what comes through a pipe."""
    import resource  # which Windows does not have

    warnings.simplefilter("ignore")
    os.dup2(os.open(last_words, os.O_WRONLY | os.O_TRUNC | os.O_APPEND), 2)
    for known in undamaged:  # loads code and starts threads, before memory is bounded
        judge(*known)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send(("ready", ""))
    while True:
        given = pipe.recv()
        os.truncate(last_words, 0)
        pipe.send(judge(*given))


class Judge:
    """A process that judges inputs, started again whenever one of them ended it."""

    def __init__(self, undamaged: list[Input], patience: float = PATIENCE):
        self._undamaged, self._patience = undamaged, patience
        self._last_words = tempfile.NamedTemporaryFile()  # noqa: SIM115
        self._process: Any = None

    def __call__(self, *given: Any) -> tuple[str, str]:
        """Return what came of an input."""
        if self._process is None:
            self._start()
        self._pipe.send(given)
        return self._answer(self._patience)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        given = (self._undamaged, self._last_words.name, end)
        self._process = context.Process(target=_serve, args=given, daemon=True)
        self._process.start()
        end.close()
        outcome, what = self._answer(600.0)
        assert outcome == "ready", what

    def _answer(self, patience: float) -> tuple[str, str]:
        try:
            if self._pipe.poll(patience):
                return self._pipe.recv()
            what = f"{LATE} {patience:g} seconds"
        except (EOFError, ConnectionError):
            self._process.join()
            words = Path(self._last_words.name).read_text(errors="replace")[:2000]
            what = f"the process ended with exit code {self._process.exitcode}: {words}"
        self.close()
        return "fault", what

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def hunt(
    kinds: Sequence[str], seed: int, numbers: Iterable[int], until: float, outcomes: Counter[Any]
) -> Iterator[Fault]:
    """Judge inputs of all kinds in turn, and yield the faults; count all outcomes."""
    known = [(*KINDS[kind][:2], files) for kind in kinds for files in seeds_of(kind)]
    judging = Judge(known)
    try:
        for number in numbers:
            for kind in kinds:
                if time.monotonic() > until:
                    return
                given = (*KINDS[kind][:2], input_of(kind, seed, number))
                outcome, what = judging(*given)
                if what.startswith(LATE):  # the machine may be at something else
                    outcome, what = judging(*given)
                if POLARS_ABORTS in what:
                    outcome = "abort"
                outcomes[kind, outcome] += 1
                if outcome == "fault":
                    yield Fault(kind, number, what)
    finally:
        judging.close()


def keep(fault: Fault, seed: int, place: Path) -> Path:
    """Write the input of a fault to a folder of its own, with what it does and how to replay it."""
    folder = place / f"{fault.kind}-{seed}-{fault.number}"
    shutil.rmtree(folder, ignore_errors=True)
    write(folder, input_of(fault.kind, seed, fault.number))
    replay = f"python -m fuzzing --seed {seed} --replay {fault.kind} {fault.number}"
    (folder / "FAULT.txt").write_text(f"{replay}\n\n{fault.what}\n")
    return folder
