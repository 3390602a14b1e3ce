"""Small valid files of every kind that the library reads, which are then damaged."""

import gzip
import io
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import polars as pl
from scipy import sparse
from scipy.io import mmwrite
from sklearn.pipeline import make_pipeline

from fuzzing import core_calls, judging
from fuzzing.judging import X
from fuzzing.mutations import damage
from modeclust import KModes, LaplacianKModes, MeanShift, TablePreparation, save
from modeclust.estimators.checkpoint import Checkpoint

FRAME = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": ["u", "v"] * 6, "w": range(12)})
SMALL = FRAME.select("a", "b", "kind", "w").cast({"a": pl.Float32, "w": pl.UInt8})
NULLS = SMALL.with_columns(c=pl.Series([1, None] * 6), d=pl.Series([[1, 2], None] * 6))
LABELS_AND_WEIGHTS = {"kind": np.array(["u", "v"] * 6), "w": np.arange(12)}
FIT = {"bandwidth": 1.0, "n_init": 1, "n_bandwidths": 2, "random_state": 0}

Files = dict[str, bytes]  # contents by path


class Canary:
    """Creates a folder when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("unpickled",)


class Kind(NamedTuple):
    """A kind of input: the path to open, its judge, the valid files, and how they are damaged."""

    root: str
    judge: Callable[[Path], str]
    seeds: Callable[[], list[Files]]
    damage: Callable[..., bytes] = damage


def _written(write: Callable[..., Any], *arguments: Any, **options: Any) -> bytes:
    """Return the bytes that a function writes to a file."""
    buffer = io.BytesIO()
    write(buffer, *arguments, **options)
    return buffer.getvalue()


def _made(root: str, *writes: Callable[[Path], Any]) -> list[Files]:
    """Return the files that each function writes to a path."""
    made = []
    for write in writes:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(Path(folder) / root)
            paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
            made.append({str(path.relative_to(folder)): path.read_bytes() for path in paths})
    return made


def _tables(root: str, *contents: bytes) -> Kind:
    return Kind(root, judging.judge_table, lambda: [{root: content} for content in contents])


def _text(separator: str) -> list[bytes]:
    whole = FRAME.write_csv(separator=separator)
    quoted = FRAME.write_csv(separator=separator, quote_style="always", line_terminator="\r\n")
    return [
        whole.encode(),
        quoted.encode(),
        FRAME[["a", "b"]].write_csv(include_header=False).encode(),
    ]


def _parquet() -> list[bytes]:
    plain = _written(FRAME.write_parquet, compression="uncompressed")
    in_groups = _written(FRAME.write_parquet, row_group_size=5)
    return [plain, in_groups, _written(SMALL.write_parquet), _written(NULLS.write_parquet)]


def _arrow(write: str) -> list[bytes]:
    options = ((FRAME, "uncompressed"), (SMALL, "zstd"), (SMALL, "lz4"), (NULLS, "uncompressed"))
    return [_written(getattr(frame, write), compression=packed) for frame, packed in options]


def _npy() -> list[bytes]:
    arrays = (X, np.asfortranarray(X, dtype=">f4"), X[:, 0].astype(np.int8), X > 0)
    return [
        *(_written(np.save, array) for array in arrays),
        _written(np.save, np.array([Canary()]), allow_pickle=True),
    ]


def _npz() -> list[bytes]:
    kinds = (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.bsr_array)
    matrices = [kind(np.where(X > 1, X, 0)) for kind in kinds] + [sparse.dia_array(np.eye(4))]
    return [
        _written(np.savez, X=X, **LABELS_AND_WEIGHTS),
        _written(np.savez_compressed, table=X.astype(np.float32), **LABELS_AND_WEIGHTS),
        _written(np.savez, X=X, w=np.array([Canary()] * 12), allow_pickle=True),
        *(_written(sparse.save_npz, matrix) for matrix in matrices),
    ]


def _mtx() -> list[bytes]:
    square = sparse.coo_array(X[:2].T @ X[:2])
    return [
        _written(mmwrite, sparse.csr_array(np.where(X > 1, X, 0))),
        _written(mmwrite, X),
        _written(mmwrite, square, symmetry="symmetric"),
        _written(mmwrite, sparse.coo_array(X > 1), field="pattern"),
        _written(mmwrite, np.arange(6).reshape(3, 2)),
    ]


def _zarr() -> list[Files]:
    import zarr

    def alone(path: Path, **options: Any) -> None:
        zarr.create_array(path, data=X, chunks=(5, 2), **options)

    def together(path: Path) -> None:
        group = zarr.open_group(path, mode="w")
        group.create_array("X", data=X.astype(np.float32), chunks=(4, 1))
        group.create_array("w", data=LABELS_AND_WEIGHTS["w"])
        group.create_array("kind", data=LABELS_AND_WEIGHTS["kind"])

    return _made(
        "data.zarr",
        alone,
        lambda path: alone(path, zarr_format=2),
        lambda path: alone(path, compressors=None, shards=(10, 2)),
        together,
    )


def _hdf5(root: str) -> list[Files]:
    import h5py

    def plain(path: Path) -> None:
        with h5py.File(path, "w") as file:
            file["X"] = X

    def packed(path: Path) -> None:
        with h5py.File(path, "w", libver="latest") as file:
            group = file.create_group("some")
            options = {"chunks": (5, 2), "compression": "gzip", "shuffle": True, "fletcher32": True}
            group.create_dataset("X", data=X.astype(">f4"), **options)
            group["w"] = LABELS_AND_WEIGHTS["w"]
            group.create_dataset(
                "kind", data=list(LABELS_AND_WEIGHTS["kind"]), dtype=h5py.string_dtype()
            )

    return _made(root, plain, packed)


def _models() -> list[Files]:
    csr = sparse.csr_array(np.where(X > 1, X, 0))
    models = [
        KModes(2, **FIT).set_output(transform="polars").fit(FRAME[["a", "b"]]),
        KModes(2, **FIT, half_life=9).fit(csr).partial_fit(csr),
        MeanShift(bandwidth=1.0, adaptive=True).fit(X, sample_weight=np.arange(12) + 1.0),
        MeanShift(bandwidth=1.0, seeds=X[:3]).fit(csr),
        LaplacianKModes(2, **FIT, affinity_bandwidth="local").fit(X),
        LaplacianKModes(2, **FIT, solver="bound", affinity="binary").fit(csr),
    ]
    notes = ["good box", "late box", "good help", "late help", None, "so so"] * 2
    table = FRAME.with_columns(
        note=pl.Series(notes), day=pl.Series([f"2030-01-{day}" for day in range(10, 22)])
    )
    preparation = TablePreparation({"note": "text", "day": "date"})
    pipeline = make_pipeline(preparation, KModes(2, **FIT)).fit(table)
    writes = [*(model.save for model in models), partial(save, pipeline)]
    return _made("model.npz", *writes)


def _checkpoints() -> list[Files]:
    """Return all checkpoints that one fit writes."""
    made = []
    write = Checkpoint.write

    def write_and_keep(checkpoint: Checkpoint, record: Any) -> None:
        write(checkpoint, record)
        made.append({"checkpoint": Path(str(checkpoint.file)).read_bytes()})

    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(Checkpoint, "write", write_and_keep),
    ):
        judging.fit(Path(folder) / "checkpoint")
    return made


KINDS: dict[str, Kind] = {
    "csv": _tables("data.csv", *_text(",")),
    "tsv": _tables("data.tsv", *_text("\t")),
    "csv.gz": _tables("data.csv.gz", *(gzip.compress(text, mtime=0) for text in _text(","))),
    "tsv.gz": _tables("data.tsv.gz", *(gzip.compress(text, mtime=0) for text in _text("\t"))),
    "parquet": _tables("data.parquet", *_parquet()),
    "folder": Kind(
        "data",
        judging.judge_table,
        lambda: [{f"data/part.{n}.parquet": part for n, part in enumerate(_parquet()[:2])}],
    ),
    "feather": _tables("data.feather", *_arrow("write_ipc")),
    "arrow": _tables("data.arrow", *_arrow("write_ipc")),
    "ipc": _tables("data.ipc", *_arrow("write_ipc_stream")),
    "npy": _tables("data.npy", *_npy()),
    "npz": _tables("data.npz", *_npz()),
    "mtx": _tables("data.mtx", *_mtx()),
    "mtx.gz": _tables("data.mtx.gz", *(gzip.compress(text, mtime=0) for text in _mtx())),
    "zarr": Kind("data.zarr", judging.judge_table, _zarr),
    "h5": Kind("data.h5", judging.judge_table, lambda: _hdf5("data.h5")),
    "hdf5": Kind("data.hdf5", judging.judge_table, lambda: _hdf5("data.hdf5")),
    "model": Kind("model.npz", judging.judge_model, _models),
    "checkpoint": Kind("checkpoint", judging.judge_checkpoint, _checkpoints),
    "core": Kind(
        "call",
        core_calls.judge_call,
        lambda: [{"call": name.encode()} for name in core_calls.make_calls()],
        core_calls.damage_call,
    ),
}


@cache
def seeds_of(name: str) -> list[Files]:
    """Return the undamaged inputs of a kind."""
    return KINDS[name].seeds()
