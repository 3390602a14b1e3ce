"""The command line, run in this process."""

import re

from typer.testing import CliRunner

from modeclust.cli.app import app


def invoke(*arguments, code=0):
    """Run a command, which ends with this code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    assert "\x1b" not in result.output
    return result


def refused(*arguments, may_note=False):
    """Return the one line that a command answers to bad input, besides notes if it may."""
    result = invoke(*arguments, code=2)
    assert result.stdout == ""
    notes = r"(?:note: [^\n]+\n)*" if may_note else ""
    answer = re.fullmatch(rf"{notes}(error: [^\n]+\n)", result.stderr)
    assert answer, result.stderr
    return answer[1]
