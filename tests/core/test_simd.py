"""Which instruction set runs, and how MODECLUST_SIMD forces one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from modeclust import _core

ROOT = Path(__file__).parents[2]
KERNELS = sorted(ROOT.glob("build/*/CMakeFiles/kernels_*.dir/**/*.o"))
EVERY = {"baseline", "avx2", "avx512", "neon"}


def imported(simd):
    """Import the core in a process of its own, with MODECLUST_SIMD set."""
    return subprocess.run(
        [sys.executable, "-c", "from modeclust import _core; print(_core.simd())"],
        env={**os.environ, "MODECLUST_SIMD": simd},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("simd", _core.available_simd())
def test_an_available_variant_can_be_forced(simd):
    done = imported(simd)
    assert (done.returncode, done.stdout) == (0, f"{simd}\n"), done.stderr


def test_the_fastest_is_used_where_none_is_forced():
    assert imported("").stdout.split() == _core.available_simd()[-1:]


@pytest.mark.parametrize("simd", ["AVX2", "sse", *sorted(EVERY - {*_core.available_simd()})])
def test_another_name_is_refused_with_the_names_that_there_are(simd):
    done = imported(simd)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert re.match(r"(ImportError|RuntimeError): MODECLUST_SIMD must be one of", last)
    assert f'got "{simd}"' in last
    assert all(name in last for name in _core.available_simd())


@pytest.mark.skipif(
    not KERNELS, reason="left out: the objects of kernels, which `make` leaves in build"
)
@pytest.mark.skipif(not shutil.which("nm"), reason="left out: `nm` lists the symbols")
@pytest.mark.parametrize("file", KERNELS, ids=lambda f: f"{f.parts[-5]}-{f.stem}")
def test_an_object_of_kernels_has_one_global_symbol(file):
    """The linker may take any other for all variants, and an older CPU would crash in it."""
    listed = subprocess.run(
        ["nm", "--defined-only", "--extern-only", "--format=posix", file],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [line.split()[0] for line in listed.stdout.splitlines() if " " in line]
    assert len(names) == 1, names
    assert re.search(r"_(baseline|avx2|avx512|neon)", names[0])
