"""Measure which lines of the core its tests reach: `make coverage-core`.

The core is compiled for gcov below build/coverage. This needs GCC. A line counts as reached if the
tests reach it in one of the instruction sets. The minimum is in pyproject.toml.
"""

import subprocess
import sys

from sanitize import ROOT, install, search_paths

BUILD = ROOT / "build" / "coverage"
PAGE = ROOT / "out" / "coverage-core" / "index.html"


def main():
    environment = search_paths(install(BUILD, "MODECLUST_COVERAGE=ON"))
    for counts in BUILD.rglob("*.gcda"):  # of earlier runs
        counts.unlink()
    tests = [sys._base_executable, "-m", "pytest", "-q", "--timeout=1200"]
    tests += ["-m", "not slow", "tests/core"]
    subprocess.run(tests, cwd=ROOT, env=environment, check=True)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    report = [sys.executable, "-m", "gcovr", "--html-details", PAGE, BUILD / "cmake"]
    sys.exit(subprocess.run(report, cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
