from dataclasses import replace

import numpy as np
import pytest

from modeclust import KModes


@pytest.fixture
def blobs():
    """Three clusters of 60 rows in the plane."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 0.5, (60, 2)) for c in [(0, 0), (6, 1), (2, 7)]])


@pytest.fixture
def emptied():
    """Return a function that fits three clusters, and then empties the last one."""

    def fit(X):
        model = KModes(3, bandwidth=0.5, n_bandwidths=3, random_state=0).fit(X)
        model.cluster_centers_[2] = 1e3
        model.labels_ = model.predict(X)
        labels = np.where(model.path_.labels == 2, model.labels_, model.path_.labels)
        model.path_ = replace(model.path_, labels=labels)
        return model

    return fit
