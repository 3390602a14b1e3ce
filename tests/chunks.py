"""Rows as Dask collections."""

from itertools import pairwise

from scipy import sparse


def in_chunks(rows, size):
    """Return dense or CSR rows as a Dask array with chunks of `size` rows."""
    import dask
    import dask.array as da

    if not sparse.issparse(rows):
        return da.from_array(rows, chunks=(size, -1))
    n_rows, n_features = rows.shape
    meta = sparse.csr_array((0, n_features), dtype=rows.dtype)
    parts = [
        da.from_delayed(dask.delayed(rows[a:b]), (b - a, n_features), rows.dtype, meta)
        for a, b in pairwise([*range(0, n_rows, size), n_rows])
    ]
    return da.concatenate(parts)
