import numpy as np
import pytest

from reproduction.claims import claims_of
from reproduction.findings import Measure
from reproduction.robustness import reproduce
from reproduction.robustness_trials import (
    TRIANGLE,
    Decade,
    draw_digits,
    draw_unequal_blobs,
    draw_with_outliers,
    farthest,
    share_lower,
    sign,
)


@pytest.fixture(scope="module")
def quick():
    return reproduce(quick=True)


def test_every_claim_is_measured(quick):
    assert quick.measures.keys() == claims_of("robustness").keys()
    for name, measure in quick.measures.items():
        # From K-means, both often end at the same optimum, and then no run differs.
        assert np.isfinite(measure.value) or name == "homotopy-from-means", name


def test_shares_are_between_0_and_1(quick):
    others = {"outliers-make-spurious-modes", "many-means-apart", "few-modes-inside"}
    for name, measure in quick.measures.items():
        if name not in others and not name.startswith("mean-shift") and measure.n_runs:
            assert 0 <= measure.value <= 1, name


def test_facts_that_hold_at_small_sizes(quick):
    measures = quick.measures
    assert measures["outliers-spare-modes"].value == 1
    assert measures["outliers-move-modes-less"].value == 1
    assert measures["far-outliers-spare-modes"].value == 1
    assert measures["far-outliers-at-a-set-bandwidth"].value == 0
    assert measures["outliers-make-spurious-modes"].value >= 1
    assert measures["few-modes-inside"].value > measures["few-means-in-low-density"].value
    assert measures["many-modes-meet"].value < 1
    assert measures["redundancy-no-false-alarm"].value == 0
    assert measures["decade-blobs"].value > 0.9


def test_picture_and_tables(quick):
    assert len(quick.pictures) == 1
    assert len(quick.pictures[0].figure.axes) == 9
    starts, runs = quick.tables
    for table in (starts, runs):
        assert {len(row) for row in table.rows} == {len(table.columns)}
    for row in starts.rows:
        for cell in row[1:]:
            assert sum(map(int, cell.split(" / "))) == 2


def test_farthest_is_the_distance_of_the_point_without_a_center():
    points = np.array([[0.0, 0.0], [10.0, 0.0]])
    assert farthest(points, np.array([[0.0, 1.0], [0.0, 2.0]])) == pytest.approx(np.sqrt(101))
    assert farthest(points, np.array([[0.0, 1.0], [13.0, 0.0]])) == 3


def test_sign_has_ties():
    assert sign(1.0, 0.9) == 1
    assert sign(0.9, 1.0) == -1
    assert sign(1.0, 1.0 + 1e-9) == 0


def test_share_of_lower_modes_excludes_our_own():
    densities = np.array([0.5, 0.3, 0.2])
    assert share_lower(densities, 0.5) == 1
    assert share_lower(densities, 0.3001) == 0.5
    assert share_lower(densities, 0.2) == 0
    assert np.isnan(share_lower(densities[:1], 0.5))


def test_ratios_over_a_decade():
    decade = Decade(np.array([0.8, 0.4, 0.6]), np.array([2, 3, 10]), 0.7)
    assert decade.rand_ratio() == 0.5
    assert decade.modes_ratio() == 5


def test_outliers_are_five_percent_and_lie_in_the_box():
    X, dirty = draw_with_outliers(0, 10)
    np.testing.assert_array_equal(dirty[: len(X)], X)
    assert len(dirty) - len(X) == 30 == 0.05 * len(dirty)
    assert np.abs(dirty - X.mean(axis=0)).max() <= 5 * X.std()
    apart = np.linalg.norm(TRIANGLE[:, None] - TRIANGLE, axis=2)
    np.testing.assert_allclose(apart[~np.eye(3, dtype=bool)], 8)


def test_random_data_is_the_same_for_the_same_seed():
    for draw in (draw_digits, draw_unequal_blobs):
        first, again, other = draw(1)[0], draw(1)[0], draw(2)[0]
        np.testing.assert_array_equal(first, again)
        assert first.shape != other.shape or np.any(first != other)
    assert np.bincount(draw_digits(0)[1]).tolist() == [50] * 10


def test_no_runs_have_no_mean():
    measure = Measure.mean_of([])
    assert np.isnan(measure.value)
    assert measure.n_runs == 0


def test_both_bounds_on_far_outliers_are_the_same():
    claims = claims_of("robustness")
    default, at_a_set_bandwidth = (
        claims[f"far-outliers-{name}"] for name in ("spare-modes", "at-a-set-bandwidth")
    )
    assert default.tolerance == at_a_set_bandwidth.tolerance
    assert "by default" in default.measured
