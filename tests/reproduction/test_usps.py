import numpy as np
import pytest

from modeclust import ModeTree
from modeclust.mode_tree import TreeLevel
from reproduction.claims import claims_of
from reproduction.usps import closeness, interval_ratio, isolation, nearest_pair, reproduce


@pytest.fixture(scope="module")
def quick():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MODECLUST_DATA", raising=False)  # so that all machines use the same data
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
        "mean-shift-largest-cluster",
        "mean-shift-largest-is-a-one",
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
    assert len(quick.pictures) == 6
    assert all(picture.caption for picture in quick.pictures)
    table = quick.tables[0]
    assert [row[0] for row in table.rows] == ["0", "1", "mean"]
    *samples, mean = ([float(cell) for cell in row[1:4]] for row in table.rows)
    np.testing.assert_allclose(mean, np.mean(samples, axis=0), atol=1e-3)
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_nearest_pair_and_its_closeness():
    centers = np.array([[0.0], [10.0], [11.0], [30.0]])
    assert sorted(nearest_pair(centers)) == [1, 2]
    assert closeness(centers) == pytest.approx(1 / 15)  # distances 1, 10, 11, 19, 20, 30


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
