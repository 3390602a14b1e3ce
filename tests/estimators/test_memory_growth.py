"""Memory does not grow with the number of fits, seen from outside of Python."""

import subprocess
import sys

import many_fits
import pytest

MEBIBYTE = 1 << 20


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="left out: memory is read as Linux tells it")
@pytest.mark.parametrize("kind", many_fits.KINDS)
def test_memory_does_not_grow_over_a_thousand_fits(kind):
    run = [sys.executable, many_fits.__file__, kind, "200", "1000"]
    printed = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    before, after = map(int, printed.split())
    assert after - before < MEBIBYTE
