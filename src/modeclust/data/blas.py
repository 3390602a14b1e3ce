"""One thread for BLAS while passes run in threads of their own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

_lock = Lock()
_n_users = 0
_limits: threadpool_limits | None = None


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; the last of several users that overlap gives it back."""
    global _n_users, _limits
    with _lock:
        if _limits is None:
            _limits = threadpool_limits(1, user_api="blas")
        _n_users += 1
    try:
        yield
    finally:
        with _lock:
            _n_users -= 1
            if _n_users == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None


def _forget_users() -> None:
    """Begin anew in a copy of the process, in which the threads of the others are not."""
    global _lock, _n_users
    _lock = Lock()
    _n_users = 0


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_forget_users)
