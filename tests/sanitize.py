"""Run the tests of the core with sanitizers: `python tests/sanitize.py`, or `make sanitize`.

The core is compiled twice below build/sanitize: with AddressSanitizer and
UndefinedBehaviorSanitizer, and with ThreadSanitizer. Python itself is not compiled with sanitizers,
so their libraries are preloaded. This needs GCC on Linux.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
CXX = os.environ.get("CXX", "g++")
# The sanitizers that are compiled in, and the libraries to preload.
KINDS = {
    "address,undefined": ("libasan.so", "libubsan.so", "libstdc++.so"),
    "thread": ("libtsan.so", "libstdc++.so"),
}
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",  # Python does not free all memory at exit
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0",
    "OPENBLAS_NUM_THREADS": "1",  # ThreadSanitizer cannot see how its threads wait for each other
    "PYTHONMALLOC": "malloc",  # separate blocks of memory, so that their bounds are known
}


def install(folder, definition):
    """Compile the package with a definition for CMake; return the folder of the installation."""
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"),
            *("--no-build-isolation", f"--target={folder / 'installed'}"),
            *(f"-Cbuild-dir={folder / 'cmake'}", f"-Ccmake.define.{definition}"),
            *("-Ccmake.build-type=RelWithDebInfo", "-Cinstall.strip=false", ROOT),
        ],
        env={**os.environ, "CXX": CXX},
        check=True,
    )
    return folder / "installed"


def search_paths(installed):
    """Return the environment for Python with the package in a folder and the libraries of .venv.

    The package in .venv itself is not found: .pth files have an effect in site-packages only.
    """
    paths = [str(installed), sysconfig.get_path("purelib")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


def environment(kind, installed, **more):
    """Return the environment for Python with an installed package and the sanitizers' libraries."""
    libraries = [
        subprocess.run(
            [CXX, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in KINDS[kind]
    ]
    return search_paths(installed) | OPTIONS | {"LD_PRELOAD": " ".join(libraries)} | more


def variants(kind, installed):
    """Return the instruction sets to test; only the fastest for threads, where all are alike."""
    found = subprocess.run(
        [sys._base_executable, "-c", "from modeclust import _core; print(*_core.available_simd())"],
        env=environment(kind, installed),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return found[-1:] if kind == "thread" else found


# Tests that start a process for each instruction set are slow. Sanitizers do not work with memory
# limits and forks.
LEFT_OUT = "not variant and not memory_error and not forked"


def main():
    for kind in KINDS:
        folder = ROOT / "build" / "sanitize" / kind.replace(",", "-")
        installed = install(folder, f"MODECLUST_SANITIZE={kind}")
        for simd in variants(kind, installed):
            print(f"{kind}: {simd}", flush=True)
            subprocess.run(
                [
                    # ThreadSanitizer needs addresses that are not randomized.
                    *("setarch", "-R", sys._base_executable, "-m", "pytest", "-q", "-s"),
                    *("-p", "no:cacheprovider", "tests/core", "-k", LEFT_OUT, *sys.argv[1:]),
                ],
                cwd=ROOT,
                env=environment(kind, installed, MODECLUST_SIMD=simd),
                check=True,
            )


if __name__ == "__main__":
    main()
