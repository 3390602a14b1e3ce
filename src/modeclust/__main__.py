"""The entry point of the command line."""

import os
import sys


def main() -> None:
    """Run the command line with the arguments of the process."""
    try:
        from modeclust.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer"):
            raise
        sys.stderr.write(
            f"error: the command line needs {error.name}; pip install 'modeclust[cli]'\n"
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app(prog_name="modeclust")
    finally:
        _flush()


def _flush() -> None:
    """Flush the standard output, without a message if its reader is gone."""
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    except BrokenPipeError:
        # Python flushes again at exit, and would print an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)


if __name__ == "__main__":
    main()
