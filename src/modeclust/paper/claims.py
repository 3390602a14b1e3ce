"""The claims of the paper, and the verdict on each.

Beside the script of an item lies `<item>.toml`, which says what the paper claims and what is near
enough::

    [name-of-the-claim]
    where = "fig. 2"          # of the paper
    says = "..."              # what the paper says there
    paper = "..."             # its number, or in words what it shows
    measured = "..."          # what our number is
    at_least = 0.95           # bounds of our number and of its interval: one of them, or both
    at_most = 1.0
    slack = 0.05              # how far outside of them it still holds in part; 0 by default
    why = "..."               # what a miss would come from
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from modeclust.paper.findings import Measure

VERDICTS = ("reproduced", "partly", "not")


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, the number that shows it here, and how near it must come.

    What is measured is to lie between `at_least` and `at_most`, with the whole of its interval.
    If it lies there itself, or misses by no more than `slack`, the claim holds in part.
    """

    name: str  # item.claim
    where: str  # in the paper
    says: str
    paper: float | str  # the number of the paper, or in words what it shows
    measured: str  # what our number is
    why: str  # what a miss would come from
    at_least: float = -float("inf")
    at_most: float = float("inf")
    slack: float = 0.0

    def __post_init__(self) -> None:
        if not -float("inf") < max(self.at_least, -self.at_most):
            raise ValueError(f"{self.name} has no bound that could fail.")
        if self.at_least > self.at_most:
            raise ValueError(f"{self.name} can never hold: {self.at_least} > {self.at_most}.")

    def miss(self, number: float) -> float:
        """Return how far outside of its bounds a number lies; NaN misses by all."""
        if number != number:
            return float("inf")
        return max(self.at_least - number, number - self.at_most, 0.0)

    def judge(self, measure: Measure) -> str:
        """Return the verdict on what was measured."""
        if not max(self.miss(number) for number in (measure.value, measure.low, measure.high)):
            return "reproduced"
        return "partly" if self.miss(measure.value) <= self.slack else "not"

    @property
    def tolerance(self) -> str:
        """Return the bounds in words."""
        bounds = [
            f"{words} {bound:g}"
            for words, bound in (("at least", self.at_least), ("at most", self.at_most))
            if abs(bound) < float("inf")
        ]
        slack = f"; in part within {self.slack:g} of that" if self.slack else ""
        return " and ".join(bounds) + slack

    def result(self, measure: Measure) -> dict[str, Any]:
        """Return the claim with its verdict, as it stands in `results.json`."""
        verdict = self.judge(measure)
        off = self.miss(measure.value)
        spread = max(self.miss(measure.low), self.miss(measure.high))
        result: dict[str, Any] = {
            "name": self.name,
            "where": self.where,
            "claim": self.says,
            "paper": self.paper,
            "measured": self.measured,
            "ours": _number(measure.value),
            "interval": [_number(measure.low), _number(measure.high)],
            "runs": measure.n_runs,
            "tolerance": self.tolerance,
            "verdict": verdict,
            "off": _number(off),
        }
        if verdict != "reproduced":
            if not off:
                result["off_interval"] = _number(spread)
            result["why"] = self.why
        return result


def _number(value: float) -> float | None:
    """Return a number as JSON knows it, to six digits."""
    return float(f"{value:.6g}") if abs(value) < float("inf") else None


def claims_of(item: str) -> dict[str, Claim]:
    """Return the claims of an item by their names, in the order of its file."""
    file = files("modeclust.paper") / f"{item.replace('-', '_')}.toml"
    return {
        name: Claim(f"{item}.{name}", **fields)
        for name, fields in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }


def nothing_found(item: str, error: str) -> list[dict[str, Any]]:
    """Return the results of an item that failed."""
    nan = float("nan")
    nothing = Measure(nan, nan, nan, n_runs=0)
    return [{**claim.result(nothing), "why": error} for claim in claims_of(item).values()]


def judge(item: str, measures: dict[str, Measure]) -> list[dict[str, Any]]:
    """Return the results of an item, one for each of its claims."""
    claims = claims_of(item)
    if claims.keys() != measures.keys():
        differing = sorted(claims.keys() ^ measures.keys())
        raise KeyError(f"{item}: claims and measures differ in {', '.join(differing)}.")
    return [claim.result(measures[name]) for name, claim in claims.items()]
