"""Arrays from bytes that may be damaged: the npy format, and the indices of sparse matrices."""

import io
import math
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def check_header(file: BinaryIO, n_bytes: int) -> None:
    """Raise an error if the header is longer than the file: numpy would allocate memory for it."""
    start = file.read(12)
    file.seek(0)
    is_first = start[6:7] == b"\x01"  # its header is short
    if not is_first and int.from_bytes(start[8:12], "little") > n_bytes:
        raise ValueError("its header is longer than the file")


def array_of(content: bytes) -> npt.NDArray[Any]:
    """Return the array in the bytes of an npy file; any damage raises a `ValueError`.

    The size is checked first: numpy would allocate memory for any size in the header. The numbers
    are in the byte order of this machine.
    """
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"expected version 1.0 or 2.0 of the npy format, got {version}")
    shape, _, dtype = HEADERS[version](file)
    left = len(content) - file.tell()
    if math.prod(shape) * max(1, dtype.itemsize) > left and not dtype.hasobject:
        raise ValueError(f"the header says {dtype} of shape {shape}, and {left} bytes follow")
    file.seek(0)
    array = np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def check_indices(matrix: Any) -> None:
    """Raise a `ValueError` if a compressed sparse matrix has invalid indices.

    scipy and the core would then read other memory.
    """
    matrix.check_format(full_check=True)
    # If the last row is empty, scipy does not check the order of the other rows.
    if np.any(np.diff(matrix.indptr) < 0):
        raise ValueError("rows of a sparse matrix end before they begin")
