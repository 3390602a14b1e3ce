"""The time to only read the rows: no pass can be faster."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from environment import THREADS
from scipy import sparse
from timing import Run, seconds

READS = 5
PIECES_PER_THREAD = 8


def bare_reader(X):
    """Return a contestant that reads all numbers of dense or CSR rows with all threads."""
    arrays = [X.data, X.indices] if sparse.issparse(X) else [X.reshape(-1)]
    pieces = [p for array in arrays for p in np.array_split(array, PIECES_PER_THREAD * THREADS)]

    def read(_repeat):
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(_largest, pieces))  # starts the threads
            total, _ = seconds(lambda: [list(pool.map(_largest, pieces)) for _ in range(READS)])
        return Run(total / READS, READS)

    return read


def _largest(values):
    """Return the largest number. NumPy finds it as fast as memory can be read."""
    return values.max(initial=0)
