"""Command line: `python -m reproduction`, from the root of the repository."""

import argparse
import sys
from pathlib import Path

from reproduction.items import ITEMS, choose_items
from reproduction.report import PAGE, VERDICT_WORDS, check_folder, replace_folder, write_report


def main(arguments: list[str] | None = None) -> int:
    """Run items of the paper, write their report, and return the exit code.

    The code is 0 for success, 1 if an item failed, 2 for bad input and 130 for an interruption.
    """
    options = parse(arguments)
    try:
        return _run(options)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Reproduce the figures, tables and claims of the K-modes paper.",
    )
    parser.add_argument(
        "items", nargs="*", metavar="ITEM", help="item to reproduce (default: all; see --list)"
    )
    parser.add_argument("--list", action="store_true", help="list the items and exit")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("kmodes-paper"),
        metavar="DIR",
        help="folder in which the report is written (default: %(default)s)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="use small sizes: a test of the code, whose verdicts mean nothing",
    )
    parser.add_argument("--force", action="store_true", help="replace an earlier report")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    names = choose_items(options.items, to_run=not options.list)
    if options.list:
        for name in names:
            title, where, data, _ = ITEMS[name]
            print(f"{name:13} {title} ({where}; data: {', '.join(data) or 'built in'})")
        return 0
    check_folder(options.output, force=options.force)
    with replace_folder(options.output, force=options.force) as folder:
        results = write_report(
            names, folder, quick=options.quick, log=lambda line: print(line, file=sys.stderr)
        )
    print(", ".join(f"{count} {VERDICT_WORDS[v]}" for v, count in results["verdicts"].items()))
    print(f"report: {options.output / PAGE}")
    if failed := [item["name"] for item in results["items"] if item["error"]]:
        print(f"error: failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
