"""The commands. They import what they need when they run, so that `--help` is fast."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from modeclust import __version__
from modeclust.cli import options as opts
from modeclust.cli.options import FitOptions, with_fit_options
from modeclust.cli.printing import print_fit, print_info, print_json, reason, say, tell
from modeclust.io.atomic import shown

if TYPE_CHECKING:
    from modeclust.cli.fit import Fit

UsageError: Any = typer.BadParameter.__base__  # from click, which typer may bundle


class Commands(TyperGroup):
    """Reports errors in the input as one line and an exit code."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line, and exit."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except UsageError as error:
            if type(error).__name__ != "NoArgsIsHelpError":  # the help was shown
                hint = f" ({error.ctx.command_path} --help)" if error.ctx else ""
                # pydantic, which typer may use, has this prefix.
                message = error.format_message().replace("Value error, ", "")
                tell("error", f"{message.rstrip('.')}{hint}")
            code = error.exit_code
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and report errors and warnings."""
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


def _examples(*lines: str) -> str:
    return "\n\n".join(["[bold]Examples[/]", *lines])


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="K-modes clustering: find K clusters and the mode of each, a typical, denoised row.",
    epilog=_examples("modeclust demo", "modeclust fit iris -k 3", "modeclust fit --help"),
)


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
        "modeclust fit customers.csv -k auto",
        "modeclust fit images.npy -k 10 --image 28x28 --bandwidth 2.5 --json",
        "modeclust fit moons -k 2 --method laplacian",
        "modeclust fit large.npy -k 100 --checkpoint large.checkpoint",
        "modeclust fit parts/ -k 20 --standardize --stream",
    )
)
@with_fit_options
def fit(
    options: FitOptions,
    output: opts.Output = None,
    force: opts.Force = False,
    as_json: opts.AsJson = False,
) -> None:
    """Cluster DATA, and write the model, labels, modes, path and report to a folder."""
    folder = output or Path(f"{options.stem}.modes")
    _fit_to_folder(options, folder, force=force, as_json=as_json)


@app.command(
    epilog=_examples(
        "modeclust explore digits -k 10 --bandwidth 0.5",
        "modeclust explore flowers.csv -k 3 --label-column species -o flowers.html --no-open",
    )
)
@with_fit_options
def explore(
    options: FitOptions,
    output: opts.Page = None,
    force: opts.Force = False,
    no_open: opts.NoOpen = False,
    as_json: opts.AsJson = False,
) -> None:
    """Cluster DATA, and open a page in the browser to explore the clusters along the path."""
    from modeclust.cli.folder import report

    page = _checked_page(output, options, force=force)
    fitted, results = _fit(options)
    with _resumable(options.checkpoint):
        report(fitted).save(page)
    results["page"] = shown(page)
    _print_fit(results, page, as_json=as_json)
    if not no_open:
        _open(page)


@app.command(
    epilog=_examples(
        "modeclust predict iris.modes new.csv -o labels.csv",
        "modeclust predict model.npz new.parquet -o labels.parquet --force",
        "modeclust predict iris.modes new.csv -o labels.csv --proba --outliers",
    )
)
def predict(
    model: opts.Model,
    data: opts.NewData,
    output: opts.Labels,
    exclude: opts.Exclude = None,
    id_column: opts.IdColumn = None,
    stream: opts.Stream = None,
    header: opts.Header = None,
    separator: opts.Separator = None,
    decimal_comma: opts.DecimalComma = None,
    proba: opts.Proba = False,
    outliers: opts.Outliers = False,
    force: opts.Force = False,
    as_json: opts.AsJson = False,
) -> None:
    """Assign each row of DATA to a cluster of MODEL, and write the labels."""
    from modeclust.cli.fit import parse_columns
    from modeclust.cli.folder import check_file
    from modeclust.cli.readers.csv_files import CsvFormat
    from modeclust.cli.readers.options import ReadOptions
    from modeclust.cli.saved_model import open_model, predict_labels
    from modeclust.cli.writers import check_columns

    check_columns(output, id_column=id_column, proba=proba, outliers=outliers)
    check_file(output, force=force)
    options = ReadOptions(
        id_column=id_column,
        exclude=parse_columns(exclude, "--exclude") or (),
        stream=stream,
        csv_format=CsvFormat(header, separator, decimal_comma),
    )
    methods = {"proba": "predict_proba"} if proba else {}
    methods |= {"outlier_score": "score_outliers"} if outliers else {}
    counts = predict_labels(open_model(model), data, output, options, methods)
    if as_json:
        print_json({"output": shown(output), "n_rows": sum(counts), "counts": counts})
    else:
        sizes = ", ".join(f"{count:,}" for count in counts)
        say(f"{sum(counts):,} rows; cluster sizes: {sizes}")
        say("wrote", output)


@app.command(
    epilog=_examples(
        "modeclust report iris.modes flowers.csv -o flowers.html",
        "modeclust report labels.csv customers.csv --id-column name --text-column comment",
    )
)
def report(
    model: opts.Described,
    data: opts.ReportedData,
    output: opts.Page = None,
    columns: opts.Columns = None,
    id_column: opts.RowNames = None,
    text_column: opts.TextColumn = None,
    image: opts.Image = None,
    stability: opts.Resamples = 0,
    header: opts.Header = None,
    separator: opts.Separator = None,
    decimal_comma: opts.DecimalComma = None,
    force: opts.Force = False,
    no_open: opts.NoOpen = False,
) -> None:
    """Show the clusters of MODEL, or of labels of any tool, with all columns of DATA."""
    from modeclust.cli.fit import parse_columns
    from modeclust.cli.readers.csv_files import CsvFormat
    from modeclust.cli.report import ReportOptions, make_page

    page = _checked_page(output, FitOptions(data, "1"), force=force)
    csv_format = CsvFormat(header, separator, decimal_comma)
    chosen = parse_columns(columns)
    made = make_page(
        ReportOptions(model, data, chosen, id_column, text_column, image, stability, csv_format)
    )
    made.save(page)
    say("wrote", page)
    if not no_open:
        _open(page)


@app.command(epilog=_examples("modeclust info iris.modes", "modeclust info model.npz --json"))
def info(model: opts.Model, as_json: opts.AsJson = False) -> None:
    """Show the parameters and clusters of MODEL."""
    from modeclust.cli.saved_model import describe_model, open_model

    description = describe_model(open_model(model))
    if as_json:
        print_json(description)
    else:
        print_info(description)


@app.command(epilog=_examples("modeclust demo", "modeclust demo -o demo --no-open"))
def demo(
    output: opts.Folder = Path("digits-demo"),
    no_open: opts.NoOpen = False,
    force: opts.Force = False,
) -> None:
    """Cluster images of handwritten digits, and open a page with the result in the browser."""
    from modeclust.cli.folder import check_folder

    check_folder(output, force=force)
    _fit_to_folder(FitOptions("digits", "10"), output, force=force)
    say("open", output / "report.html", "in a browser to see the result")
    if not no_open:
        _open(output / "report.html")


def _checked_page(output: Path | None, options: FitOptions, *, force: bool) -> Path:
    """Return the file of the page, or raise an error if it cannot be written."""
    from modeclust.cli.folder import check_file

    page = output or Path(f"{options.stem}-report.html")
    if page.suffix.lower() != ".html":
        raise ValueError(f"the page must end in .html, got {str(page)!r}.")
    check_file(page, force=force)
    return page


def _fit(options: FitOptions) -> "tuple[Fit, dict[str, Any]]":
    from modeclust.cli.fit import describe_fit, fit_data
    from modeclust.io.checkpoint import describe_checkpoint

    file = options.checkpoint
    if file is not None and file.exists():
        tell("note", f"resuming from {shown(file)}: {describe_checkpoint(file)}")
    try:
        fitted = fit_data(options, show_progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        _tell_how_to_resume(file)
        raise
    return fitted, describe_fit(fitted)


@contextmanager
def _resumable(checkpoint: Path | None) -> Iterator[None]:
    """Remove the checkpoint of a fit when its results are written, and not before."""
    try:
        yield
    except BaseException:
        _tell_how_to_resume(checkpoint)
        raise
    if checkpoint is not None:
        try:
            Path(os.path.realpath(checkpoint)).unlink(missing_ok=True)
        except OSError as error:
            tell("warning", f"the checkpoint could not be removed: {error}")


def _tell_how_to_resume(checkpoint: Path | None) -> None:
    if checkpoint is not None and checkpoint.exists():
        tell("note", f"run the same command to resume from {shown(checkpoint)}")


def _fit_to_folder(
    options: FitOptions, folder: Path, *, force: bool, as_json: bool = False
) -> None:
    from modeclust.cli.folder import check_folder, labels_name, swapped_in, write_results
    from modeclust.cli.writers import check_columns

    check_folder(folder, force=force)
    check_columns(labels_name(options.ending), id_column=options.id_column)
    fitted, results = _fit(options)
    with _resumable(options.checkpoint), swapped_in(folder, force=force) as part:
        files = write_results(fitted, part, options.ending)
    results |= {"folder": shown(folder), "files": files}
    _print_fit(results, f"{folder}: {', '.join(files)}", as_json=as_json)


def _print_fit(results: dict[str, Any], written: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(results)
        return
    print_fit(results)
    for warning in results["warnings"]:
        tell("warning", warning)
    say("wrote", written)


def _open(page: Path) -> None:
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        tell("warning", f"no browser was found; open {page} yourself")
