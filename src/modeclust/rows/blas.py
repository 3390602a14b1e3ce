"""BLAS held to one thread while passes run, which have threads of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401 (the BLAS that compiled code calls)
from threadpoolctl import ThreadpoolController

_lock = Lock()
_users = 0
_limiter: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while any thread is in this context.

    The limit belongs to the whole process. The first to come sets it and the last to go lifts
    it, so that fits in several threads do not leave it behind.
    """
    global _users, _limiter
    with _lock:
        if _users == 0:
            _limiter = _controller().limit(limits=1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limiter.restore_original_limits()
                _limiter = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
