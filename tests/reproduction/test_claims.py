"""Claims, and the verdicts on them."""

from pathlib import Path

import numpy as np
import pytest

import reproduction
from reproduction.claims import VERDICTS, Claim, claims_of, judge
from reproduction.findings import Measure
from reproduction.items import ITEMS


def claim(**bounds):
    return Claim("item.name", "fig. 1", "It is so.", 1.0, "a number", "bad luck", **bounds)


@pytest.mark.parametrize(
    ("measure", "verdict"),
    [
        (Measure.exactly(1.0), "reproduced"),
        (Measure(2.0, 1.0, 3.0), "reproduced"),
        (Measure(2.0, 0.9, 3.0), "partly"),  # the interval exceeds the lower bound
        (Measure(2.0, 1.5, 3.5), "partly"),  # the interval exceeds the upper bound
        (Measure(0.75, 0.5, 1.0), "partly"),  # outside, but within the slack
        (Measure(3.25, 3.0, 3.5), "partly"),
        (Measure(0.7, 0.6, 0.8), "not"),
        (Measure(3.3, 2.0, 5.0), "not"),
        (Measure.exactly(np.nan), "not"),
        (Measure.exactly(np.inf), "not"),
        (Measure(2.0, -np.inf, np.inf), "partly"),
        (Measure(2.0, np.nan, np.nan), "partly"),
    ],
)
def test_verdicts_by_hand(measure, verdict):
    assert verdict in VERDICTS
    assert claim(at_least=1.0, at_most=3.0, slack=0.25).judge(measure) == verdict


def test_without_slack_what_misses_does_not_hold():
    assert claim(at_least=1.0).judge(Measure.exactly(0.999)) == "not"
    assert claim(at_least=1.0).judge(Measure(1.0, 0.5, 1.5)) == "partly"
    assert claim(at_most=1.0).judge(Measure.exactly(-1e9)) == "reproduced"


@pytest.mark.parametrize("bounds", [{}, {"slack": 1.0}, {"at_least": -np.inf}])
def test_claim_that_cannot_fail_is_refused(bounds):
    with pytest.raises(ValueError, match="needs at_least or at_most"):
        claim(**bounds)


def test_claim_that_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="can never hold: 2 > 1"):
        claim(at_least=2, at_most=1)
    assert claim(at_least=1, at_most=1).judge(Measure.exactly(1)) == "reproduced"


def test_tolerance_in_words():
    assert claim(at_least=0.5).tolerance == "at least 0.5"
    words = "at least 0.5 and at most 1.5; in part within 0.25 of that"
    assert claim(at_least=0.5, at_most=1.5, slack=0.25).tolerance == words


def test_result_says_how_far_off_and_why():
    own = claim(at_least=1.0, slack=0.25)
    good = own.result(Measure(2.0, 1.5, 2.5, 10))
    assert good["verdict"] == "reproduced"
    assert (good["paper"], good["ours"], good["interval"], good["runs"]) == (1, 2, [1.5, 2.5], 10)
    assert good["off"] == 0
    assert "why" not in good
    wide = own.result(Measure(2.0, 0.5, 3.5, 10))
    assert (wide["verdict"], wide["off"], wide["off_interval"]) == ("partly", 0, 0.5)
    bad = own.result(Measure.exactly(0.5))
    assert (bad["verdict"], bad["off"], bad["why"]) == ("not", 0.5, "bad luck")
    nothing = own.result(Measure.exactly(np.nan))
    assert (nothing["verdict"], nothing["ours"], nothing["off"]) == ("not", None, None)


@pytest.mark.parametrize("item", ITEMS)
def test_claims_of_every_item_are_complete(item):
    claims = claims_of(item)
    assert claims
    for name, own in claims.items():
        assert own.name == f"{item}.{name}"
        assert all(len(text) > 3 for text in (own.where, own.says, own.measured, own.why))
        assert own.says.endswith(".")
        assert own.why.endswith(".")
        assert own.paper != ""
        assert own.slack >= 0
    sentences = [(own.says, own.measured) for own in claims.values()]
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("item", ITEMS)
def test_every_item_has_a_script(item):
    assert Path(reproduction.__file__).with_name(f"{item.replace('-', '_')}.py").is_file()


def test_claims_and_measures_must_be_the_same():
    measures = {name: Measure.exactly(1.0) for name in claims_of("gaussians")}
    results = judge("gaussians", measures)
    assert [result["name"] for result in results] == [f"gaussians.{name}" for name in measures]
    del measures["both-find-three"]
    with pytest.raises(KeyError, match="differ in both-find-three"):
        judge("gaussians", measures)
    measures |= {"both-find-three": Measure.exactly(1.0), "more": Measure.exactly(1.0)}
    with pytest.raises(KeyError, match="differ in more"):
        judge("gaussians", measures)


def test_mean_of_runs_by_hand():
    # Mean 2, standard deviation 1, and t at 95% with two degrees of freedom is 4.3027.
    measure = Measure.mean_of([1, 2, 3])
    half_width = 4.30265 / np.sqrt(3)
    assert measure.value == 2
    assert (measure.low, measure.high) == pytest.approx((2 - half_width, 2 + half_width), rel=1e-5)
    assert measure.n_runs == 3


def test_mean_of_runs_without_spread():
    assert Measure.mean_of([0.5]) == (0.5, 0.5, 0.5, 1)
    assert Measure.mean_of([0.5] * 4) == (0.5, 0.5, 0.5, 4)
    assert Measure.exactly(2) == (2.0, 2.0, 2.0, 1)
