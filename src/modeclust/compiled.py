"""How every compiled function of the library is compiled."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and fused, so that loops over features vectorise.
# The full fast-math set would also assume that no NaN and no infinity exists.
FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}


def compiled(function: F) -> F:
    """Compile `function` on first use, without the GIL, and keep it on disk.

    Never ``parallel=True``: numba's workqueue layer kills a process that enters it
    from two threads. Parallel work is a thread pool over blocks (`modeclust.data`).
    """
    return cast("F", njit(cache=True, nogil=True, fastmath=FAST_MATH)(function))


def compiled_inline(function: F) -> F:
    """Compile like `compiled`, as a part of what calls it.

    For what is called for every tile: to hand over arrays costs a hundred nanoseconds.
    """
    return cast("F", njit(cache=True, nogil=True, fastmath=FAST_MATH, forceinline=True)(function))


@njit(cache=True, forceinline=True)
def unsigned(index: Any) -> Any:
    """Return an index that is known not to be negative, in a type that says so.

    Every use of a signed one would first ask if it counts from the end.
    """
    return np.uint64(index)


def compiled_in_order(function: F) -> F:
    """Compile like `compiled`, but with every sum in the order it is written.

    For what must give the same bits however a row is stored, and for rounding on purpose.
    It is said aloud, since a function that says nothing takes over what its caller allows.
    """
    return cast("F", njit(cache=True, nogil=True, fastmath={"contract"})(function))
