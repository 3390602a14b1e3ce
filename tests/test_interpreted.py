"""Compiled functions find what the Python finds that they are written in, which checks indices."""

import os
import subprocess
import sys
from pathlib import Path

import interpreted
import numpy as np


def test_compiled_code_finds_what_python_finds(tmp_path):
    program, file = Path(interpreted.__file__), tmp_path / "found.npz"
    # Python warns where numbers overflow on purpose.
    run = [sys.executable, "-W", "ignore::RuntimeWarning", program, file]
    subprocess.run(run, check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    compiled = interpreted.results()
    with np.load(file) as python:
        assert set(python) == set(compiled)
        for name, values in compiled.items():
            digits = 1e-4 if name.startswith(("float32", "mean-shift")) else 1e-7
            np.testing.assert_allclose(values, python[name], digits, digits, err_msg=name)
