"""Arrays at the end of a memory page, to find reads beyond the last number."""

import ctypes
import mmap
import weakref

import numpy as np

READ_WRITE, NOTHING, PRIVATE_ANONYMOUS = 3, 0, 0x22


def at_end_of_memory(X):
    """Return a copy of an array; reading beyond its last byte is fatal."""
    X = np.ascontiguousarray(X)
    if X.nbytes == 0:
        return X
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    page = mmap.PAGESIZE
    size = -(-X.nbytes // page) * page
    start = libc.mmap(None, size + page, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0)
    assert libc.mprotect(start + size, page, NOTHING) == 0
    memory = (ctypes.c_char * X.nbytes).from_address(start + size - X.nbytes)
    weakref.finalize(memory, libc.munmap, start, size + page)
    copy = np.frombuffer(memory, X.dtype).reshape(X.shape)
    copy[...] = X
    return copy
