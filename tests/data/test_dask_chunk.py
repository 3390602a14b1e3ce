import gc
import weakref

import numpy as np
import pytest

from modeclust.data.dask import chunk as on_chunk
from modeclust.data.dask.chunk import Chunk, LabelVersion, drop_states, run_pass
from modeclust.data.mode_pass import ModePass

X = np.random.default_rng(0).normal(size=(500, 3))
CENTERS = X[:4].copy()
PASS = ModePass(CENTERS, 0, 1.0)


@pytest.fixture
def fit_id():
    yield "fit"
    drop_states("fit")


def chunk_of(rows):
    return Chunk.of(rows, None, None, 0, 0, 4)


def test_a_chunk_is_not_kept_between_passes(fit_id):
    rows = X.copy()
    kept = weakref.ref(rows)
    run_pass(chunk_of(rows), (PASS, LabelVersion(fit_id, 0, None)))
    del rows
    gc.collect()
    assert kept() is None


def test_labels_and_bounds_are_kept(fit_id):
    first = run_pass(chunk_of(X), (PASS, LabelVersion(fit_id, 0, None)))
    again = run_pass(chunk_of(X.copy()), (PASS, LabelVersion(fit_id, 1, CENTERS)))
    assert first.searched == len(X)
    assert again.searched < len(X)
    assert again.changed == 0
    np.testing.assert_array_equal(again.totals, first.totals)


def test_labels_of_another_version_are_recomputed(fit_id):
    run_pass(chunk_of(X), (PASS, LabelVersion(fit_id, 0, None)))
    moved = CENTERS + 1.0
    labels = on_chunk.labels_at(chunk_of(X), LabelVersion(fit_id, 7, moved), np.arange(500))
    nearest = np.square(X[:, None] - moved).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(labels, nearest)
