"""The claims of the paper, and the verdict on each.

The file `<item>.toml` next to the script of an item lists the claims of the item::

    [name-of-the-claim]
    where = "fig. 2"          # place in the paper
    says = "..."              # what the paper says there
    paper = "..."             # the paper's number, or what it shows in words
    measured = "..."          # what our number is
    at_least = 0.95           # bounds on our number and its interval: one of them, or both
    at_most = 1.0
    slack = 0.05              # a number outside the bounds by at most this holds in part; default 0
    why = "..."               # reason for a miss, shown only if there is one
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduction.findings import Measure

VERDICTS = ("reproduced", "partly", "not")


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, the number that tests it, and the bounds on that number.

    A claim is reproduced if the measured number and its whole interval lie between `at_least` and
    `at_most`. It holds in part if only the number does, or if it misses by at most `slack`.
    """

    name: str  # item.claim
    where: str  # in the paper
    says: str
    paper: float | str  # the paper's number, or what it shows in words
    measured: str  # what our number is
    why: str  # reason for a miss
    at_least: float = -float("inf")
    at_most: float = float("inf")
    slack: float = 0.0

    def __post_init__(self) -> None:
        if not -float("inf") < max(self.at_least, -self.at_most):
            raise ValueError(f"{self.name} needs at_least or at_most: without, it cannot fail.")
        if self.at_least > self.at_most:
            raise ValueError(f"{self.name} can never hold: {self.at_least} > {self.at_most}.")

    def miss(self, number: float) -> float:
        """Return the distance of a number from its bounds: 0 inside them, infinite for NaN."""
        if number != number:
            return float("inf")
        return max(self.at_least - number, number - self.at_most, 0.0)

    def judge(self, measure: Measure) -> str:
        """Return the verdict on a measure."""
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
        """Return the claim with its measure and verdict, as stored in `results.json`."""
        verdict = self.judge(measure)
        off = self.miss(measure.value)
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
                off_interval = max(self.miss(measure.low), self.miss(measure.high))
                result["off_interval"] = _number(off_interval)
            result["why"] = self.why
        return result


def _number(value: float) -> float | None:
    """Return a number with six digits, or None for what JSON cannot store."""
    return float(f"{value:.6g}") if abs(value) < float("inf") else None


def claims_of(item: str) -> dict[str, Claim]:
    """Return the claims of an item by name, in the order of its file."""
    file = Path(__file__).with_name(f"{item.replace('-', '_')}.toml")
    return {
        name: Claim(f"{item}.{name}", **fields)
        for name, fields in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }


def judge(item: str, measures: dict[str, Measure]) -> list[dict[str, Any]]:
    """Return the result of each claim of an item."""
    claims = claims_of(item)
    if claims.keys() != measures.keys():
        differing = sorted(claims.keys() ^ measures.keys())
        raise KeyError(f"{item}: claims and measures differ in {', '.join(differing)}.")
    return [claim.result(measures[name]) for name, claim in claims.items()]


def judge_failure(item: str, error: str) -> list[dict[str, Any]]:
    """Return the result of each claim of an item whose script failed."""
    nan = float("nan")
    nothing = Measure(nan, nan, nan, n_runs=0)
    return [{**claim.result(nothing), "why": error} for claim in claims_of(item).values()]
