import numpy as np

from modeclust.show.sampling import sample_by_cluster


def test_few_rows_are_all_drawn():
    np.testing.assert_array_equal(sample_by_cluster(np.zeros(7, dtype=int), 2), range(7))


def test_a_sample_keeps_shares_and_small_clusters():
    labels = np.repeat([0, 1, 2, 4], [9000, 900, 97, 3])
    chosen = sample_by_cluster(labels, 5, size=1000)
    np.testing.assert_array_equal(np.bincount(labels[chosen]), [900, 90, 10, 0, 3])
    assert len(np.unique(chosen)) == len(chosen)
    np.testing.assert_array_equal(chosen, sample_by_cluster(labels, 5, size=1000))
