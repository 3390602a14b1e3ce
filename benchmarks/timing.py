"""Timing in turns, and ratios of times.

Absolute times on a shared machine are not reliable. So contestants run in turns, and the result is
the ratio of their times within each turn.
"""

import gc
import time
from collections.abc import Callable
from statistics import fmean, median
from typing import Any, NamedTuple

PAUSE = 0.05  # seconds until the threads of the previous run are asleep


class Run(NamedTuple):
    """One measurement, and the result of the timed call."""

    seconds: float
    n_iter: int = 0
    centers: Any = None


Contestant = Callable[[int], Run]  # takes the number of the repeat


def seconds(function):
    """Return the time of a call, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def interleave(contestants: dict[Any, Contestant], repeats: int) -> dict[Any, list[Run]]:
    """Run all contestants in turn, `repeats` times."""
    runs = {name: [] for name in contestants}
    for repeat in range(repeats):
        gc.collect()
        for name, contestant in contestants.items():
            time.sleep(PAUSE)
            runs[name].append(contestant(repeat))
    return runs


def summary(values):
    """Return the median of some values and their spread."""
    values = [float(value) for value in values]
    return {"median": median(values), "min": min(values), "max": max(values), "values": values}


def summaries(scores):
    """Return the mean and the summary of each score over all turns."""
    columns = {key: [score[key] for score in scores] for key in scores[0]}
    return {key: {"mean": fmean(own)} | summary(own) for key, own in columns.items()}


def ratios(runs: list[Run], base: list[Run]):
    """Return the summary of the ratios of two contestants, turn by turn."""
    return summary(a.seconds / b.seconds for a, b in zip(runs, base, strict=True))


def compare(runs: dict[str, list[Run]], base: str):
    """Return the times of each contestant, and their ratios to those of `base`."""
    return {
        name: {
            "seconds": summary(run.seconds for run in own),
            "ratio": ratios(own, runs[base]),
            "iterations": [run.n_iter for run in own],
        }
        for name, own in runs.items()
    }
