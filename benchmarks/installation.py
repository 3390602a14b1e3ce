"""The build of the package from its sources, and the size of what it installs."""

import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from effort import Effort
from environment import ROOT, THREADS
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from timing import seconds

OURS, THEIRS = "modeclust", "scikit-learn"


def measure_installation(_: Effort):
    """Return the seconds of a build, and the bytes that scikit-learn does not need anyway."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", f"-Cbuild-dir={folder}/build", "-w", folder, ROOT]
        took, _ = seconds(lambda: subprocess.run(command, check=True))
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            own = sum(entry.file_size for entry in file.infolist())
    needed = sorted(_needed_by(OURS) - _needed_by(THEIRS) - {OURS, THEIRS})
    return {
        "build_seconds": took,
        "threads": THREADS,
        "own_bytes": own,
        "other_packages": needed,
        "bytes": own + sum(map(_installed_bytes, needed)),
    }


def _needed_by(package) -> set[str]:
    """Return a package and all packages that it needs, without extras."""
    found, left = set(), [package]
    while left:
        name = canonicalize_name(left.pop())
        if name not in found:
            found.add(name)
            requirements = map(Requirement, distribution(name).requires or ())
            left += [
                needed.name
                for needed in requirements
                if needed.marker is None or needed.marker.evaluate({"extra": ""})
            ]
    return found


def _installed_bytes(package) -> int:
    files = (Path(str(file.locate())) for file in distribution(package).files or ())
    return sum(file.stat().st_size for file in files if file.is_file())
