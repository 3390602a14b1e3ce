"""What a user writes, for type checkers: they run over it, and nothing calls it.

`make lint` checks it against the sources, `make package` against the wheel.
"""

from pathlib import Path as FilePath
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import modeclust
from modeclust import (
    ClusterSuggestion,
    KModes,
    LaplacianKModes,
    MeanShift,
    ModeTree,
    Path,
    estimate_bandwidth,
    kmodes_path,
    load,
    modes_by_bandwidth,
    suggest_clusters,
)
from modeclust.estimators.stability import Stability
from modeclust.exceptions import CheckpointError, ModelFileError
from modeclust.path import PathPoint
from modeclust.plotting import ModesDisplay, PathDisplay, ScheduleDisplay
from modeclust.reporting.page import Report

Floats = npt.NDArray[np.floating[Any]]
Doubles = npt.NDArray[np.float64]


def cluster(X: Doubles, weights: Doubles) -> Floats:
    bandwidth = estimate_bandwidth(X)
    assert_type(bandwidth, float)
    assert_type(estimate_bandwidth(X, "scott", local=True), Doubles)
    assert_type(estimate_bandwidth(X, metric="cosine"), float)
    model = KModes(3, bandwidth=bandwidth / 2, random_state=np.random.RandomState(0))
    assert_type(model.fit(X, sample_weight=weights), KModes)
    assert_type(model.bandwidth_, float)
    assert_type(model.objective_, float)
    assert_type(model.n_iter_, int)
    assert_type(model.counts_, npt.NDArray[np.int64])
    assert_type(model.exemplar_indices_, npt.NDArray[np.int64])
    assert_type(model.score(X), float)
    assert_type(model.redundant_clusters(), list[tuple[int, int]])
    assert_type(model.merge_redundant(X), KModes)
    assert_type(model.stability(X), Stability)
    assert_type(model.stability(X).jaccard, Doubles)
    assert_type(model.partial_fit(X[:10]), KModes)
    # Of a Dask collection they are Dask arrays, and `transform` gives what `set_output` asks for.
    assert_type(model.labels_, Any)
    assert_type(model.predict(X), Any)
    assert_type(model.transform(X), Any)
    return model.cluster_centers_


def count(X: Doubles) -> int:
    found = suggest_clusters(X, max_clusters=20, random_state=0)
    assert_type(found, ClusterSuggestion)
    assert_type(found.is_sure, bool)
    assert_type(found.labels, npt.NDArray[np.int32] | None)
    model = KModes("auto", max_clusters=20).fit(X)
    assert_type(model.n_clusters_, int)
    assert_type(model.cluster_suggestion_, ClusterSuggestion | None)
    return found.n_clusters


def follow(X: Doubles) -> PathPoint:
    path = kmodes_path(X, 3, bandwidths=[np.inf, *np.geomspace(2, 1, 5)], random_state=0)
    assert_type(path, Path)
    assert_type(len(path), int)
    assert_type(path.centers, Floats)
    assert_type(path.bandwidths, Doubles)
    assert_type(path.labels, npt.NDArray[np.integer[Any]] | None)
    assert_type([point.objective for point in path], list[float])
    assert_type(path[1:], Path)
    return path.at(1.5)


def ascend(X: Doubles) -> ModeTree:
    shift = MeanShift(bandwidth="knn", n_clusters=3).fit(X)
    assert_type(shift, MeanShift)
    assert_type(shift.cluster_centers_, Floats)
    assert_type(shift.labels_, npt.NDArray[np.int32])
    assert_type(shift.bandwidth_, float)
    assert_type(shift.predict(X), npt.NDArray[np.int32])
    tree = modes_by_bandwidth(X, [1.0, 2.0])
    assert_type(tree.n_modes, npt.NDArray[np.int64])
    return tree


def smooth(X: Doubles) -> LaplacianKModes:
    soft = LaplacianKModes(2, smoothing=0.5).fit(X)
    assert_type(soft.assignments_, Doubles)
    assert_type(soft.labels_, npt.NDArray[np.int32])
    assert_type(soft.predict_proba(X), Doubles)
    assert_type(soft.path_, Path)
    return soft


def take_anything(frame: object) -> None:
    """Data of any kind, as scikit-learn takes it: arrays, frames, sparse matrices, lists."""
    for X in (frame, [[0.0, 1.0], [2.0, 3.0]]):
        assert_type(KModes(1).fit(X), KModes)
        assert_type(MeanShift().fit(X), MeanShift)


def keep(model: KModes, folder: FilePath) -> KModes:
    model.save(folder / "model.npz")
    try:
        loaded: KModes = load(folder / "model.npz")
    except (ModelFileError, CheckpointError):
        return KModes(checkpoint=folder / "checkpoint")
    return loaded


def look(model: KModes, X: Doubles) -> None:
    assert_type(PathDisplay.from_estimator(model, X), PathDisplay)
    assert_type(ModesDisplay.from_estimator(model, X, image_shape=(8, 8)), ModesDisplay)
    assert_type(ScheduleDisplay.from_estimator(model), ScheduleDisplay)
    assert_type(modeclust.plotting.PathDisplay.from_estimator(model, X), PathDisplay)
    assert_type(model.report(X, path=None), Report)
    assert_type(modeclust.report(model, X, path=None, overwrite=True), Report)
    assert_type(modeclust.__version__, str)
