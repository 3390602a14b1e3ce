"""Average linkage over a graph."""

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from modeclust.solvers.density_graph import density_graph, inverse_affinities
from modeclust.solvers.linkage import average_linkage, linkage_labels
from modeclust.solvers.neighbors import nearest_other_rows


def affinities(X, n_neighbors=5):
    return inverse_affinities(density_graph(X, nearest_other_rows(X, n_neighbors)).q)


def test_merges_by_hand():
    # 0 - 1 with 4, 2 - 3 with 3, 1 - 2 with 2: the last merge has the mean 2 / (2 * 2).
    W = sparse.csr_array(np.diag([4.0, 2.0, 3.0], 1) + np.diag([4.0, 2.0, 3.0], -1))
    merges = average_linkage(W)
    assert merges.first.tolist() == [0, 2, 0]
    assert merges.second.tolist() == [1, 3, 2]
    assert merges.first_size.tolist() == [1, 1, 2]
    assert merges.second_size.tolist() == [1, 1, 2]
    assert merges.affinity.tolist() == [4.0, 3.0, 0.5]
    counted = np.array([True, False, True, True])
    assert average_linkage(W, counted).first_size.tolist() == [1, 1, 1]
    assert average_linkage(W, counted).second_size.tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_average_linkage_of_scipy(seed):
    rng = np.random.default_rng(seed)
    W = rng.uniform(0.1, 1, (40, 40))
    W = np.maximum(W, W.T)
    np.fill_diagonal(W, 0)
    merges = average_linkage(sparse.csr_array(W))
    # Distances 1 - w have the same order as affinities, and the same means.
    distances = np.where(np.eye(40), 0, 1 - W)
    expected = linkage(squareform(distances), "average")
    np.testing.assert_allclose(1 - merges.affinity, expected[:, 2])
    for n_clusters in (2, 5, 20):
        wanted = fcluster(expected, n_clusters, "maxclust")
        joined = sparse.csr_array(
            (
                np.ones(40 - n_clusters),
                (merges.first[: 40 - n_clusters], merges.second[: 40 - n_clusters]),
            ),
            shape=(40, 40),
        )
        _, found = sparse.csgraph.connected_components(joined, directed=False)
        assert adjusted_rand_score(wanted, found) == 1


@pytest.mark.parametrize("seed", range(6))
def test_the_cut_merges_one_pair_at_a_time(seed):
    X = np.random.default_rng(seed).normal(size=(80, 2))
    W = affinities(X, 4)
    merges = average_linkage(W)
    for n_clusters in (2, 3, 7):
        least = -(-80 // (10 * n_clusters))
        states = [np.arange(80)]  # the cluster of each row after each merge
        for first, second in zip(merges.first, merges.second, strict=True):
            now = states[-1]
            states.append(np.where(now == now[second], now[first], now))
        n_large = [np.sum(np.bincount(now) >= least) for now in states]
        moment = max(t for t, n in enumerate(n_large) if n == n_clusters)
        now = states[moment].copy()
        large = set(np.flatnonzero(np.bincount(now) >= least))
        while len(clusters := np.unique(now)) > n_clusters:
            means = {
                (a, b): W[now == a][:, now == b].toarray().mean()
                for a in clusters
                for b in clusters
                if a != b and b not in large
            }
            a, b = max(means, key=means.get)
            now[now == b] = a
        assert adjusted_rand_score(now, linkage_labels(W, n_clusters)) == 1


def test_outliers_join_the_cluster_to_which_they_have_edges():
    rng = np.random.default_rng(0)
    left, right = rng.normal(0, 1, (60, 2)), rng.normal((9, 0), 1, (60, 2))
    outliers = [[-30.0, 0], [-30.2, 0.1], [40, 0], [40.2, 0.1]]
    X = np.r_[left, right, outliers]
    for order in (np.arange(124), np.arange(124)[::-1], rng.permutation(124)):
        labels = np.empty(124, dtype=int)
        labels[order] = linkage_labels(affinities(X[order]), 2)
        assert (
            labels.tolist()
            == np.repeat([*labels[[0, 60]], *labels[[0, 60]]], [60, 60, 2, 2]).tolist()
        )


def test_affinities_never_rise_and_sizes_add_up():
    X = np.random.default_rng(0).normal(size=(500, 3))
    merges = average_linkage(affinities(X))
    assert np.all(np.diff(merges.affinity) <= 0)
    sizes = np.ones(500, dtype=int)
    for first, second, *of in zip(*merges[:4], strict=True):
        assert of == [sizes[first], sizes[second]]
        sizes[first] += sizes[second]


def test_equal_affinities_merge_too():
    W = sparse.csr_array(np.ones((7, 7)))
    merges = average_linkage(W)
    np.testing.assert_allclose(merges.affinity, 1)
    assert len(merges.first) == 6


def test_few_far_rows_are_no_cluster():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (60, 2)), [[60.0, 0], [61, 0], [62, 0]]]
    labels = linkage_labels(affinities(X), 2)
    assert labels[:60].tolist() == [labels[0]] * 60
    assert labels[60:120].tolist() == [1 - labels[0]] * 60
    # With three clusters there is no other choice: the least size is halved.
    assert np.bincount(linkage_labels(affinities(X), 3)).min() >= 1


def test_any_number_of_clusters_has_rows():
    X = np.random.default_rng(0).normal(size=(30, 2))
    W = affinities(X, 3)
    for n_clusters in range(1, 31):
        sizes = np.bincount(linkage_labels(W, n_clusters))
        assert len(sizes) == n_clusters
        assert sizes.min() > 0
        assert np.all(np.diff(sizes) <= 0)  # the largest first


def test_rows_that_do_not_count_are_no_cluster():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (60, 2)), rng.normal(30, 1, (60, 2))]
    counted = np.arange(180) < 120
    labels = linkage_labels(affinities(X), 2, counted)
    assert set(labels[:60]) | set(labels[60:120]) == {0, 1}
    assert len(set(labels[:60])) == len(set(labels[60:120])) == 1
    # Too few rows count: all do.
    assert len(set(linkage_labels(affinities(X), 3, np.arange(180) < 2))) == 3


def test_rows_in_another_order_are_in_the_same_clusters():
    X, y = make_circles(500, noise=0.04, factor=0.5, random_state=0)
    order = np.random.default_rng(0).permutation(500)
    labels = linkage_labels(affinities(X), 2)
    assert adjusted_rand_score(y, labels) == 1
    assert adjusted_rand_score(labels[order], linkage_labels(affinities(X[order]), 2)) == 1
