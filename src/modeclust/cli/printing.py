"""What the commands print: results on the standard output, all else on the error output."""

import json
import math
import os
import re
import sys
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table as Grid
from rich.text import Text

# In which extra a package is, where not in that of the command line.
EXTRAS = {
    "matplotlib": "plot",
    "dask": "dask",
    "zarr": "zarr",
    "h5py": "hdf5",
}
# What the library says, to those who type: parameters are options.
WORDS = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\bn_clusters\b", "--clusters"),
        (r"\bn_bandwidths\b", "--n-bandwidths"),
        (r"\bn_init\b", "--n-init"),
        (r"\bn_jobs\b", "--jobs"),
        (r"\brandom_state\b", "--seed"),
        (r"`?\bsample_weight\b`?|\bSample weights\b", "--weight-column"),
        (r"\b(bandwidth|kernel|adaptive|checkpoint)=", r"--\1="),  # without a sign they are words
        (r"\brows of X(, n_samples=)?", lambda found: "rows, " if found[1] else "rows"),
        (r"\bNone or -1\b", "-1"),
        (r"\bnp\.inf( to KModes)?\b", "inf"),
    )
]
MOST_CLUSTERS, MOST_PAIRS, MOST_VALUES = 50, 10, 20


def clean(text: Any) -> str:
    """Return text of one line that cannot steer a terminal."""
    joined = " ".join(str(text).split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in joined)


def say(*words: Any, error: bool = False, style: str = "") -> None:
    """Print one line, literally."""
    console(error=error).print(Text(clean(" ".join(str(word) for word in words)), style=style))


def tell(kind: str, message: Any) -> None:
    """Print one line of an error or a warning."""
    color = "bold red" if kind == "error" else "yellow"
    console(error=True).print(Text.assemble((f"{kind}:", color), " ", clean(message)))


def console(*, error: bool = False) -> Console:
    """Return what prints to the streams of this moment, long lines as they are."""
    return Console(stderr=error, soft_wrap=True, markup=False, emoji=False, highlight=False)


def print_json(value: Any) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(_finite(value), indent=2, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    """Return a value with None for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def reason(error: BaseException) -> str:
    """Return what an error says, in the user's words."""
    if isinstance(error, OSError) and error.strerror:
        name = "" if error.filename is None else f"{os.fsdecode(error.filename)!r}: "
        return f"{name}{error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        extra = EXTRAS.get(package, "cli")
        return f"{package} is not installed; pip install 'modeclust[{extra}]'"
    from modeclust.cli.columns import TableError

    if isinstance(error, TableError):  # which is of files, and may quote what is in them
        return str(error)
    return in_options(str(error)) or type(error).__name__


def in_options(text: str) -> str:
    """Return what the library says of its parameters, said of the options; quotes stay."""
    said, *others = re.split("('[^']*')", text)
    for pattern, words in WORDS:
        said = pattern.sub(words, said)
    return said + (others[0] + in_options("".join(others[1:])) if others else "")


def print_fit(told: dict[str, Any]) -> None:
    """Print what `describe` returns."""
    rule = f" ({told['rule']})" if told["rule"] else ""
    scaled = ", standardized" if told["standardized"] else ""
    say(
        f"{told['data']}: {told['n_rows']:,} rows x {told['n_features']:,} features{scaled}",
        style="bold",
    )
    say(f"bandwidth {_bandwidth(told)}{rule}, objective {told['objective']:.4f}")
    print_clusters(told["clusters"])
    if pairs := told["redundant"]:
        first = ", ".join(f"{i} and {j}" for i, j in pairs[:MOST_PAIRS])
        more = f" and {len(pairs) - MOST_PAIRS} more pairs" if len(pairs) > MOST_PAIRS else ""
        say(f"redundant (no dip of the density between them): {first}{more}")


def print_clusters(clusters: list[dict[str, Any]]) -> None:
    """Print one line for each cluster."""
    grid = Grid(box=None, header_style="dim", pad_edge=False)
    has_classes = "class" in clusters[0]
    for name in ("cluster", "size", "exemplar row\n(from 0)", "moved since K-means"):
        grid.add_column(name, justify="right", no_wrap=True)
    if has_classes:
        grid.add_column("commonest class", overflow="fold")
    for cluster in clusters[:MOST_CLUSTERS]:
        exemplar = cluster["exemplar"]
        cells = [
            str(cluster["cluster"]),
            f"{cluster['count']:,}",
            str(exemplar) if exemplar >= 0 else "none",
            f"{cluster['moved']:.3g}",
        ]
        if has_classes:
            known = cluster["class"] is not None
            cells.append(f"{clean(cluster['class'])}, {cluster['share']:.0%}" if known else "")
        grid.add_row(*(Text(cell) for cell in cells))
    console().print(grid, soft_wrap=False)
    if len(clusters) > MOST_CLUSTERS:
        say(f"... and {len(clusters) - MOST_CLUSTERS} more clusters")


def print_info(told: dict[str, Any]) -> None:
    """Print what `describe_model` returns."""
    say(f"{told['class']} of modeclust {told['version']}", style="bold")
    if told["data"]:
        say(f"data: {told['data']}")
    say(f"fitted on {told['n_rows']:,} rows x {told['n_features']:,} features")
    if told["columns"]:
        say(f"columns: {_some(told['columns'])}")
    if told["scales"]:
        means = "" if told["means"] is None else f" less means {_some(told['means'])}"
        say(f"standardized: columns{means} over scales {_some(told['scales'])}")
    say(f"bandwidth: {_bandwidth(told)}")
    say(f"{told['n_clusters']} clusters of {_some(told['counts'])} rows")
    if told["classes"]:
        say(f"commonest classes: {_some(told['classes'])}")
    say(f"parameters: {', '.join(f'{k}={v!r}' for k, v in told['parameters'].items())}")


def _bandwidth(told: dict[str, Any]) -> str:
    bandwidth = told["bandwidth"]
    return "infinite (K-means)" if bandwidth is None else f"{bandwidth:.4g}"


def _some(values: list[Any]) -> str:
    """Return values as text, of which a long list is cut."""
    shown = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in values[:MOST_VALUES]]
    more = f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
    return ", ".join(shown) + more


class Progress:
    """How far a fit is, as bars on a terminal: a callback for scikit-learn's estimators."""

    def __init__(self) -> None:
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=console(error=True),
            transient=True,
        )
        self._stages: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        # Before the first stage there is the bandwidth to estimate.
        self._stages["prepare"] = self._bars.add_task("prepare", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin a fit."""
        self._bars.remove_task(self._stages.pop("prepare"))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Show a bar for each stage."""
        if context.parent is not None and context.max_subtasks:
            name = context.task_name
            self._stages[name] = self._bars.add_task(name, total=context.max_subtasks)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Move the bar of the stage that a step belongs to."""
        stage = self._stages.get(context.parent.task_name) if context.parent else None
        if stage is not None:
            self._bars.advance(stage)

    def teardown(self, estimator: Any, context: Any) -> None:
        """End a fit."""
