import numpy as np
import pytest

from modeclust import ModeTree
from modeclust.mode_tree import TreeLevel
from modeclust.paper.claims import claims_of
from modeclust.paper.typicality import distances_to_rows, greyness, purity
from modeclust.paper.usps import interval_ratio, isolation, likeness, reproduce
from modeclust.paper.usps_sample import nearest_pair


@pytest.fixture(scope="module")
def quick():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MODECLUST_DATA", raising=False)  # the same data everywhere
        return reproduce(quick=True)


def test_every_claim_is_measured(quick):
    assert quick.measures.keys() == claims_of("usps").keys()
    for name, measure in quick.measures.items():
        # Small samples never have a hundred modes.
        assert np.isfinite(measure.value) != (name == "mean-shift-narrow-interval"), name
        assert not measure.value < 0 or name == "modes-purer-than-means"


def test_shares_are_between_0_and_1(quick):
    for name in (
        "neighbours-of-means-are-mixed",
        "neighbours-of-modes-are-of-one-class",
        "two-modes-alike",
        "no-two-means-alike",
        "redundancy-is-found",
        "nine-take-over-the-rows",
        "mean-shift-giant",
        "mean-shift-giant-is-a-one",
        "mean-shift-finds-outliers",
    ):
        assert 0 <= quick.measures[name].value <= 1, name


def test_modes_are_sharper_than_means(quick):
    means, modes = quick.measures["means-are-blurred"], quick.measures["modes-are-sharp"]
    assert means.value > modes.value > 1


def test_modes_are_nearer_to_other_images(quick):
    assert quick.measures["modes-nearer-to-data"].value < 1
    assert quick.measures["modes-average-out-noise"].value < 1


def test_a_stand_in_is_named(quick):
    assert len(quick.stand_ins) == 1
    assert "USPS is missing" in quick.stand_ins[""]


def test_pictures_and_table(quick):
    assert len(quick.pictures) == 5
    assert all(picture.caption for picture in quick.pictures)
    table = quick.tables[0]
    assert len(table.rows) == 2
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_purity_by_hand():
    y = np.array([0, 0, 1, 1, 2])
    neighbors = np.array([[0, 1, 2, 3], [2, 3, 4, -1], [-1, -1, -1, -1]])
    assert purity(y, neighbors) == pytest.approx((2 / 4 + 2 / 3) / 2)


def test_greyness_by_hand():
    assert greyness(np.array([[0.0, 1.0]])) == 0
    assert greyness(np.array([[0.5, 0.5], [0.0, 1.0]])) == 0.5


def test_mean_distance_to_the_nearest_rows():
    X = np.array([[0.0], [1.0], [5.0]])
    np.testing.assert_allclose(distances_to_rows(X, np.array([[0.0], [6.0]])), [0, 1])
    np.testing.assert_allclose(distances_to_rows(X, np.array([[0.0], [6.0]]), 2), [0.5, 3])


def test_the_nearest_pair_and_how_near_it_is():
    centers = np.array([[0.0], [10.0], [11.0], [30.0]])
    assert sorted(nearest_pair(centers)) == [1, 2]
    assert likeness(centers) == pytest.approx(1 / 15)  # of 1, 10, 11, 19, 20, 30


def test_outliers_are_isolated():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(99, 2)), [[20.0, 20.0]]])
    assert isolation(X, X[-1:]) == 0.99
    assert isolation(X, np.zeros((1, 2))) < 0.5


def test_interval_between_one_mode_and_many():
    def level(bandwidth, n_modes):
        modes = np.zeros((n_modes, 1))
        return TreeLevel(bandwidth, modes, np.ones(n_modes), np.ones(n_modes, int), None)

    levels = (level(1.0, 9), level(2.0, 5), level(3.0, 4), level(5.0, 1), level(8.0, 1))
    tree = ModeTree(levels, np.zeros(9, int))
    assert interval_ratio(tree, 5) == 2.5
    assert np.isnan(interval_ratio(tree, 10))
