import pytest

from modeclust.rows.blocks import block_edges, rows_per_block


@pytest.mark.parametrize(
    ("n_features", "n_clusters", "rows"),
    [
        (1, 1, 16384),
        (2, 20, 16384),
        (64, 10, 8192),
        (784, 10, 2048),
        (784, 1024, 8192),
        (36771, 30, 2048),
    ],
)
def test_rows_per_block(n_features, n_clusters, rows):
    assert rows_per_block(n_features, n_clusters) == rows


@pytest.mark.parametrize(("n_rows", "size"), [(0, 3), (1, 3), (3, 3), (7, 3), (9, 3)])
def test_edges_cover_every_row_once(n_rows, size):
    edges = list(block_edges(n_rows, size))
    assert [i for first, last in edges for i in range(first, last)] == list(range(n_rows))
    assert all(last - first == size for first, last in edges[:-1])
