"""The commands. What they need is imported when they run, so that `--help` answers at once."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from modeclust import __version__
from modeclust.cli.options import (
    AsJson,
    DecimalComma,
    Exclude,
    Folder,
    Force,
    Header,
    IdColumn,
    Items,
    Job,
    Labels,
    ListItems,
    Model,
    NewData,
    NoOpen,
    Output,
    Page,
    Quick,
    Separator,
    Stream,
    takes_job,
)
from modeclust.cli.printing import print_fit, print_info, print_items, print_json, reason, say, tell
from modeclust.io.atomic import shown

if TYPE_CHECKING:
    from modeclust.cli.job import Fit

UsageError: Any = typer.BadParameter.__base__  # of click, which typer may bring itself


class Commands(TyperGroup):
    """Turns what can go wrong with input into one line and an exit code."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line and end the process."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except UsageError as error:
            if type(error).__name__ != "NoArgsIsHelpError":  # which has shown the help
                hint = f" ({error.ctx.command_path} --help)" if error.ctx else ""
                tell("error", f"{error.format_message().rstrip('.')}{hint}")
            code = error.exit_code
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: tell("warning", message)
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                tell("error", "interrupted")
                raise typer.Exit(130) from None
            except BrokenPipeError:
                raise
            except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
                tell("error", reason(error))
                raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Find exactly K clusters, each with a mode of its own density.",
    epilog=(
        "[bold]Examples[/]\n\nmodeclust demo\n\nmodeclust fit iris -k 3\n\nmodeclust fit --help"
    ),
)


def _examples(*lines: str) -> str:
    return "\n\n".join(["[bold]Examples[/]", *lines])


def _print_version(asked: bool) -> None:
    if asked:
        say(f"modeclust {__version__}")
        raise typer.Exit


@app.callback()
def _modeclust(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


@app.command(
    epilog=_examples(
        "modeclust fit iris -k 3",
        "modeclust fit flowers.csv -k 3 --label-column species --standardize -o flowers.modes",
        "modeclust fit images.npy -k 10 --image 28x28 --bandwidth 2.5 --json",
        "modeclust fit large.npy -k 100 --checkpoint large.checkpoint",
        "modeclust fit parts/ -k 20 --standardize --stream",
    )
)
@takes_job
def fit(job: Job, output: Output = None, force: Force = False, as_json: AsJson = False) -> None:
    """Cluster DATA, and write model, labels, centroids, path and report to a folder."""
    folder = output or Path(f"{job.stem}.modes")
    done = _fit_to_folder(job, folder, force=force)
    if as_json:
        print_json(done)
    else:
        _print_fit(done)
        say("written to", f"{folder}:", ", ".join(done["files"]))


@app.command(
    epilog=_examples(
        "modeclust explore digits -k 10 --bandwidth 0.5",
        "modeclust explore flowers.csv -k 3 --label-column species -o flowers.html --no-open",
    )
)
@takes_job
def explore(
    job: Job,
    output: Page = None,
    force: Force = False,
    no_open: NoOpen = False,
    as_json: AsJson = False,
) -> None:
    """Cluster DATA, and open a page to explore the path of its clusters."""
    from modeclust.cli.folder import check_file, report

    page = output or Path(f"{job.stem}-report.html")
    if page.suffix.lower() != ".html":
        raise ValueError(f"a page must end in .html, got {str(page)!r}.")
    check_file(page, force=force)
    fitted, told = _fit(job)
    report(fitted).save(page)
    told["page"] = shown(page)
    if as_json:
        print_json(told)
    else:
        _print_fit(told)
        say("written to", page)
    if not no_open:
        _open(page)


@app.command(
    epilog=_examples(
        "modeclust predict iris.modes new.csv -o labels.csv",
        "modeclust predict model.npz new.parquet -o labels.parquet --force",
    )
)
def predict(
    model: Model,
    data: NewData,
    output: Labels,
    exclude: Exclude = None,
    id_column: IdColumn = None,
    stream: Stream = None,
    header: Header = None,
    separator: Separator = None,
    decimal_comma: DecimalComma = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the cluster of each row of DATA, by a fitted MODEL."""
    from modeclust.cli.folder import check_file
    from modeclust.cli.formats import TextFormat
    from modeclust.cli.job import parse_columns
    from modeclust.cli.saved import open_model, predict_labels
    from modeclust.cli.tables import check_ids

    check_ids(output, id_column)
    check_file(output, force=force)
    sizes = predict_labels(
        open_model(model),
        data,
        output,
        id_column=id_column,
        exclude=parse_columns(exclude, "--exclude") or (),
        stream=stream,
        text=TextFormat(header, separator, decimal_comma),
    )
    if as_json:
        print_json({"output": shown(output), "n_rows": sum(sizes), "counts": sizes})
    else:
        say(f"{sum(sizes):,} rows, in clusters of", ", ".join(f"{size:,}" for size in sizes))
        say("written to", output)


@app.command(epilog=_examples("modeclust info iris.modes", "modeclust info model.npz --json"))
def info(model: Model, as_json: AsJson = False) -> None:
    """Say what is in a MODEL."""
    from modeclust.cli.saved import describe_model, open_model

    told = describe_model(open_model(model))
    if as_json:
        print_json(told)
    else:
        print_info(told)


@app.command(epilog=_examples("modeclust demo", "modeclust demo -o demo --no-open"))
def demo(
    output: Folder = Path("digits-demo"), no_open: NoOpen = False, force: Force = False
) -> None:
    """Cluster handwritten digits, and open the page of what was found."""
    from modeclust.cli.folder import check_folder
    from modeclust.datasets import load_dataset
    from modeclust.estimators.functions import estimate_bandwidth

    check_folder(output, force=force)
    # Well below the neighbour distance, to average only digits that are much alike.
    bandwidth = estimate_bandwidth(load_dataset("digits").X, random_state=0) / 3
    done = _fit_to_folder(Job("digits", 10, bandwidth=repr(float(bandwidth))), output, force=force)
    _print_fit(done)
    say("written to", f"{output}:", ", ".join(done["files"]))
    say("look at", output / "report.html")
    if not no_open:
        _open(output / "report.html")


@app.command(
    epilog=_examples(
        "modeclust paper",
        "modeclust paper --list",
        "modeclust paper moons degrees -o figures",
    )
)
def paper(
    names: Items = None,
    list_items: ListItems = False,
    output: Folder = Path("kmodes-paper"),
    quick: Quick = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the figures, tables and claims of the K-modes paper, with a verdict on each."""
    from modeclust.cli.folder import Kind, check_folder, swapped_in
    from modeclust.paper.items import check_items, list_of_items
    from modeclust.paper.report import PAGE, WORDS, is_report, owns, write_report

    if list_items:
        wanted = check_items(names or [], to_run=False)
        listed = [item for item in list_of_items() if item["name"] in wanted]
        print_json({"items": listed}) if as_json else print_items(listed)
        return
    chosen = check_items(names or [])
    kind = Kind("paper", owns, is_report)
    check_folder(output, force=force, kind=kind)
    with swapped_in(output, force=force, kind=kind) as part:
        results = write_report(chosen, part, quick=quick, tell=lambda line: say(line, error=True))
    if as_json:
        print_json(results)
    else:
        say(", ".join(f"{count} {WORDS[v]}" for v, count in results["verdicts"].items()))
        say("look at", output / PAGE)
    if failed := [item["name"] for item in results["items"] if item["error"]]:
        tell("error", f"failed: {', '.join(failed)}")
        raise typer.Exit(1)


def _fit(job: Job) -> "tuple[Fit, dict[str, Any]]":
    from modeclust.cli.job import describe, run
    from modeclust.io.checkpoint import describe_checkpoint

    file = job.checkpoint
    if file is not None and file.exists():
        tell("note", f"going on from {shown(file)}: {describe_checkpoint(file)}")
    try:
        fitted = run(job, show_progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        if file is not None and file.exists():
            tell("note", f"the same command goes on from {shown(file)}")
        raise
    return fitted, describe(fitted)


def _fit_to_folder(job: Job, folder: Path, *, force: bool) -> dict[str, Any]:
    from modeclust.cli.folder import check_folder, labels_name, swapped_in, write_results
    from modeclust.cli.tables import check_ids

    check_folder(folder, force=force)
    check_ids(labels_name(job.ending), job.id_column)
    fitted, told = _fit(job)
    with swapped_in(folder, force=force) as part:
        files = write_results(fitted, part, job.ending)
    return {**told, "folder": shown(folder), "files": files}


def _print_fit(told: dict[str, Any]) -> None:
    print_fit(told)
    for warning in told["warnings"]:
        tell("warning", warning)


def _open(page: Path) -> None:
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        tell("warning", "no browser was found to open the page in")
