"""The options of the commands. Imports here must be fast, because `--help` needs them."""

import inspect
import os
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from modeclust.cli.readers.files import ENDINGS, ending_of, split_container
from modeclust.data.machine import SHARE_TO_READ

BUILT_IN = ("blobs", "breast_cancer", "degrees", "digits", "gaussians", "iris", "moons", "wine")
BANDWIDTHS = ("auto", "knn", "silverman", "scott", "likelihood", "inf")
Kernel = StrEnum("Kernel", ["gaussian", "epanechnikov", "biweight", "cauchy"])
Metric = StrEnum("Metric", ["euclidean", "cosine"])
Method = StrEnum("Method", ["kmodes", "laplacian"])
Solver = StrEnum("Solver", ["bound", "gradient"])
NeighborSearch = StrEnum("NeighborSearch", ["auto", "exact", "approximate"])

# Options in groups, under a heading in the help.
clustering_option = partial(typer.Option, rich_help_panel="Clustering")
column_option = partial(typer.Option, rich_help_panel="Columns")
laplacian_option = partial(typer.Option, rich_help_panel="Clustering by --method laplacian")
reading_option = partial(typer.Option, rich_help_panel="Reading")
output_option = partial(typer.Option, rich_help_panel="Output")
folder_option = partial(output_option, "-o", "--output", metavar="DIR", help="Folder to write.")
file_option = partial(output_option, "-o", "--output", metavar="FILE")


def complete_data(incomplete: str) -> Iterator[str]:
    """Yield the built-in datasets and the files that start with the given text."""
    yield from (name for name in BUILT_IN if name.startswith(incomplete))
    folder, slash, start = incomplete.rpartition("/")
    for path in Path(folder + slash).glob(f"{start}*"):
        yield folder + slash + path.name


def complete_bandwidth(incomplete: str) -> Iterator[str]:
    """Yield "auto" and the bandwidth rules that start with the given text."""
    yield from (name for name in BANDWIDTHS if name.startswith(incomplete))


def check_name(data: str) -> None:
    """Raise an error if DATA is neither a built-in dataset nor the name of a file."""
    from modeclust.datasets import load_dataset

    path, array = split_container(Path(data))
    if not data or ("." not in path.name and not array and not path.exists()):
        load_dataset(data)  # raises an error that lists the built-in datasets


Stream = Annotated[
    bool | None,
    reading_option(
        "--stream/--no-stream",
        show_default=f"if the data takes more than {SHARE_TO_READ:.0%} of memory",
        help="Read Parquet, Zarr, HDF5 or npy data in chunks instead of loading it into memory.",
    ),
]
Header = Annotated[
    bool | None,
    reading_option(
        "--header/--no-header",
        show_default="header, unless the line is numbers",
        help="Whether the first line of a csv or tsv file has the column names.",
    ),
]
Separator = Annotated[
    str | None,
    reading_option(
        metavar="CHAR",
        show_default="comma for csv, tab for tsv",
        help="Field separator of a csv or tsv file, e.g. ';'.",
    ),
]
DecimalComma = Annotated[
    bool | None,
    reading_option(
        "--decimal-comma/--no-decimal-comma",
        show_default="as the columns tell",
        help="Whether 2,5 in a csv or tsv file is the number 2.5, and 1.250 is 1250.",
    ),
]
IdColumn = Annotated[
    str | None,
    column_option(
        metavar="NAME",
        help="Column of row ids. It is not a feature; it is written next to the labels.",
    ),
]
Exclude = Annotated[
    str | None,
    column_option(
        metavar="NAMES", help="Columns to ignore, e.g. id,date. All others are features."
    ),
]


class FitOptions(NamedTuple):
    """The options that `fit` and `explore` share, as the user typed them."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            show_default=False,
            autocompletion=complete_data,
            help=f"A file that ends in one of {', '.join(ENDINGS)}; an array in a Zarr or HDF5 "
            "file, e.g. big.h5/images; a folder of Parquet files; or a built-in dataset: "
            f"{', '.join(BUILT_IN)}.",
        ),
    ]
    n_clusters: Annotated[
        str,
        clustering_option(
            "-k",
            "--clusters",
            metavar="K|auto",
            show_default=False,
            help="Number of clusters. auto: chosen from the data.",
        ),
    ]
    max_clusters: Annotated[
        int | None,
        clustering_option(
            metavar="N",
            min=1,
            show_default="40",
            help="Largest number of clusters that -k auto may choose.",
        ),
    ] = None
    method: Annotated[
        Method,
        clustering_option(
            metavar="METHOD",
            help="kmodes: each row is in the cluster of its nearest center. laplacian: Laplacian "
            "K-modes, whose clusters follow a graph of neighbours and can have any shape; it needs "
            "all rows in memory.",
        ),
    ] = Method.kmodes
    bandwidth: Annotated[
        str,
        clustering_option(
            metavar="auto|NUMBER|RULE",
            autocompletion=complete_bandwidth,
            help="auto: one bandwidth for the labels, then one for each mode, all chosen from the "
            "data. Or one target bandwidth for both: a number; a rule (knn, silverman, scott, "
            "likelihood); a rule with a factor, e.g. 0.4*knn; or inf for K-means (kmodes only). "
            "With --standardize, a number refers to the scaled columns.",
        ),
    ] = "auto"
    rows_per_mode: Annotated[
        str,
        clustering_option(
            metavar="auto|NUMBER",
            help="With --bandwidth auto: how many rows a mode averages. Fewer rows give modes "
            "with more detail and more noise; inf gives means.",
        ),
    ] = "auto"
    kernel: Annotated[
        Kernel,
        clustering_option(metavar="KERNEL", help=f"Kernel of the density: {', '.join(Kernel)}."),
    ] = Kernel.gaussian
    metric: Annotated[
        Metric,
        clustering_option(
            metavar="METRIC",
            help="euclidean, or cosine: rows and modes have length 1, and only directions count, "
            "as is usual for text and embeddings. Bandwidths are then from 0 to 2.",
        ),
    ] = Metric.euclidean
    adaptive: Annotated[
        bool,
        clustering_option("--adaptive", help="Use a separate bandwidth for each row. kmodes only."),
    ] = False
    columns: Annotated[
        str | None,
        column_option(
            metavar="NAMES",
            show_default="all",
            help="Columns to use as features, e.g. height,width. The columns of arrays are named "
            "x0, x1, ...",
        ),
    ] = None
    exclude: Exclude = None
    label_column: Annotated[
        str | None,
        column_option(
            metavar="NAME", help="Column of known classes, to compare the clusters with."
        ),
    ] = None
    weight_column: Annotated[
        str | None, column_option(metavar="NAME", help="Column of sample weights.")
    ] = None
    id_column: IdColumn = None
    kinds: Annotated[
        str | None,
        column_option(
            metavar="NAME=KIND",
            show_default="judged by the values",
            help="What columns of a table are: number, category, date, text or 'left out', e.g. "
            "store=category,note=text.",
        ),
    ] = None
    raw: Annotated[
        bool,
        column_option(
            "--raw",
            help="Take the columns of a table as they are, which must be numbers, none missing. "
            "Otherwise ids are left out, and categories, dates, text and missing values become "
            "numbers of one scale.",
        ),
    ] = False
    standardize: Annotated[
        bool,
        clustering_option(
            "--standardize",
            help="Scale columns to zero mean and unit variance, also if they have one scale. "
            "Sparse data is not centered.",
        ),
    ] = False
    stream: Stream = None
    header: Header = None
    separator: Separator = None
    decimal_comma: DecimalComma = None
    image: Annotated[
        str | None,
        output_option(
            metavar="HxW", help="Show rows as images of this height and width, e.g. 28x28."
        ),
    ] = None
    n_bandwidths: Annotated[
        int | None,
        clustering_option(
            metavar="N",
            min=1,
            show_default="20, or 10 for laplacian",
            help="Number of bandwidths from the start to the target. Not used with --bandwidth "
            "auto.",
        ),
    ] = None
    n_init: Annotated[
        str,
        clustering_option(
            metavar="auto|N",
            help="Number of K-means runs; the one with the lowest inertia starts the path. auto: "
            "a few runs on a sample of the rows, then one on all rows. kmodes only.",
        ),
    ] = "auto"
    seed: Annotated[
        int,
        clustering_option(
            metavar="N", min=0, max=2**32 - 1, help="Seed of the random number generator."
        ),
    ] = 0
    jobs: Annotated[
        int | None,
        clustering_option(metavar="N", show_default="all cores", help="Number of threads."),
    ] = None
    checkpoint: Annotated[
        Path | None,
        clustering_option(
            metavar="FILE",
            help="File in which progress is saved. After an interruption, run the same command "
            "to resume. kmodes only.",
        ),
    ] = None
    smoothing: Annotated[
        str,
        laplacian_option(
            metavar="auto|NUMBER",
            help="Weight of the graph. A larger one gives smoother clusters; 0 ignores the graph.",
        ),
    ] = "auto"
    n_neighbors: Annotated[
        str,
        laplacian_option(
            metavar="auto|N",
            help="Number of nearest neighbours that each row is joined to. auto: a fifth of the "
            "mean cluster size, but at least 4 and at most 10.",
        ),
    ] = "auto"
    neighbor_search: Annotated[
        NeighborSearch,
        laplacian_option(
            metavar="SEARCH",
            help="How neighbours are found: exact; approximate, by faiss; or auto, which is exact "
            "unless there are very many rows and faiss is installed.",
        ),
    ] = NeighborSearch.auto
    solver: Annotated[
        Solver,
        laplacian_option(
            metavar="SOLVER",
            help="bound, or gradient, the solver of the original paper.",
        ),
    ] = Solver.bound

    @property
    def is_built_in(self) -> bool:
        """Whether the data is a built-in dataset."""
        return self.data in BUILT_IN

    @property
    def ending(self) -> str:
        """The ending of the data file, or .csv for a built-in dataset."""
        if self.is_built_in:
            return ".csv"
        check_name(self.data)
        return ending_of(self.data)

    @property
    def stem(self) -> str:
        """The name of the data without folder and ending."""
        if self.is_built_in:
            return self.data
        name, ending = Path(os.path.abspath(self.data)).name, self.ending  # noqa: PTH100
        return name[: -len(ending)] if name.lower().endswith(ending) else name


def with_fit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the first parameter of a command, a `FitOptions`, by the options in it."""
    shared = inspect.signature(FitOptions).parameters.values()
    _, *own = inspect.signature(command).parameters.values()
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*shared, *own)]

    def run(**values: Any) -> None:
        options = FitOptions(**{name: values.pop(name) for name in FitOptions._fields})
        command(options, **values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


Output = Annotated[
    Path | None, folder_option(show_default="DATA.modes, without the ending of DATA")
]
Folder = Annotated[Path, folder_option()]
Page = Annotated[
    Path | None,
    file_option(
        show_default="DATA-report.html, without the ending of DATA", help="HTML page to write."
    ),
]
Labels = Annotated[
    Path, file_option(help="File of labels to write. Its ending determines the format.")
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", show_default=False, help="A model file, or the output folder of fit."
    ),
]
NewData = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        autocompletion=complete_data,
        help="Data in any format that fit reads, with all columns that the model was fitted on.",
    ),
]
Proba = Annotated[
    bool,
    output_option(
        "--proba", help="Write the share of each cluster in each row too: proba_0, proba_1, ..."
    ),
]
Outliers = Annotated[
    bool,
    output_option(
        "--outliers",
        help="Write outlier_score too: how unusual a row is in its cluster. Above 3, a row may be "
        "an outlier.",
    ),
]
Described = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        show_default=False,
        help="A model file, the output folder of fit, or a file of labels of any tool: one column, "
        "or one named label or cluster, and ids beside it. The label -1 is noise.",
    ),
]
ReportedData = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        autocompletion=complete_data,
        help="The rows that were clustered, in any format that fit reads, in the same order unless "
        "labels have ids. All columns are shown.",
    ),
]
Columns = Annotated[
    str | None,
    column_option(
        metavar="NAMES",
        show_default="all but ids, and the others that fit leaves out",
        help="With labels: columns in which the modes are found, e.g. width,height. A model knows "
        "its columns.",
    ),
]
RowNames = Annotated[
    str | None, column_option(metavar="NAME", help="Column with the names of the rows.")
]
TextColumn = Annotated[
    str | None, column_option(metavar="NAME", help="Column with a text for each row.")
]
Image = Annotated[
    str | None,
    output_option(metavar="HxW", help="Show rows as images of this height and width, e.g. 28x28."),
]
Resamples = Annotated[
    int,
    output_option(
        metavar="N",
        min=0,
        show_default="0: not measured",
        help="Measure how stable the clusters of a model are, by this many fits to resamples.",
    ),
]
Force = Annotated[bool, output_option("--force", help="Replace existing output of this command.")]
AsJson = Annotated[bool, output_option("--json", help="Print the results as one JSON object.")]
NoOpen = Annotated[bool, output_option("--no-open", help="Do not open the page in the browser.")]
