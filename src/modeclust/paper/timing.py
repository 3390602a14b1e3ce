"""Times of one core, taken in turns, and how they grow.

Processor time is what is measured, with one thread: on a machine that others use too, it says
more than the clock does.
"""

import gc
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from modeclust.paper.findings import CONFIDENCE, Measure

Key = TypeVar("Key", bound=Hashable)
Timed = Callable[[], float]  # runs something, and returns seconds


class Growth(NamedTuple):
    """How a time grows: as `size ** exponent`, times `at_one` seconds."""

    exponent: Measure
    at_one: float

    def at(self, size: float) -> float:
        """Return the time at a size."""
        return float(self.at_one * size**self.exponent.value)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Have BLAS and OpenMP use one thread, and leave garbage alone, as timeit does."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with threadpool_limits(1):
            yield
    finally:
        if was_enabled:
            gc.enable()


def per_iteration(run: Callable[[], int]) -> float:
    """Return the processor time of a run over the number of iterations that it returns."""
    start = time.process_time()
    n_iterations = run()
    return (time.process_time() - start) / n_iterations


def take_turns(contestants: Mapping[Key, Timed], n_turns: int) -> dict[Key, list[float]]:
    """Return the times of all contestants, which run one after the other in each turn.

    A first turn, in which modules are loaded and memory is claimed, is not counted.
    """
    seconds: dict[Key, list[float]] = {key: [] for key in contestants}
    for turn in range(n_turns + 1):
        for key, contestant in contestants.items():
            spent = contestant()
            if turn:
                seconds[key].append(spent)
    return seconds


def fit_growth(seconds: dict[int, list[float]]) -> Growth:
    """Return the exponent of growth, by least squares of log time over log size."""
    sizes = np.concatenate([np.full(len(own), size) for size, own in seconds.items()])
    times = np.concatenate(list(seconds.values()))
    line = stats.linregress(np.log(sizes), np.log(times))
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, len(sizes) - 2) * line.stderr
    exponent = Measure(
        float(line.slope),
        float(line.slope - reach),
        float(line.slope + reach),
        len(next(iter(seconds.values()))),
    )
    return Growth(exponent, float(np.exp(line.intercept)))


def ratio(seconds: list[float], base: list[float]) -> Measure:
    """Return how many times as long one takes as the other, turn by turn."""
    return Measure.mean_of(a / b for a, b in zip(seconds, base, strict=True))
