"""Output folders: written completely or not at all, and never in place of other files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from modeclust.cli.fit import OTHERWISE, Fit, describe_preparation, find_ids
from modeclust.cli.readers.files import listed
from modeclust.cli.report_page import page_of
from modeclust.cli.writers import WRITERS, write_columns, write_labels
from modeclust.estimators.saving import write_model
from modeclust.io.atomic import unused_name
from modeclust.io.model_file import is_document
from modeclust.path import unused_column

MODEL, COLUMNS = "model.npz", "columns.csv"
MAX_PATH_VALUES = 5_000_000  # larger paths are written without the modes
LABELS = {f"labels{ending}" for ending in WRITERS}
FILES = {MODEL, COLUMNS, "modes.csv", "path.csv", "report.html", "report.json", *LABELS}


def check_folder(folder: Path, *, force: bool) -> None:
    """Raise an error if a folder must not be replaced or cannot be created."""
    target = Path(os.path.realpath(folder))
    check_parent(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"{str(folder)!r} is a file; choose a folder with -o.")
    if target.samefile(Path.cwd()):  # replacing it would leave the shell in a deleted folder
        raise ValueError("the current folder cannot be replaced; choose another one with -o.")
    content = sorted(target.iterdir())
    if foreign := [path.name for path in content if path.is_dir() or path.name not in FILES]:
        raise ValueError(
            f"{str(folder)!r} holds {foreign[0]!r}, which `fit` did not write; move it, "
            "or choose another folder with -o."
        )
    # Other programs use some of these names too. `fit` writes a model, and labels in one format.
    n_labels = sum(path.name in LABELS for path in content)
    if content and (n_labels > 1 or not is_document(target / MODEL)):
        raise ValueError(
            f"{str(folder)!r} holds {listed(path.name for path in content)}, which does not look "
            f"like the output of `fit`; move or delete the files, or choose another "
            "folder with -o."
        )
    if content and not force:
        raise ValueError(
            f"{str(folder)!r} already exists; replace it with --force, or choose another folder "
            "with -o."
        )


def check_file(file: Path, *, force: bool) -> None:
    """Raise an error if a file must not be replaced or cannot be created."""
    check_parent(Path(os.path.realpath(file)))
    if file.is_dir():
        raise ValueError(f"{str(file)!r} is a folder; choose a file with -o.")
    if file.exists() and not force:
        raise ValueError(
            f"{str(file)!r} already exists; replace it with --force, or choose another file "
            "with -o."
        )


def check_parent(target: Path) -> None:
    """Raise an error if the parent folder does not exist or is not writable."""
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {str(target.parent)!r}; create it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ValueError(f"the folder {str(target.parent)!r} is not writable.")


@contextmanager
def swapped_in(folder: Path, *, force: bool) -> Iterator[Path]:
    """Yield a temporary folder, and move it to `folder` when it is complete."""
    target = Path(os.path.realpath(folder))
    part = unused_name(target)
    try:
        part.mkdir()
        yield part
        check_folder(target, force=force)
        if target.exists():
            _swap(part, target)
        else:
            part.rename(target)
    except OSError as error:
        # Name the folder that the user asked for instead of the temporary one.
        if error.errno is None:  # errors of polars
            raise OSError(str(error).replace(str(part), str(folder))) from error
        name = str(folder) if error.filename is None else os.fsdecode(error.filename)
        name = name.replace(str(part), str(folder))
        raise OSError(error.errno, error.strerror, name) from error
    finally:
        if part.exists():
            _remove(part)


def _swap(part: Path, target: Path) -> None:
    old = unused_name(target)
    target.rename(old)
    try:
        part.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old)


def _remove(folder: Path) -> None:
    """Delete a folder; fail if it has files that `fit` did not write."""
    for path in list(folder.iterdir()):
        is_part = path.match(".modeclust-*.part")  # an incomplete file
        if not path.is_dir() and (is_part or path.name in FILES):
            path.unlink()
    folder.rmdir()


def write_results(fit: Fit, folder: Path, ending: str) -> list[str]:
    """Write all files of a fit, and return their names."""
    model, table = fit.model, fit.table
    classes = None if fit.common_classes is None else [name for name, _ in fit.common_classes]
    # What `predict` and `info` read besides the model.
    notes = {
        "data": table.title,
        "columns": table.columns,
        "classes": classes,
        "ids": list(table.ids) if table.ids else None,
    }
    write_model(folder / MODEL, to_save(fit), notes, fit.preparation)
    ids = table.ids or find_ids(fit.preparation, table.frame)
    write_labels(folder / labels_name(ending), model.labels_, len(model.counts_), ids)
    columns: dict[str, Any] = {
        "cluster": np.arange(len(model.modes_)),
        "count": model.counts_,
        "rows_averaged": model.rows_averaged_,
    }
    _write_modes(folder / "modes.csv", columns, fit, model.modes_)
    centers: Any = model.path_.centers.reshape(-1, model.n_features_in_)
    steps = list(model.path_.to_frame("dict").items())[: -centers.shape[1]]
    centers = centers if centers.size <= MAX_PATH_VALUES else None  # the model has the modes
    _write_modes(folder / "path.csv", dict(steps), fit, centers)
    if (prepared := describe_preparation(fit.preparation)) is not None:
        columns = {name: [row[name] for row in prepared] for name in prepared[0]}
        write_columns(folder / COLUMNS, columns)
    page = report(fit)
    for name in ("report.html", "report.json"):
        page.save(folder / name)
    return sorted(path.name for path in folder.iterdir())


def _write_modes(path: Path, columns: dict[str, Any], fit: Fit, modes: Any) -> None:
    """Write columns and those of the modes, in the units of the data; modes may be None."""
    for name, values in ({} if modes is None else fit.to_original(modes)).items():
        columns[unused_column(name, columns)] = values
    write_columns(path, columns)


def labels_name(ending: str) -> str:
    """Return the name of the file of labels: in the format of the data, or else Parquet."""
    return f"labels{ending if ending in WRITERS else '.parquet'}"


def report(fit: Fit) -> Any:
    """Return the report of a fit, with all columns of the data in their units."""
    table = fit.table
    remarks = [notice for notice in (*table.notices, *fit.warnings) if notice != OTHERWISE]
    if isinstance(fit.preparation, StandardScaler):
        remarks.append("The clusters were found in columns that were scaled to unit variance.")
    return page_of(
        fit.model,
        table.X,
        table,
        fit.original,
        preparation=fit.preparation,
        image_shape=table.image_shape,
        notes=remarks,
    )


def to_save(fit: Fit) -> Any:
    """Return the model with the column names, which it was not fitted with."""
    model, table = copy(fit.model), fit.table
    if table.is_named:
        names: Any = np.array(table.columns, dtype=object)
        model.path_ = replace(model.path_, feature_names=names)
        if fit.preparation is None:  # else the rows come from that, without names
            model.feature_names_in_ = names
    return model
