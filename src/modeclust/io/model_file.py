"""The file of a model or a checkpoint: a zip archive of arrays (.npy) and one JSON text.

Values that JSON does not have are objects with one key, their kind: ``{"tuple": [1, 2]}``,
``{"array": "3.npy"}``. Nothing in a file is ever executed. The checksum of each part is compared
when it is read.
"""

import io
import json
import math
import os
import zipfile
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from modeclust.exceptions import ModelFileError
from modeclust.io.atomic import StrPath, check_path, in_a_line, written
from modeclust.io.npy import array_of, check_indices

TEXT = "model.json"
MAX_VERSION = 100  # characters
SPARSE = {
    cls.__name__: cls
    for cls in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}


class Kind(NamedTuple):
    """A kind of document, and the words for errors about it."""

    name: str
    writer: str
    remedy: str  # for a damaged one
    error: type[ValueError]

    @property
    def format(self) -> str:
        """The name of the format in the file."""
        return f"modeclust {self.name}"


MODEL = Kind("model", "save", "Use another copy, or save the model again.", ModelFileError)


class Document(NamedTuple):
    """The contents of a file: the attributes of an object of some class, and notes."""

    version: str  # of modeclust
    class_name: str
    state: dict[str, Any]
    notes: dict[str, Any]
    kind: Kind = MODEL


def write_document(path: StrPath, document: Document, types: Iterable[type] = ()) -> None:
    """Write a document; its values may be dataclasses of the given types."""
    encoder = _Encoder(types)
    state = {
        name: encoder.encode(value, f"{document.class_name}.{name}")
        for name, value in document.state.items()
    }
    text = {
        "format": document.kind.format,
        "version": document.version,
        "class": document.class_name,
        "state": state,
        "notes": encoder.encode(document.notes, "notes"),
    }
    with written(path) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(TEXT), json.dumps(text, indent=1, allow_nan=False))
        for name, array in encoder.arrays.items():
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_document(
    path: StrPath, version: str, types: dict[str, tuple[type, ...]], kind: Kind = MODEL
) -> Document:
    """Read a document for this version of modeclust.

    `types` has the names of the classes that may be in a file, each with the dataclasses among its
    attributes.
    """
    check_path(path)
    content = Path(path).read_bytes()
    try:
        return _parse(content, version, types, kind)
    except kind.error as error:
        raise kind.error(f"{os.fspath(path)!r} {error}") from None
    except MemoryError:
        raise
    except Exception as error:  # parsing damaged bytes can raise anything
        reason = in_a_line(error)
        raise kind.error(f"{os.fspath(path)!r} is damaged: {reason}. {kind.remedy}") from error


def is_document(path: StrPath, kind: Kind = MODEL) -> bool:
    """Return whether a file is a document; no arrays are read."""
    try:
        with zipfile.ZipFile(path) as archive:
            text = json.loads(archive.read(TEXT))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return False
    return isinstance(text, dict) and text.get("format") == kind.format


def _parse(
    content: bytes, version: str, types: dict[str, tuple[type, ...]], kind: Kind
) -> Document:
    if not content:
        raise kind.error(f"is empty; expected a {kind.name} that `{kind.writer}` wrote.")
    if not zipfile.is_zipfile(io.BytesIO(content)):
        if content.startswith(b"PK"):
            raise kind.error(f"is damaged: its end is missing. {kind.remedy}")
        raise kind.error(f"is no {kind.name}; expected a file that `{kind.writer}` wrote.")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if TEXT not in archive.namelist():
            raise kind.error(f"is no {kind.name}, or damaged: it has no part {TEXT!r}.")
        text = json.loads(archive.read(TEXT))
        if not isinstance(text, dict) or text.get("format") != kind.format:
            raise kind.error(f"is no {kind.name}: its part {TEXT!r} is of something else.")
        name, writer = text["class"], f"modeclust {text['version']}"
        if _series(text["version"]) > _series(version):
            raise kind.error(f"was written by {writer}, and this is {version}; update modeclust.")
        if name not in types:
            raise kind.error(
                f"holds a {name} of {writer}, which this version, {version}, does not know; "
                f"expected one of {', '.join(types)}."
            )
        decoder = _Decoder(archive, types[name])
        state = {key: decoder.decode(value) for key, value in text["state"].items()}
        return Document(text["version"], name, state, decoder.decode(text["notes"]), kind)


def _series(version: str) -> list[int]:
    """Return the first two numbers of a version, which determine the format of its files.

    A file has all parameters: a minor version with a new one writes files that older ones cannot
    read.
    """
    if len(version) > MAX_VERSION:
        raise ValueError("its version is none of modeclust")
    return [int(number) for number in version.split(".")[:2]]


def is_array(value: Any, kinds: str, *shape: int | None) -> bool:
    """Return whether a value is an array of these kinds and shape; None is any length but 0."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        return False
    if value.ndim != len(shape):
        return False
    for length, wanted in zip(value.shape, shape, strict=True):
        if length != wanted and (wanted is not None or length == 0):
            return False
    return True


class _Encoder:
    """Converts values to JSON, and collects the arrays."""

    def __init__(self, types: Iterable[type]) -> None:
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self._types = tuple(types)

    def encode(self, value: Any, where: str) -> Any:
        """Return `value` for JSON; `where` is its name in errors."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return self._items(value, where)
        if type(value) is tuple:
            return {"tuple": self._items(value, where)}
        if type(value) is dict:
            return {"dict": [self._items(item, where) for item in value.items()]}
        if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "biufcU":
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return {kind: self._collect(np.asarray(value))}
        if isinstance(value, np.ndarray) and all(isinstance(item, str) for item in value.flat):
            return {"names": [str(item) for item in value.flat]}
        if type(value).__name__ in SPARSE:
            parts = [list(value.shape), value.data, value.indices, value.indptr]
            return {"sparse": [type(value).__name__, *self._items(parts, where)]}
        if isinstance(value, os.PathLike):
            return {"path": os.fsdecode(value)}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(_random_state(value, where), where)}
        if is_dataclass(value) and type(value) in self._types:
            named = {field.name: getattr(value, field.name) for field in fields(value)}
            return {"object": [type(value).__name__, self.encode(named, where)]}
        raise TypeError(
            f"{where} must be a number, a string, an array, a CSR or CSC matrix, a list or a dict "
            f"of these, or None to be saved, got {value!r}; set it to one of them first."
        )

    def _items(self, values: Iterable[Any], where: str) -> list[Any]:
        return [self.encode(value, where) for value in values]

    def _collect(self, array: npt.NDArray[Any]) -> str:
        name = f"{len(self.arrays)}.npy"
        self.arrays[name] = array
        return name


class _Decoder:
    """Converts JSON back to values."""

    def __init__(self, archive: zipfile.ZipFile, types: Iterable[type]) -> None:
        self._archive = archive
        self._types = {cls.__name__: cls for cls in types}

    def decode(self, code: Any) -> Any:
        """Return the value of a JSON object."""
        if isinstance(code, list):
            return [self.decode(item) for item in code]
        if not isinstance(code, dict):
            return code
        ((kind, content),) = code.items()
        match kind:
            case "float":
                return float(content)
            case "tuple":
                return tuple(self.decode(content))
            case "dict":
                return dict(self.decode(content))
            case "array":
                return array_of(self._archive.read(content))  # compares the checksum
            case "scalar":
                return array_of(self._archive.read(content))[()]
            case "names":
                return np.array(content, dtype=object)
            case "path":
                return Path(content)
            case "sparse":
                return _sparse_matrix(*self.decode(content))
            case "random_state":
                generator = np.random.RandomState()
                set_generator(generator, self.decode(content))
                return generator
            case "object":
                name, parts = self.decode(content)
                return self._types[name](**parts)
        raise ValueError(f"it has values of an unknown kind, {kind!r}")


def _sparse_matrix(name: str, shape: Any, *parts: Any) -> Any:
    matrix: Any = SPARSE[name](parts, shape=tuple(shape))
    check_indices(matrix)
    if matrix.dtype.kind not in "biuf" or matrix.dtype == np.float16:
        raise ValueError(f"a sparse matrix holds {matrix.dtype}, which is none of its types")
    return matrix


def set_generator(generator: np.random.RandomState, state: Any) -> None:
    """Set the state of a random generator; raise a `ValueError` if it is not valid.

    numpy does not check it: a position beyond the end of the key would read other memory.
    """
    own = generator.get_state(legacy=False)
    fits = _is_alike(own, state) and math.isfinite(state["gauss"])
    if fits and "pos" in state["state"]:
        fits = 0 <= state["state"]["pos"] <= len(state["state"]["key"])
    if fits and "buffer_pos" in state:
        fits = 0 <= state["buffer_pos"] <= len(state["buffer"])
    try:
        if fits:
            generator.set_state(state)
    except OverflowError:  # after which a part of it may be set
        generator.set_state(own)
        fits = False
    if not fits:
        raise ValueError("the state of a random generator does not fit")


def _is_alike(one: Any, other: Any) -> bool:
    """Return whether two values have the same types, in all their parts."""
    if isinstance(one, np.ndarray):
        return is_array(other, one.dtype.kind, *one.shape) and one.dtype == other.dtype
    if isinstance(one, dict):
        same = isinstance(other, dict) and one.keys() == other.keys()
        return same and all(_is_alike(one[name], other[name]) for name in one)
    return type(one) is type(other)


def _random_state(generator: np.random.RandomState, where: str) -> dict[str, Any]:
    state: dict[str, Any] = dict(generator.get_state(legacy=False))
    if state["bit_generator"] != "MT19937":
        raise TypeError(
            f"{where} must be a RandomState of MT19937 to be saved, got one of "
            f"{state['bit_generator']}; pass a seed."
        )
    return state
