"""Room for the work on one tile of rows, kept by each thread from pass to pass."""

from threading import local
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modeclust.data.reading import FEWEST_FOR_PRODUCTS, Floats

# Rows are worked on in tiles that stay in the cache: this many bytes of them ...
TILE_BYTES = 2**18
# ... within limits, of which the upper is for short rows, and with a few rows a cluster where
# rows are long, so that a centroid that is fetched serves more than one of them.
TILE_ROWS = (16, 2048)
TILE_ROWS_PER_CLUSTER, MOST_TILE_ROWS = 4, 4096
# Rows are searched at most this many at a time.
SEARCH_ROWS = 64


class Room(NamedTuple):
    """Arrays for one tile; n is its number of rows."""

    every: npt.NDArray[np.int64]  # (n,) the place of each row: 0, 1, 2, ...
    distances: npt.NDArray[np.float64]  # (n,) squared
    pending: npt.NDArray[np.int64]  # (n,) places of the rows to be searched
    before: npt.NDArray[np.int64]  # (n,) the labels that they had
    scores: Floats  # (batch, K)
    score_bits: npt.NDArray[np.signedinteger[Any]]  # the same memory
    best: npt.NDArray[np.int32]  # (batch,) the centroid with the lowest score
    lowest: npt.NDArray[np.float64]  # (batch,) the lowest score
    second: npt.NDArray[np.float64]  # (batch,) the second
    margins: npt.NDArray[np.float64]  # (batch,) how much a score may be off by
    open: npt.NDArray[np.bool_]  # (batch, K) whether a group may have the nearest; the first G
    own_before: npt.NDArray[np.float64]  # (batch,) squared distances before the search
    subset: npt.NDArray[np.int64]  # (batch,) rows to which a group is open
    clusters: npt.NDArray[np.int64]  # (K,) 0, 1, 2, ...
    heights: npt.NDArray[np.float64]  # (K,) the kernel at each reference
    own_heights: npt.NDArray[np.float64]  # (n,)
    ones: npt.NDArray[np.float64]  # (n,) the weights where none are given
    excess: npt.NDArray[np.float64]  # (n,) t, and then t - reference
    pulls: npt.NDArray[np.float64]  # (n,)
    order: npt.NDArray[np.int64]  # (n,) places by cluster
    ends: npt.NDArray[np.int64]  # (K + 1,) where each cluster's end
    bits: npt.NDArray[np.int64]  # (n,)
    bits_as_floats: npt.NDArray[np.float64]  # the same memory


_rooms = local()


def room_for(X: Any, n_clusters: int, n_features: int) -> Room:
    """Return this thread's room, made anew where the shape or dtype of the work is new."""
    dense = isinstance(X, np.ndarray)
    dtype = np.dtype(X.dtype) if dense else np.dtype(np.float64)
    key = (dense, dtype, n_clusters, n_features)
    if getattr(_rooms, "key", None) != key:
        _rooms.key = key
        _rooms.room = _make_room(dense, dtype, n_clusters, n_features)
    room: Room = _rooms.room
    return room


def _make_room(dense: bool, dtype: np.dtype[Any], n_clusters: int, n_features: int) -> Room:
    by_products = dense and n_features >= FEWEST_FOR_PRODUCTS
    row_bytes = n_features * dtype.itemsize if dense else 1024
    n = int(np.clip(TILE_BYTES // row_bytes, *TILE_ROWS))
    if by_products:
        n = max(n, min(TILE_ROWS_PER_CLUSTER * n_clusters, MOST_TILE_ROWS))
    scores = np.empty((SEARCH_ROWS, n_clusters), dtype)
    bits = np.empty(n, dtype=np.int64)
    return Room(
        every=np.arange(n),
        distances=np.empty(n),
        pending=np.empty(n, dtype=np.int64),
        before=np.empty(n, dtype=np.int64),
        scores=scores,
        score_bits=scores.view(np.dtype(f"i{dtype.itemsize}")),
        best=np.empty(SEARCH_ROWS, dtype=np.int32),
        lowest=np.empty(SEARCH_ROWS),
        second=np.empty(SEARCH_ROWS),
        margins=np.empty(SEARCH_ROWS),
        open=np.empty((SEARCH_ROWS, n_clusters), dtype=np.bool_),
        own_before=np.empty(SEARCH_ROWS),
        subset=np.empty(SEARCH_ROWS, dtype=np.int64),
        clusters=np.arange(n_clusters),
        heights=np.empty(n_clusters),
        own_heights=np.empty(n),
        ones=np.ones(n),
        excess=np.empty(n),
        pulls=np.empty(n),
        order=np.empty(n, dtype=np.int64),
        ends=np.empty(n_clusters + 1, dtype=np.int64),
        bits=bits,
        bits_as_floats=bits.view(np.float64),
    )
