import numpy as np
import pytest

from modeclust.plotting.sampling import sample_by_cluster


def test_few_rows_are_all_drawn():
    np.testing.assert_array_equal(sample_by_cluster(np.zeros(7, dtype=int), 2), range(7))
    labels = np.repeat([0, 1], [90, 10])
    np.testing.assert_array_equal(sample_by_cluster(labels, 2, size=100), range(100))


@pytest.mark.parametrize(
    ("sizes", "drawn"),
    [([9000, 900, 97, 0, 3], [900, 90, 10, 0, 3]), ([8000, 1990, 10, 0, 0], [800, 199, 10, 0, 0])],
)
def test_a_sample_keeps_shares_and_small_clusters(sizes, drawn):
    labels = np.repeat(np.arange(5), sizes)
    chosen = sample_by_cluster(labels, 5, size=1000)
    np.testing.assert_array_equal(np.bincount(labels[chosen], minlength=5), drawn)
    assert len(np.unique(chosen)) == len(chosen)
    np.testing.assert_array_equal(chosen, sample_by_cluster(labels, 5, size=1000))
