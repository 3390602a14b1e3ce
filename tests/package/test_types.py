"""Type checkers find the types of the wheel, from a user's code."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.package

USER = Path(__file__).parents[1] / "typing" / "user.py"
CHECKERS = {
    "mypy": ("--strict", "--python-executable"),
    "basedpyright": ("--level=error", "--pythonpath"),
}


@pytest.fixture
def check(environment, tmp_path):
    """Check code in a folder of its own, in which the settings of the sources do not count."""
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    environment.hold()

    def run(checker, code):
        (tmp_path / "user.py").write_text(code, encoding="utf-8")
        return subprocess.run(
            [
                Path(sys.executable).with_name(checker),
                *CHECKERS[checker],
                environment.python,
                "user.py",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    return run


@pytest.mark.parametrize("checker", CHECKERS)
def test_types_of_the_wheel(checker, check):
    done = check(checker, USER.read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_wrong_type_is_seen(checker, check):
    done = check(
        checker, "from modeclust import KModes\nKModes(3).fit([[1.0]]).bandwidth_.upper()\n"
    )
    assert done.returncode == 1
    assert "upper" in done.stdout
