"""One small fit can be followed by a reader: few files, few calls, few frames."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import modeclust
from modeclust import KModes

SOURCE = str(Path(modeclust.__file__).parent)
MAX_FILES, MAX_CALLS, MAX_DEPTH = 20, 2_500, 9


class Calls:
    """Counts calls of Python functions, and notes the files and the frames of modeclust."""

    def __init__(self):
        self.files, self.n_calls, self.depth = set(), 0, 0

    def __call__(self, frame, event, _):
        if event != "call":
            return
        self.n_calls += 1
        if not frame.f_code.co_filename.startswith(SOURCE):
            return
        self.files.add(frame.f_code.co_filename)
        depth = 0
        while frame is not None:
            depth += frame.f_code.co_filename.startswith(SOURCE)
            frame = frame.f_back
        self.depth = max(self.depth, depth)


@pytest.fixture
def calls():
    """The calls of one default fit of 500 x 4, after another one that imported everything."""
    X, _ = make_blobs(500, 4, centers=8, random_state=0)
    KModes(random_state=0).fit(X)
    model, calls, before = KModes(random_state=0), Calls(), sys.getprofile()
    sys.setprofile(calls)
    try:
        model.fit(X)
    finally:
        sys.setprofile(before)
    assert np.isfinite(model.cluster_centers_).all()
    return calls


def test_a_default_fit_is_short_to_read(calls):
    assert len(calls.files) <= MAX_FILES, sorted(calls.files)
    assert calls.depth <= MAX_DEPTH
    assert calls.n_calls <= MAX_CALLS
