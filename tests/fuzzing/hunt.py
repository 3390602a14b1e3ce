"""Reads damaged files in separate processes, and keeps those that cause faults."""

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

from fuzzing.seeds import KINDS, Files, seeds_of

TIMEOUT = 30.0  # seconds per input; the machine may be busy
MAX_MEMORY = 2**31  # bytes in addition to the memory at the start
MAX_KEPT_PER_SIGNATURE = 3
TIMED_OUT = "no answer within"
# Known, and cannot be caught: if a damaged Parquet page asks for too much memory, polars ends the
# process (pola-rs/polars#15342).
POLARS_ABORTS = "memory allocation of"


Input = tuple[str, Callable[[Path], str], Files]


class Fault(NamedTuple):
    """A fault that an input caused."""

    kind: str
    number: int
    description: str  # the first line names the function

    @property
    def signature(self) -> tuple[str, str]:
        """The kind and description without numbers, to group faults with the same cause."""
        return self.kind, re.sub(r"\d+", "0", self.description.partition("\n")[0])[:120]


def input_of(kind: str, seed: int, number: int) -> Files:
    """Return the input of a seed and a number; the first inputs are undamaged."""
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
        files[name] = KINDS[kind].damage(rng, files[name], donor)
    return files


def write(folder: Path, files: Files) -> None:
    """Write the files of an input to a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def judge(root: str, judged_by: Callable[[Path], str], files: Files) -> tuple[str, str]:
    """Return the outcome of an input, and the description if it is a fault."""
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
            message = str(error)[:200].replace("\n", " ")
            return (
                "fault",
                f"{type(error).__name__} in {place}: {message}\n{traceback.format_exc()}",
            )
        finally:
            os.chdir("/")
    return outcome, ""


def _serve(undamaged: list[Input], stderr_file: str, pipe: Connection) -> None:
    """Judge the inputs that arrive through a pipe."""
    import resource  # not available on Windows

    warnings.simplefilter("ignore")
    os.dup2(os.open(stderr_file, os.O_WRONLY | os.O_TRUNC | os.O_APPEND), 2)
    for known in undamaged:  # load code and start threads before memory is limited
        judge(*known)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MAX_MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send(("ready", ""))
    while True:
        given = pipe.recv()
        os.truncate(stderr_file, 0)
        pipe.send(judge(*given))


class Judge:
    """A process that judges inputs. It is restarted if an input ends it."""

    def __init__(self, undamaged: list[Input], timeout: float = TIMEOUT):
        self._undamaged, self._timeout = undamaged, timeout
        self._stderr = tempfile.NamedTemporaryFile()  # noqa: SIM115
        self._process: Any = None

    def __call__(self, *given: Any) -> tuple[str, str]:
        """Return the outcome and the description of an input."""
        if self._process is None:
            self._start()
        self._pipe.send(given)
        return self._answer(self._timeout)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        given = (self._undamaged, self._stderr.name, end)
        self._process = context.Process(target=_serve, args=given, daemon=True)
        self._process.start()
        end.close()
        outcome, description = self._answer(600.0)
        assert outcome == "ready", description

    def _answer(self, timeout: float) -> tuple[str, str]:
        try:
            if self._pipe.poll(timeout):
                return self._pipe.recv()
            description = f"{TIMED_OUT} {timeout:g} seconds"
        except (EOFError, ConnectionError):
            self._process.join()
            output = Path(self._stderr.name).read_text(errors="replace")[:2000]
            description = f"the process ended with exit code {self._process.exitcode}: {output}"
        self.close()
        return "fault", description

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def hunt(
    kinds: Sequence[str], seed: int, numbers: Iterable[int], deadline: float, outcomes: Counter[Any]
) -> Iterator[Fault]:
    """Judge inputs of all kinds in turn, count the outcomes, and yield the faults."""
    known = [(*KINDS[kind][:2], files) for kind in kinds for files in seeds_of(kind)]
    judging = Judge(known)
    try:
        for number in numbers:
            for kind in kinds:
                if time.monotonic() > deadline:
                    return
                given = (*KINDS[kind][:2], input_of(kind, seed, number))
                outcome, description = judging(*given)
                if description.startswith(TIMED_OUT):  # the machine may have been busy
                    outcome, description = judging(*given)
                if POLARS_ABORTS in description:
                    outcome = "abort"
                outcomes[kind, outcome] += 1
                if outcome == "fault":
                    yield Fault(kind, number, description)
    finally:
        judging.close()


def keep(fault: Fault, seed: int, parent: Path) -> Path:
    """Write the input of a fault to a folder, with its description and the command to replay it."""
    folder = parent / f"{fault.kind}-{seed}-{fault.number}"
    shutil.rmtree(folder, ignore_errors=True)
    write(folder, input_of(fault.kind, seed, fault.number))
    replay = f"python -m fuzzing --seed {seed} --replay {fault.kind} {fault.number}"
    (folder / "FAULT.txt").write_text(f"{replay}\n\n{fault.description}\n")
    return folder
