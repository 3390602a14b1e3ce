"""Against the results of the authors' own program."""

import numpy as np
import pytest

from modeclust import kmodes_path


@pytest.mark.parametrize("name", ["blobs3_kmodes", "moons_kmodes", "usps_kmodes"])
def test_the_end_of_the_path_is_the_authors(authors_result, name):
    theirs = authors_result(name)
    X = theirs["X"].astype(np.float64)
    path = kmodes_path(
        X,
        len(theirs["init_centers"]),
        bandwidths=theirs["bandwidths"],
        init=theirs["init_centers"],
        path_iter=1000,
        max_iter=10_000,
        tol=1e-7,
    )
    ours = path.objectives[-1] * len(X)
    assert ours >= theirs["objectives"][-1] * (1 - 1e-4)
    np.testing.assert_allclose(path.centers[-1], theirs["centers"][-1], atol=1e-3)
