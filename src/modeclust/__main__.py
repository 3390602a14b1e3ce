"""The entry of the command line."""

import sys


def main() -> None:
    """Run the command line; the arguments are those of the process."""
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
    app(prog_name="modeclust")


if __name__ == "__main__":
    main()
