import pytest

from modeclust.data.blocks import block_edges, rows_per_block


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_clusters", "rows"),
    [
        (1_000, 2, 3, 1000),
        (200_000, 2, 20, 14_286),
        (10_000_000, 2, 20, 256_411),
        (500_000, 16, 64, 31_250),
        (60_000, 784, 10, 3750),
        (60_000, 784, 1024, 8572),
        (9_394, 36_771, 30, 1879),
    ],
)
def test_rows_per_block(n_rows, n_features, n_clusters, rows):
    assert rows_per_block(n_rows, n_features, n_clusters) == rows


def test_blocks_of_sparse_rows_are_worth_their_sums():
    assert rows_per_block(9_394, 36_771, 30, row_length=130.0) == 4697
    assert rows_per_block(9_394, 36_771, 300, row_length=130.0) == 9_394
    assert rows_per_block(1_000_000, 1_000, 10, row_length=100.0) == 41_667
    assert rows_per_block(1_000, 5, 2, row_length=0.0) == 1000


@pytest.mark.parametrize(("n_rows", "size"), [(0, 3), (1, 3), (3, 3), (7, 3), (9, 3)])
def test_edges_cover_every_row_once(n_rows, size):
    edges = list(block_edges(n_rows, size))
    assert [i for first, last in edges for i in range(first, last)] == list(range(n_rows))
    assert all(last - first == size for first, last in edges[:-1])
