"""Printing: results on the standard output, everything else on the standard error."""

import json
import math
import os
import re
import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table as Grid
from rich.text import Text

# The extra that installs a package, if it is not `cli`.
EXTRAS = {
    "matplotlib": "plot",
    "dask": "dask",
    "zarr": "zarr",
    "h5py": "hdf5",
    "faiss": "approximate",
}
# Names in messages of the library, and the options that they stand for.
OPTION_NAMES = [
    (re.compile(pattern), option)
    for pattern, option in (
        (r"\bn_clusters\b", "--clusters"),
        (r"\bmax_clusters\b", "--max-clusters"),
        (r"\bn_(bandwidths|init|neighbors)\b", r"--n-\1"),
        (r"\bneighbor_search\b", "--neighbor-search"),
        (r"\brows_per_mode\b", "--rows-per-mode"),
        (r"\bn_jobs\b", "--jobs"),
        (r"\brandom_state\b", "--seed"),
        (r"`?\bsample_weight\b`?|\bSample weights\b", "--weight-column"),
        (r"\bkinds names\b", "--kinds names"),
        # Without "=", these are plain words.
        (r"\b(bandwidth|kernel|metric|adaptive|checkpoint|smoothing|solver)=", r"--\1="),
        (r"\brows of X(, n_samples=)?", lambda match: "rows, " if match[1] else "rows"),
        (r"\bNone or -1\b", "-1"),
        (r"\bnp\.inf( to KModes)?\b", "inf"),
    )
]
MAX_CLUSTERS, MAX_PAIRS, MAX_VALUES = 50, 10, 20


def clean(text: Any) -> str:
    """Return text in one line, with control characters escaped."""
    joined = " ".join(str(text).split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in joined)


def say(*words: Any, style: str = "") -> None:
    """Print one line without interpreting markup."""
    console().print(Text(clean(" ".join(str(word) for word in words)), style=style))


def tell(kind: str, message: Any) -> None:
    """Print an error, a warning or a note in one line."""
    color = "bold red" if kind == "error" else "yellow"
    console(error=True).print(Text.assemble((f"{kind}:", color), " ", clean(message)))


def console(*, error: bool = False) -> Console:
    """Return a console for the current standard output or error, which does not wrap lines."""
    return Console(stderr=error, soft_wrap=True, markup=False, emoji=False, highlight=False)


def print_json(value: Any) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(_finite(value), indent=2, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    """Return a value with None in place of NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def reason(error: BaseException) -> str:
    """Return the message of an error, in terms of the command line."""
    if isinstance(error, OSError) and error.strerror:
        name = "" if error.filename is None else f"{os.fsdecode(error.filename)!r}: "
        return f"{name}{error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return f"{package} is not installed; pip install 'modeclust[{EXTRAS.get(package, 'cli')}]'"
    from modeclust.cli.readers.files import TableError

    if isinstance(error, TableError):  # may quote names from the file
        return str(error)
    return use_option_names(str(error)) or type(error).__name__


def use_option_names(text: str) -> str:
    """Replace the names of parameters by those of options, except in quotes."""
    start, *others = re.split("('[^']*')", text)
    for pattern, option in OPTION_NAMES:
        start = pattern.sub(option, start)
    return start + (others[0] + use_option_names("".join(others[1:])) if others else "")


def print_fit(results: dict[str, Any]) -> None:
    """Print the results that `describe_fit` returns."""
    scaled = ", standardized" if results["standardized"] else ""
    scaled += ", metric cosine" if results["metric"] == "cosine" else ""
    size = _format_size(results)
    say(f"{results['data']}: {size}{scaled}", style="bold")
    bandwidth, objective = _format_bandwidth(results["bandwidth"]), f"{results['objective']:.4f}"
    if results["smoothing"] is not None:
        objective += f", smoothing {results['smoothing']:.4g}"
    if results["rule"] == "auto":
        rows = _format_rows([cluster["rows_averaged"] for cluster in results["clusters"]])
        say(f"auto: labels at bandwidth {bandwidth}, objective {objective}; modes average {rows}")
    else:
        rule = f" ({results['rule']})" if results["rule"] else ""
        say(f"bandwidth {bandwidth}{rule}, objective {objective}")
    if results["suggestion"]:
        n_taken = results["n_clusters"]
        sure = results["suggestion"]["is_sure"]
        taken = "" if sure else f"; {n_taken} are taken, -k chooses another number"
        answer = use_option_names(results["suggestion"]["answer"])
        say(f"number of clusters: {answer}{taken}")
    print_clusters(results["clusters"], results["start"])
    pairs = results["redundant"]
    if results["too_wide_for_redundancy"]:
        if results["rule"] != "auto":  # whose bandwidth nearly always is
            say(
                f"redundant clusters: bandwidth {bandwidth} is too wide to tell; to compare "
                "clusters, pass a smaller one"
            )
    elif pairs:
        first = ", ".join(f"{i} and {j}" for i, j in pairs[:MAX_PAIRS])
        more = f" and {len(pairs) - MAX_PAIRS} more pairs" if len(pairs) > MAX_PAIRS else ""
        say(f"redundant clusters (no dip in density between them): {first}{more}")


def print_clusters(clusters: list[dict[str, Any]], start: str) -> None:
    """Print a table with one line for each cluster; `start` is that of the path."""
    grid = Grid(box=None, header_style="dim", pad_edge=False)
    has_classes = "class" in clusters[0]
    names = ("cluster", "size", "rows\naveraged", "exemplar row\n(from 0)")
    for name in (*names, f"moved from\n{start} mean"):
        grid.add_column(name, justify="right", no_wrap=True)
    if has_classes:
        grid.add_column("most common class", overflow="fold")
    for cluster in clusters[:MAX_CLUSTERS]:
        exemplar = cluster["exemplar"]
        cells = [
            str(cluster["cluster"]),
            f"{cluster['count']:,}",
            f"{cluster['rows_averaged']:,.0f}",
            str(exemplar) if exemplar >= 0 else "none",
            f"{cluster['moved']:.3g}",
        ]
        if has_classes:
            known = cluster["class"] is not None
            cells.append(f"{clean(cluster['class'])}, {cluster['share']:.0%}" if known else "")
        grid.add_row(*(Text(cell) for cell in cells))
    console().print(grid, soft_wrap=False)
    if len(clusters) > MAX_CLUSTERS:
        say(f"... and {len(clusters) - MAX_CLUSTERS} more clusters")


def print_info(info: dict[str, Any]) -> None:
    """Print what `describe_model` returns."""
    say(f"{info['class']} model, saved by modeclust {info['version']}", style="bold")
    if info["data"]:
        say(f"data: {info['data']}")
    say(f"fitted on {_format_size(info)}")
    if info["columns"]:
        say(f"columns: {_format_values(info['columns'])}")
    if info["scales"]:
        means = "" if info["means"] is None else f"means {_format_values(info['means'])}; "
        say(f"standardized: {means}standard deviations {_format_values(info['scales'])}")
    if info["preparation"]:
        names = [f"{r['column']} ({r['kind'] or r['left_out']})" for r in info["preparation"]]
        say(f"prepared: {_format_values(names)}")
    own = info["mode_bandwidths"]
    labels = "labels " if own and info["parameters"].get("bandwidth") == "auto" else ""
    modes = f"; modes {_format_values(own)}" if labels else ""
    say(f"bandwidth: {labels}{_format_bandwidth(info['bandwidth'])}{modes}")
    say(f"clusters: {info['n_clusters']}, with {_format_values(info['counts'])} rows")
    if info["rows_averaged"]:
        say(f"rows averaged: {_format_values([f'{n:,.0f}' for n in info['rows_averaged']])}")
    if info["classes"]:
        say(f"most common classes: {_format_values(info['classes'])}")
    say(f"parameters: {', '.join(f'{k}={v!r}' for k, v in info['parameters'].items())}")


def _format_bandwidth(bandwidth: float | None) -> str:
    return "infinite (K-means)" if bandwidth is None else f"{bandwidth:.4g}"


def _format_rows(rows_averaged: list[float]) -> str:
    import numpy as np

    from modeclust.plotting.clustering import row_range

    return row_range(np.array(rows_averaged))


def _format_values(values: list[Any]) -> str:
    """Return the first values as text."""
    shown = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in values[:MAX_VALUES]]
    more = f" and {len(values) - MAX_VALUES} more" if len(values) > MAX_VALUES else ""
    return ", ".join(shown) + more


def _format_size(results: dict[str, Any]) -> str:
    """Return how many rows and features were clustered, and of how many columns these are."""
    size = f"{results['n_rows']:,} rows x {results['n_features']:,} features"
    used = sum(column["features"] > 0 for column in results["preparation"] or ())
    return f"{size} of {used:,} column{'' if used == 1 else 's'}" if used else size


class FitProgress(Progress):
    """Progress bars of a fit, as a callback for scikit-learn's estimators."""

    def __init__(self) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        super().__init__(*columns, console=console(error=True), transient=True)
        # The bandwidth is estimated, and the graph is built, before the first stage.
        self._stages = {"prepare": self.add_task("prepare", total=None)}

    def setup(self, estimator: Any, context: Any) -> None:
        """Remove the bar that is shown before the first stage."""
        self.remove_task(self._stages.pop("prepare"))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Add a bar for each stage."""
        if context.parent is not None and context.max_subtasks:
            name = context.task_name
            self._stages[name] = self.add_task(name, total=context.max_subtasks)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Advance the bar of the current stage."""
        stage = self._stages.get(context.parent.task_name) if context.parent else None
        if stage is not None:
            self.advance(stage)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing; the bars stop when the context ends."""
