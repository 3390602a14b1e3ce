"""Readers with faults, for the tests of the fuzzer."""

import os
import signal
import time
from pathlib import Path

import numpy as np


def read(path: Path) -> str:
    return "read"


def raise_another_error(path: Path) -> str:
    raise KeyError("another")


def crash(path: Path) -> str:
    os.kill(os.getpid(), signal.SIGSEGV)
    return "read"


def hang(path: Path) -> str:
    time.sleep(600)
    return "read"


def take_memory(path: Path) -> str:
    return "read" if bytearray(2**33) else "refused"


def write_a_file(path: Path) -> str:
    Path("written").touch()
    return "read"


def unpickle(path: Path) -> str:
    np.load(path, allow_pickle=True)
    return "read"
