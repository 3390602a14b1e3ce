"""The wheel works on a bare machine: no compiler, no home, another user, nothing to write to."""

import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.package,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(sys.platform != "linux", reason="left out: needs users and mounts of Linux"),
]
# Makes the whole file system read-only for one command.
READ_ONLY = (
    *("unshare", "--mount", "sh", "-c"),
    'mount --make-rprivate / && mount -o remount,bind,ro / && exec "$@"',
    "sh",
)


def run(command, **options):
    """Run a command with no variable set: without a home, and with no program on the PATH."""
    return subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, **options)


def fits(environment):
    return environment.python, "-W", "error", environment.folder / "jobs.py", "fits"


def test_without_a_compiler_and_a_home(public_environment):
    done = run(fits(public_environment))
    assert done.returncode == 0, done.stderr


def test_as_another_user(public_environment):
    nobody = {"user": "nobody", "group": "nogroup", "extra_groups": []}
    try:
        run([public_environment.python, "-c", ""], **nobody).check_returncode()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("left out: needs root, and a Python that everybody may run")
    done = run(fits(public_environment), **nobody)
    assert done.returncode == 0, done.stderr


def test_on_a_read_only_file_system(public_environment, tmp_path):
    if run([*READ_ONLY, "true"]).returncode:
        pytest.skip("left out: needs root, to mount a file system")
    assert run([*READ_ONLY, "touch", tmp_path / "touched"]).returncode
    done = run([*READ_ONLY, *fits(public_environment)])
    assert done.returncode == 0, done.stderr
