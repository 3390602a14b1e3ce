"""The options of the commands. What is imported here must not slow down `--help`."""

import inspect
import os
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from modeclust.data.machine import SHARE_TO_READ

BUILT_IN = ("blobs", "breast_cancer", "degrees", "digits", "gaussians", "iris", "moons", "wine")
ENDINGS = (
    *(".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather", ".arrow", ".ipc"),
    *(".npy", ".npz", ".mtx", ".mtx.gz", ".zarr", ".h5", ".hdf5"),
)
BANDWIDTHS = ("knn", "silverman", "scott", "likelihood", "inf")


class Kernel(StrEnum):
    """The kernels by name."""

    gaussian = "gaussian"
    epanechnikov = "epanechnikov"
    biweight = "biweight"
    cauchy = "cauchy"


def complete_data(incomplete: str) -> Iterator[str]:
    """Yield names of built-in data and of files that begin so."""
    yield from (name for name in BUILT_IN if name.startswith(incomplete))
    folder, slash, start = incomplete.rpartition("/")
    for path in Path(folder + slash).glob(f"{start}*"):
        yield folder + slash + path.name


def complete_bandwidth(incomplete: str) -> Iterator[str]:
    """Yield rules that begin so."""
    yield from (name for name in BANDWIDTHS if name.startswith(incomplete))


def check_name(data: str) -> None:
    """Refuse what is neither built-in data nor looks like a file."""
    from modeclust.cli.streams import container_of
    from modeclust.datasets import load_dataset

    path, within = container_of(Path(data))
    if not data or ("." not in path.name and not within and not path.exists()):
        load_dataset(data)  # raises, naming those that there are


Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        show_default=f"where the numbers take more than {SHARE_TO_READ:.0%} of memory",
        help="Go over Parquet, Zarr, HDF5 or npy data in chunks, and do not read it at once.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        show_default="names, unless they are numbers",
        help="Whether the first line of csv or tsv names the columns.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        show_default="comma, tab in tsv",
        help="What separates the fields of csv or tsv, e.g. ';'.",
    ),
]
DecimalComma = Annotated[
    bool, typer.Option("--decimal-comma", help="In csv or tsv, 2,5 is two and a half.")
]
IdColumn = Annotated[
    str | None,
    typer.Option(help="Column that tells rows apart: it is no feature, but beside the labels."),
]
Exclude = Annotated[
    str | None, typer.Option(help="Columns to leave out, e.g. id,date, and use all others.")
]


class Job(NamedTuple):
    """What the user asks of `fit` and `explore`, as it was typed."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            show_default=False,
            autocompletion=complete_data,
            help=f"A file that ends in one of {', '.join(ENDINGS)} (big.h5/images is the array "
            "images in it), a folder of Parquet files, or built-in data: "
            f"{', '.join(BUILT_IN)}.",
        ),
    ]
    n_clusters: Annotated[
        int,
        typer.Option("-k", "--clusters", min=1, show_default=False, help="Number of clusters."),
    ]
    bandwidth: Annotated[
        str,
        typer.Option(
            autocompletion=complete_bandwidth,
            help="A number, a rule (knn, silverman, scott, likelihood), a part of one (knn/3), or "
            "inf for K-means. With --standardize a number is a distance between scaled rows.",
        ),
    ] = "knn"
    kernel: Annotated[
        Kernel, typer.Option(metavar="KERNEL", help=f"One of {', '.join(Kernel)}.")
    ] = Kernel.gaussian
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Give each row a bandwidth of its own.")
    ] = False
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, e.g. height,width; x0,x1 of arrays.")
    ] = None
    exclude: Exclude = None
    label_column: Annotated[
        str | None, typer.Option(help="Column of classes, to compare the clusters with.")
    ] = None
    weight_column: Annotated[str | None, typer.Option(help="Column of sample weights.")] = None
    id_column: IdColumn = None
    standardize: Annotated[
        bool,
        typer.Option(
            "--standardize",
            help="Scale columns to zero mean and unit variance; sparse data is not centred.",
        ),
    ] = False
    stream: Stream = None
    header: Header = None
    separator: Separator = None
    decimal_comma: DecimalComma = False
    image: Annotated[
        str | None, typer.Option(metavar="HxW", help="Show rows as images, e.g. of 28x28 pixels.")
    ] = None
    n_bandwidths: Annotated[
        int, typer.Option(min=1, help="Bandwidths from K-means to the target.")
    ] = 20
    n_init: Annotated[
        int, typer.Option(min=1, help="K-means runs, of which the best is followed.")
    ] = 10
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random numbers.")] = 0
    jobs: Annotated[
        int | None, typer.Option(show_default="all cores", help="Number of threads.")
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep in this file how far the fit is; after an interruption, the same command "
            "goes on from there.",
        ),
    ] = None

    @property
    def is_built_in(self) -> bool:
        """Return whether the data comes with the library."""
        return self.data in BUILT_IN

    @property
    def ending(self) -> str:
        """Return the ending of the data, that of csv for built-in data."""
        from modeclust.cli.formats import ending_of

        if self.is_built_in:
            return ".csv"
        check_name(self.data)
        return ending_of(self.data)

    @property
    def stem(self) -> str:
        """Return the name of the data without folder and ending."""
        if self.is_built_in:
            return self.data
        name, ending = Path(os.path.abspath(self.data)).name, self.ending  # noqa: PTH100
        return name[: -len(ending)] if name.lower().endswith(ending) else name


def takes_job(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a job, in place of its first parameter."""
    shared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=Job._field_defaults.get(name, inspect.Parameter.empty),
            annotation=annotation,
        )
        for name, annotation in Job.__annotations__.items()
    ]
    _, *own = inspect.signature(command).parameters.values()
    parameters = [*shared, *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own)]

    def run(**options: Any) -> None:
        job = Job(**{name: options.pop(name) for name in Job._fields})
        command(job, **options)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="The folder to write, by default named after DATA."
    ),
]
Folder = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to write.")]
Page = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="The page to write, by default named after DATA."
    ),
]
Labels = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="FILE", help="The labels to write; the ending says the format."
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        show_default=False,
        help="The file of a model, or the folder that fit wrote.",
    ),
]
NewData = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        autocompletion=complete_data,
        help="Data as for fit, with at least the columns of the model.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what was written before.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open the page in the browser.")]
