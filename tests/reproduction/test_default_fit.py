import numpy as np
import pytest

from modeclust import KModes
from reproduction.default_fit import agreement, fit_default, purity_near


def test_agreement_in_percent():
    assert agreement([0, 0, 1, 1], [1, 1, 0, 0]) == (100, 100)
    assert agreement([0, 0, 1, 1], [0, 0, 0, 0]) == (0, 0)


def test_purity_near_centers_by_hand():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    y = np.array([0, 0, 1, 2, 2])
    centers = np.array([[0.0], [10.0]])
    assert purity_near(X, y, [0, 0, 0, 1, 1], centers) == pytest.approx((2 / 3 + 1) / 2)


def test_the_default_has_no_parameters_but_the_number_of_clusters_and_the_seed():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), 20 + rng.normal(size=(30, 2))])
    fit = fit_default(X, np.repeat([0, 1], 30), 2, seed=3)
    assert fit.model.get_params() == KModes(2, random_state=3).get_params()
    assert fit.scores == (100, 100)
    assert fit.purity == 1
