"""The fuzzer: it detects every fault, and finds none in its first inputs."""

import io
import os
import subprocess
import sys

import faults
import numpy as np
import pytest
from fuzzing import core_calls, hunt
from fuzzing.judging import judge_table
from fuzzing.seeds import KINDS, Canary

from modeclust import _core
from modeclust.cli.readers.files import ENDINGS, ending_of

on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory is measured on Linux only"
)


@pytest.fixture(scope="module")
def judge():
    judge = hunt.Judge([], timeout=10.0)
    yield judge
    judge.close()


@on_linux
@pytest.mark.parametrize(
    ("reader", "description"),
    [
        (faults.raise_another_error, "KeyError in faults.py:raise_another_error: 'another'"),
        (faults.crash, "the process ended with exit code -11"),
        (faults.hang, "no answer within"),
        (faults.take_memory, "MemoryError in faults.py:take_memory"),
        (faults.write_a_file, r"written or removed: ['written']"),
    ],
)
def test_every_fault_is_detected_and_the_next_input_is_judged(reader, description, judge):
    outcome, found = judge("data", reader, {"data": b""})
    assert outcome == "fault"
    assert description in found
    assert judge("data", faults.read, {"data": b""}) == ("read", "")


@on_linux
def test_an_executed_pickle_is_detected(judge):
    buffer = io.BytesIO()
    np.save(buffer, np.array([Canary()]), allow_pickle=True)
    outcome, found = judge("data.npy", faults.unpickle, {"data.npy": buffer.getvalue()})
    assert (outcome, "['unpickled']" in found) == ("fault", True)


def test_every_ending_has_a_kind():
    roots = [kind.root for kind in KINDS.values() if kind.judge is judge_table]
    folder = "data"  # of Parquet files, without an ending
    assert {ending_of(root) for root in roots if root != folder} == set(ENDINGS)


def test_everything_in_the_core_is_called():
    called = {name.partition(" ")[0] for name in core_calls.make_calls()}
    of_modules = {"simd", "available_simd", "compiler", "nanobind_version"}  # without arguments
    results = {"KeptLabels", "SoftSums", "ShiftSums"}
    assert {name for name in dir(_core) if name[0] != "_"} - of_modules - results == {
        name.partition(".")[0] for name in called
    }
    for kind in (_core.Rows, _core.DensityRows, _core.Graph):
        methods = {name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))}
        assert {f"{kind.__name__}.{name}" for name in methods} <= called


def test_seed_and_number_determine_an_input():
    for kind in ("csv", "npz", "zarr"):
        first = [hunt.input_of(kind, 5, number) for number in range(40)]
        assert first == [hunt.input_of(kind, 5, number) for number in range(40)]
        others = [hunt.input_of(kind, 6, number) for number in range(40)]
        assert sum(one != other for one, other in zip(first, others, strict=True)) > 20


@on_linux
@pytest.mark.slow
def test_the_first_inputs_of_every_kind_cause_no_fault(tmp_path):
    run = [sys.executable, "-m", "fuzzing", "--seed", "0", "--inputs", "40", "--keep", tmp_path]
    paths = os.pathsep.join(sys.path)
    done = subprocess.run(
        run, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (0, []), done.stdout
    for line in done.stdout.splitlines()[1:-1]:
        _, read, _, refused, *_ = line.split()
        assert min(int(read), int(refused)) > 0, f"only one outcome: {line}"
