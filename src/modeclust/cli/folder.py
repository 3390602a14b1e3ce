"""The folders that commands write: whole or not at all, and over nothing but their own kind."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeclust.cli.columns import listed
from modeclust.cli.formats import WRITERS
from modeclust.cli.job import Fit
from modeclust.cli.tables import write_columns, write_labels
from modeclust.estimators.saving import write_model
from modeclust.io.atomic import unused_name
from modeclust.io.model_file import is_document
from modeclust.path import unused_column

MODEL = "model.npz"
MOST_PATH_NUMBERS = 5_000_000  # of centroids in path.csv
LABELS = {f"labels{ending}" for ending in WRITERS}
FILES = {MODEL, "centers.csv", "path.csv", "report.html", "report.json", *LABELS}


class Kind(NamedTuple):
    """A kind of folder, by the command that writes it."""

    command: str
    owns: Callable[[str], bool]  # whether it may hold a file of this name
    wrote: Callable[[Path], bool]  # whether what is in a folder shows that it is of the kind


def _is_of_fit(folder: Path) -> bool:
    """Return whether a folder has a model, and labels as `fit` writes them, in one format."""
    n_labels = sum((folder / name).exists() for name in LABELS)
    return n_labels <= 1 and is_document(folder / MODEL)


FIT = Kind("fit", FILES.__contains__, _is_of_fit)


def check_folder(folder: Path, *, force: bool, kind: Kind = FIT) -> None:
    """Refuse a folder that must not be replaced, or cannot be made."""
    target = Path(os.path.realpath(folder))
    check_parent(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"{str(folder)!r} is a file; name another folder with -o.")
    if target.samefile(Path.cwd()):  # to replace it would leave the shell in a removed folder
        raise ValueError("that is the folder you are in; name one inside it with -o.")
    content = sorted(target.iterdir())
    if foreign := [path.name for path in content if path.is_dir() or not kind.owns(path.name)]:
        raise ValueError(
            f"{str(folder)!r} holds {foreign[0]!r}, which `{kind.command}` did not write; move it "
            "away or name another folder with -o."
        )
    # Others may have a file of such a name too.
    if content and not kind.wrote(target):
        raise ValueError(
            f"{str(folder)!r} holds {listed(path.name for path in content)}, and does not look as "
            f"`{kind.command}` leaves it; move what you need away, remove the rest, or name "
            "another folder with -o."
        )
    if content and not force:
        raise ValueError(
            f"{str(folder)!r} is there already; replace it with --force, or name another with -o."
        )


def check_file(file: Path, *, force: bool) -> None:
    """Refuse a file that must not be replaced, or cannot be made."""
    check_parent(Path(os.path.realpath(file)))
    if file.is_dir():
        raise ValueError(f"{str(file)!r} is a folder; name a file with -o.")
    if file.exists() and not force:
        raise ValueError(
            f"{str(file)!r} is there already; replace it with --force, or name another with -o."
        )


def check_parent(target: Path) -> None:
    """Refuse a place in which nothing can be written."""
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {str(target.parent)!r} to write to; make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ValueError(f"the folder {str(target.parent)!r} is read-only.")


@contextmanager
def swapped_in(folder: Path, *, force: bool, kind: Kind = FIT) -> Iterator[Path]:
    """Yield a new folder that takes its place when all of it is written."""
    target = Path(os.path.realpath(folder))
    part = unused_name(target)
    try:
        part.mkdir()
        yield part
        check_folder(target, force=force, kind=kind)
        if target.exists():
            _swap(part, target, kind)
        else:
            part.rename(target)
    except OSError as error:
        # The user knows the folder by the name that it was to have.
        if error.errno is None:  # as polars raises it
            raise OSError(str(error).replace(str(part), str(folder))) from error
        name = str(folder) if error.filename is None else os.fsdecode(error.filename)
        name = name.replace(str(part), str(folder))
        raise OSError(error.errno, error.strerror, name) from error
    finally:
        if part.exists():
            _remove(part, kind)


def _swap(part: Path, target: Path, kind: Kind) -> None:
    old = unused_name(target)
    target.rename(old)
    try:
        part.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old, kind)


def _remove(folder: Path, kind: Kind) -> None:
    """Remove a folder of a kind, but nothing that its command did not write."""
    for path in list(folder.iterdir()):
        is_part = path.match(".modeclust-*.part")  # of a file that was being written
        if not path.is_dir() and (is_part or kind.owns(path.name)):
            path.unlink()
    folder.rmdir()


def write_results(fit: Fit, folder: Path, ending: str) -> list[str]:
    """Write all files of a fit and return their names."""
    model, table = fit.model, fit.table
    write_model(folder / MODEL, to_save(fit), notes(fit))
    write_labels(folder / labels_name(ending), model.labels_, len(model.counts_), table.ids)
    centers = fit.to_original(model.cluster_centers_)
    columns: dict[str, Any] = {"cluster": np.arange(len(centers)), "count": model.counts_}
    for name, values in zip(table.columns, centers.T, strict=True):
        columns[unused_column(name, columns)] = values
    write_columns(folder / "centers.csv", columns)
    path = model.path_
    if path.centers.size <= MOST_PATH_NUMBERS:
        path = replace(path, centers=fit.to_original(path.centers), feature_names=table.columns)
    else:  # sizes and objectives alone; the model has the rest
        path = replace(path, centers=path.centers[..., :0], feature_names=[])
    write_columns(folder / "path.csv", path.to_frame("dict"))
    page = report(fit, in_folder=True)
    for name in ("report.html", "report.json"):
        page.save(folder / name)
    return sorted(path.name for path in folder.iterdir())


def labels_name(ending: str) -> str:
    """Return the name of the file of labels, in the format of the data."""
    # What arrays are streamed from is no format for a column.
    return f"labels{ending if ending in WRITERS else '.parquet'}"


def report(fit: Fit, *, in_folder: bool = False) -> Any:
    """Return the report of a fit, alone or in its folder; it shows the data as the model saw it."""
    model, table = fit.model, fit.table
    told = [*table.notices, *fit.warnings]
    if fit.scaling is not None:
        beside = "; those of centers.csv are in the units of the data" if in_folder else ""
        told.append(
            f"Columns were scaled to unit variance. Values here are of scaled columns{beside}."
        )
    return model.report(
        table.X,
        table.labels,
        path=None,
        image_shape=table.image_shape,
        feature_names=table.columns,
        title=table.title,
        notes=told,
        sample_weight=table.weight,
    )


def to_save(fit: Fit) -> Any:
    """Return the model with what it did not see in the array that it was fitted on."""
    model, table = copy(fit.model), fit.table
    if table.is_named:
        model.feature_names_in_ = np.array(table.columns, dtype=object)
        model.path_ = replace(model.path_, feature_names=model.feature_names_in_)
    if fit.scaling is not None:
        model.scaling_ = fit.scaling
    return model


def notes(fit: Fit) -> dict[str, Any]:
    """Return what `predict` and `info` need beside the model."""
    classes = None if fit.commonest is None else [name for name, _ in fit.commonest]
    return {
        "data": fit.table.title,
        "columns": fit.table.columns,
        "classes": classes,
    }
