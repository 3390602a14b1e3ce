"""Small data files of every format."""

import gzip
import io

import numpy as np
import polars as pl
from scipy import sparse
from scipy.io import mmwrite

from modeclust.cli.readers.files import ending_of
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.table import read_table

X = np.array([[1.0, 2.5], [3.0, 0.0], [5.0, 6.0]])
FRAME = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": ["u", "v", "u"], "w": [1, 2, 3]})
ARRAYS = {".npy", ".npz", ".mtx", ".mtx.gz"}


def write(path):
    """Write the rows in the format of the file extension."""
    ending = ending_of(path)
    buffer = io.BytesIO()
    if ending.startswith((".csv", ".tsv")):
        FRAME.write_csv(buffer, separator="\t" if "tsv" in ending else ",")
    elif ending == ".parquet":
        FRAME.write_parquet(buffer)
    elif ending in (".feather", ".arrow"):
        FRAME.write_ipc(buffer)
    elif ending == ".ipc":
        FRAME.write_ipc_stream(buffer)
    elif ending == ".npy":
        np.save(buffer, X)
    elif ending == ".npz":
        np.savez(buffer, X=X, kind=np.array(["u", "v", "u"]), w=[1, 2, 3], other=np.zeros(2))
    else:
        mmwrite(buffer, sparse.csr_array(X))
    content = buffer.getvalue()
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    return path


def read_text(content, tmp_path, name="data.csv", note=print, **options):
    """Write text to a file, and read it as a table."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, ReadOptions(**options), note)
