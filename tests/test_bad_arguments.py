"""Every argument of everything public: a bad one is refused by name, before work begins.

`TABLE` has a row for each parameter of each public function, class and method, and `COMMANDS`
one for each option of each command. The parameters themselves are read from the signatures: a new
one without a row fails `test_every_parameter_has_a_row`. To add it, find its callable and write

    "parameter": [bad(value, "what the message must say"), ...],

with a regular expression in which `GOT` stands for the value that came. What takes any value is
`anything("why")`. Arguments that are not mentioned are those of `CALLS`, which are good.
"""

import inspect
import re
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from command import refused
from public import PUBLIC, SHELL, options, parameters
from scipy import sparse
from sklearn.cluster import DBSCAN
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import modeclust
import modeclust.datasets
from modeclust import KModes, LaplacianKModes, MeanShift, ModeTree, TablePreparation
from modeclust.estimators.confidence import Confidence
from modeclust.estimators.kernel_density import KernelDensity
from modeclust.estimators.soft_assignments import Neighborhood
from modeclust.mode_tree import TreeLevel
from modeclust.plotting import ClusterCountDisplay, ModesDisplay, PathDisplay, ScheduleDisplay
from modeclust.plotting.mode_panels import Cluster
from modeclust.reporting.page import Report
from modeclust.solvers.confidence import OutlierScale, Spread, Typical
from modeclust.solvers.streaming import SufficientStatistics

X = np.arange(20.0).reshape(10, 2) ** 2
LABELS = np.repeat([0, 1, 2], [4, 3, 3])
CENTERS = X[[1, 5, 8]] + 0.5
WHEN = np.arange("2030-01-01", "2030-01-11", dtype="M8[D]")


# Models that look fitted but never were, which is quicker.


def path():
    return modeclust.Path(
        bandwidths=np.array([np.inf, 4.0, 2.0]),
        centers=np.stack([CENTERS] * 3),
        objectives=np.array([1.0, 0.5, 0.4]),
        inertias=np.array([1.0, 1.0, 1.0]),
        counts=np.stack([np.bincount(LABELS)] * 3),
        n_iter=np.ones(3, dtype=np.int64),
        rows_averaged=np.full((3, 3), 30.0),
        labels=np.stack([LABELS] * 3),
    )


def suggestion():
    return modeclust.ClusterSuggestion(
        n_clusters=3,
        is_sure=True,
        n_by_peaks=3,
        n_by_dips=3,
        labels=LABELS,
        dimension=2.0,
        peak_heights=np.array([5.0, 4.0]),
        peak_threshold=3.0,
        dip_counts=np.array([3, 2]),
        dips=np.array([0.7, 0.8]),
        dip_threshold=0.5,
        merged_values=np.empty(0),
        merged_weights=np.empty(0),
        kept_values=np.array([-1.0, 1.0]),
        kept_weights=np.ones(2),
        max_clusters=40,
        n_rows=10,
    )


def tree():
    level = TreeLevel(1.0, X, np.ones(10), np.ones(10, dtype=np.int64), None)
    return ModeTree((level,), np.arange(10))


def outlier_scale():
    ones, large = np.ones(3), np.zeros(3, dtype=bool)
    return OutlierScale(ones, ones, ones, ones, large, X, LABELS.astype(np.int32))


def fitted(model):
    model.n_features_in_ = 2
    model.cluster_centers_ = CENTERS
    model.labels_ = LABELS.astype(np.int32)
    model.counts_ = np.bincount(LABELS)
    model.bandwidth_ = 2.0
    model._fitted_with = model._parameters_needed()
    if isinstance(model, MeanShift):
        model._kernel_density = KernelDensity(X, None, None)
        model._spread = Spread(1.0, 2.0)
        return model
    model.path_ = path()
    model.n_clusters_, model.cluster_suggestion_ = 3, None
    model.exemplar_indices_ = np.array([1, 5, 8])
    if isinstance(model, KModes):
        model.redundancy_ = sparse.csr_array([[0, 0.95, 0.1], [0.95, 0, 0.1], [0.1, 0.1, 0]])
        model._statistics = SufficientStatistics(
            CENTERS, np.ones(3), np.ones(3), np.zeros(3), 10.0, 1.0
        )
        model._mode_statistics = None
        typical = Typical(Spread(1.0, 2.0), outlier_scale())
        model._confidence = Confidence(typical, np.zeros(len(LABELS)))
        model.modes_, model.mode_bandwidths_ = CENTERS, np.full(3, 2.0)
        model.rows_averaged_ = np.full(3, 3.0)
        model.n_steps_, model.n_samples_seen_ = 1, 10
        model._n_features_out = 3
    else:
        model.smoothing_ = 1.0
        model.assignments_ = np.eye(3)[LABELS]
        model._neighborhood = Neighborhood(X, 3, 1.0)
    return model


def shown(display):
    """Return a display of good data that is not drawn yet."""
    if display is ScheduleDisplay:
        whole = path()
        return ScheduleDisplay(
            bandwidths=whole.bandwidths, objectives=whole.objectives, counts=whole.counts
        )
    if display is PathDisplay:
        return PathDisplay(
            points=X[:, :1],
            labels=LABELS,
            bandwidths=np.array([np.inf, 2.0]),
            paths=np.stack([CENTERS[:, :1]] * 2),
            axis_labels=["a"],
        )
    clusters = [Cluster(0, 4, CENTERS[0], X[:2])]
    return ModesDisplay(clusters=clusters, n_clusters=3, n_exemplars=2, kind="profiles")


# How each is called where all arguments but one are good.


def made(estimator, **good):
    return lambda **arguments: estimator(**(good | arguments)).fit(X)


def of(instance, method, **good):
    return lambda **arguments: getattr(instance(), method)(**(good | arguments))


def _kmodes():
    return fitted(KModes(3, bandwidth=2.0))


def _laplacian():
    return fitted(LaplacianKModes(3, bandwidth=2.0, smoothing=1.0))


def _mean_shift():
    return fitted(MeanShift(2.0))


CALLS: dict[str, Any] = {
    "KModes": made(KModes, n_clusters=3, bandwidth=1.0),
    "KModes.fit": of(lambda: KModes(3, bandwidth=1.0), "fit", X=X),
    "KModes.partial_fit": of(_kmodes, "partial_fit", X=X),
    "KModes.predict": of(_kmodes, "predict"),
    "KModes.predict_proba": of(_kmodes, "predict_proba"),
    "KModes.score_outliers": of(_kmodes, "score_outliers"),
    "KModes.transform": of(_kmodes, "transform"),
    "KModes.score": of(_kmodes, "score", X=X),
    "KModes.redundant_clusters": of(_kmodes, "redundant_clusters"),
    "KModes.merge_redundant": of(_kmodes, "merge_redundant", X=X),
    "KModes.stability": of(_kmodes, "stability", X=X),
    "KModes.report": of(_kmodes, "report", X=X),
    "KModes.save": of(_kmodes, "save"),
    "LaplacianKModes": made(LaplacianKModes, n_clusters=3, bandwidth=1.0),
    "LaplacianKModes.fit": of(lambda: LaplacianKModes(3, bandwidth=1.0, n_neighbors=1), "fit", X=X),
    "LaplacianKModes.predict": of(_laplacian, "predict"),
    "LaplacianKModes.predict_proba": of(_laplacian, "predict_proba"),
    "LaplacianKModes.stability": of(_laplacian, "stability", X=X),
    "LaplacianKModes.report": of(_laplacian, "report", X=X),
    "LaplacianKModes.save": of(_laplacian, "save"),
    "MeanShift": made(MeanShift, bandwidth=1.0),
    "MeanShift.fit": of(lambda: MeanShift(1.0), "fit", X=X),
    "MeanShift.predict": of(_mean_shift, "predict", X=X),
    "MeanShift.predict_proba": of(_mean_shift, "predict_proba"),
    "MeanShift.save": of(_mean_shift, "save"),
    "kmodes_path": lambda **given: modeclust.kmodes_path(
        **({"X": X, "n_clusters": 3, "bandwidths": [1.0]} | given)
    ),
    "cluster_modes": lambda **given: modeclust.cluster_modes(
        **({"X": X, "labels": np.arange(10) % 2} | given)
    ),
    "suggest_clusters": lambda **given: modeclust.suggest_clusters(**({"X": X} | given)),
    "estimate_bandwidth": lambda **given: modeclust.estimate_bandwidth(**({"X": X} | given)),
    "modes_by_bandwidth": lambda **given: modeclust.modes_by_bandwidth(
        **({"X": X, "bandwidths": [1.0]} | given)
    ),
    "load": lambda **given: modeclust.load(**given),
    "load_dataset": lambda **given: modeclust.datasets.load_dataset(**given),
    "save": lambda **given: modeclust.save(**({"model": _kmodes(), "path": "model.npz"} | given)),
    "TablePreparation": made(TablePreparation),
    "TablePreparation.fit": of(TablePreparation, "fit", X=X),
    "TablePreparation.transform": of(lambda: TablePreparation().fit(X), "transform", X=X),
    "TablePreparation.inverse_transform": of(
        lambda: TablePreparation().fit(X), "inverse_transform", X=X
    ),
    "TablePreparation.get_feature_names_out": of(
        lambda: TablePreparation().fit(X), "get_feature_names_out"
    ),
    "ClusterSuggestion.plot": of(suggestion, "plot"),
    "Path.__getitem__": of(path, "__getitem__"),
    "Path.at": of(path, "at"),
    "Path.to_frame": of(path, "to_frame"),
    "ModeTree.__getitem__": of(tree, "__getitem__"),
    "ModeTree.labels": of(tree, "labels"),
    "ModeTree.to_frame": of(tree, "to_frame"),
    "PathDisplay.from_estimator": lambda **given: PathDisplay.from_estimator(
        **({"estimator": _kmodes(), "X": X} | given)
    ),
    "PathDisplay.plot": of(lambda: shown(PathDisplay), "plot"),
    "ModesDisplay.from_estimator": lambda **given: ModesDisplay.from_estimator(
        **({"estimator": _kmodes(), "X": X} | given)
    ),
    "ModesDisplay.plot": of(lambda: shown(ModesDisplay), "plot"),
    "ScheduleDisplay.from_estimator": lambda **given: ScheduleDisplay.from_estimator(
        **({"estimator": _kmodes()} | given)
    ),
    "ScheduleDisplay.from_path": lambda **given: ScheduleDisplay.from_path(
        **({"path": path()} | given)
    ),
    "ScheduleDisplay.plot": of(lambda: shown(ScheduleDisplay), "plot"),
    "ClusterCountDisplay.from_suggestion": lambda **given: ClusterCountDisplay.from_suggestion(
        **({"suggestion": suggestion()} | given)
    ),
    "ClusterCountDisplay.plot": of(lambda: ClusterCountDisplay(suggestion=suggestion()), "plot"),
    "report": lambda **given: modeclust.report(**({"clustering": _kmodes(), "data": X} | given)),
    "Report.save": of(lambda: Report({}), "save"),
}


# Rows of the table.


class Bad(NamedTuple):
    value: Any
    message: str
    error: type[Exception]
    beside: dict[str, Any]  # other arguments, where it is bad beside them


class Anything(NamedTuple):
    why: str


def bad(value, message, error=ValueError, **beside):
    return Bad(value, message, error, beside)


def anything(why):
    return [Anything(why)]


IGNORED = anything("ignored, for scikit-learn's sake")


def spoiled(value):
    rows = X.copy()
    rows[3, 1] = value
    return rows


def by_rule(name, *values):
    """Return rows for a parameter that scikit-learn's rules refuse."""
    return [bad(value, rf"'{name}' parameter .* Got GOT instead") for value in values]


def count(name, lowest=1):
    return by_rule(name, lowest - 1, lowest + 0.5, "many", None, [lowest])


def positive(name, *more):
    return by_rule(name, 0, -1.0, np.nan, -np.inf, "wide", [1.0], *more)


def switch(name):
    return by_rule(name, "yes", 2, None)


KERNEL = by_rule("kernel", "triangle", None, 1)
METRIC = by_rule("metric", "manhattan", None, 1)
SEED = by_rule("random_state", "seed", 1.5, -1)
THREADS = [*by_rule("n_jobs", 1.5, "all"), bad(0, "n_jobs must not be 0; pass None or -1")]
TOLERANCE = by_rule("tol", -1e-3, np.nan, "small", None)
INIT = [
    *by_rule("init", "best", None, 3),
    bad(X[:2], r"init must have shape \(3, 2\), one row for each cluster, got \(2, 2\)"),
    bad(X[:3, :1], r"init must have shape \(3, 2\), .* got \(3, 1\)"),
    bad(spoiled(np.nan)[3:6], "init contains NaN"),
    bad([["a", "b"]] * 3, "init must be numbers.* 'a'"),
    bad([[1.0, 2.0], [3.0, 4.0], [5.0]], "init must be numbers.* inhomogeneous"),
]
STORE_LABELS = by_rule("store_labels", "sometimes", 2, None)
VERBOSE = by_rule("verbose", -1, "loud", None)
CLUSTERS = [
    *count("n_clusters"),
    bad(11, "n_clusters=11 is more than the number of rows of X, n_samples=10; lower"),
]
TO_SCALE = [
    bad(np.ones((2, 3)), r"X must be rows of 2 features.* got shape \(2, 3\)"),
    bad(1.0, r"X must be rows of 2 features.* got shape \(\)"),
    bad([["a", "b"]], "could not convert string to float: 'a'"),
]
NO_RULES = (
    *("knn/", "knn/0", "knn/-2", "knn/inf", "knn/nan", "magic/3", "3/knn", "knn/1e7"),
    *("knn*", "0*knn", "-1*knn", "nan*knn", "knn*2*3", "2*knn*3", "knn*0", "knn/2/2", "k nn"),
)
START_BANDWIDTH = [
    *positive("start_bandwidth"),
    bad(0.5, "start_bandwidth must be finite and greater than the target bandwidth, 1, got 0.5"),
]
THRESHOLD = [
    bad(value, "threshold must be a number >= 0, got GOT") for value in (-0.1, np.nan, "most", None)
]
BANDWIDTHS_OF_A_PATH = [
    *by_rule("bandwidths", 1.0, None, "knn"),
    bad([], "at least one number, got GOT"),
    bad([[2.0, 1.0]], "one-dimensional .* got GOT"),
    bad([1.0, 2.0], "bandwidths must decrease, np.inf first, got GOT"),
    bad([np.inf, np.inf], "bandwidths must decrease, np.inf first, got GOT"),
    bad([1.0, 0.0], "bandwidths must be > 0, got GOT"),
    bad([1.0, np.nan], "bandwidths must be > 0, got GOT"),
    bad(["wide"], "bandwidths must be a list of numbers, got GOT"),
    bad([[2.0], [1.0, 0.5]], "bandwidths must be a list of numbers, got GOT"),
]
BANDWIDTHS_OF_A_TREE = [
    bad([], "bandwidths .* at least one number, got GOT"),
    bad(1.0, "bandwidths .* one-dimensional .* got GOT"),
    bad("knn", "bandwidths must be a list of numbers, got GOT"),
    bad(None, "bandwidths .* got GOT"),
    bad([[2.0, 1.0]], "bandwidths .* one-dimensional .* got GOT"),
    bad([1.0, 1.0], "bandwidths must differ, got GOT"),
    bad([1.0, np.inf], "bandwidths must be finite and > 0, got GOT"),
    bad([0.0], "bandwidths must be finite and > 0, got GOT"),
]

TEXT = bad(
    pd.DataFrame({0: X[:, 0], 1: ["x"] * 10}), "column 1 does not: could not .* 'x'. Leave it"
)
# scikit-learn's own words for the main argument: they do not always name it.
ROWS = [
    bad(spoiled(np.nan), "Input X contains NaN"),
    bad(spoiled(np.inf), "Input X contains infinity"),
    bad(sparse.csr_array(spoiled(np.nan)), "Input X contains NaN"),
    bad([["a", "b"], ["c", "d"]], "could not convert string to float: 'a'"),
    bad([[1.0, 2.0], [3.0]], "inhomogeneous"),
    bad(np.empty((0, 2)), "0 sample"),
    bad([1.0, 2.0, 3.0], "Expected 2D array, got 1D"),
    bad(np.zeros((2, 2, 2)), "dim 3"),
    bad(X + 1j, "Complex data not supported"),
    bad(None, "Expected 2D array, got scalar array instead"),
    TEXT,
    bad(pd.DataFrame({0: X[:, 0], 1: WHEN}), "column 1 does not: it holds dates or times. Leave"),
    bad("rows.csv", "could not convert string to float: 'rows.csv'"),
]
TO_FIT = [
    *ROWS,
    bad(X[:1], r"1 sample.* minimum of 2"),
    bad(np.empty((5, 0)), "0 feature"),
]
NEW = [*ROWS, bad(X[:, :1], r"X has 1 features, but \w+ is expecting 2")]
TO_CLUSTER = [
    *TO_FIT,
    bad(X[:2], "n_clusters=3 is more than the number of rows of X, n_samples=2; lower"),
]
KNOWN = [*NEW, bad(X[:5], "X must be the data that the model was fitted on, 10 rows, got 5")]

WEIGHTS = [
    bad(np.full(10, -1.0), "sample_weight must be >= 0, got -1 in row 0; pass 0"),
    bad(np.zeros(10), "Sample weights must contain at least one non-zero"),
    bad(np.ones(9), r"sample_weight.shape == \(9,\), expected \(10,\)"),
    bad(np.ones((10, 1)), "(?i)sample.weights must be 1D"),
    bad(np.full(10, np.nan), "sample_weight contains NaN"),
    bad(np.full(10, np.inf), "sample_weight contains infinity"),
    bad(["heavy"] * 10, "sample_weight must be numbers.* 'heavy'"),
    bad("heavy", "sample_weight must be numbers.* 'heavy'"),
]
TABLE_ROWS = [
    bad(X[:1], "X must have at least 2 rows, got n_samples=1"),
    bad(sparse.csr_array(X), "Sparse data was passed", TypeError),
    bad(pd.DataFrame({"a": ["x"] * 10}), r"X has no column to cluster by; left out: a \(constant"),
    bad([1.0, 2.0, 3.0], "Expected 2D array, got 1D"),
    bad(pd.DataFrame(index=range(3)), "X must have at least one column, got none"),
]
SCALES = [
    bad(np.zeros(10), "sample_scale must be > 0, got 0.0"),
    bad(np.ones(9), r"sample_scale must have shape \(10,\), one value for .* got \(9,\)"),
    bad(np.ones((10, 1)), r"sample_scale must have shape \(10,\), .* got \(10, 1\)"),
    bad(1.0, "sample_scale must be numbers.* scalar"),
    bad(np.full(10, np.nan), "sample_scale contains NaN"),
    bad(np.full(10, np.inf), "sample_scale contains infinity"),
    bad(np.geomspace(1e-60, 1, 10), r"factor of 1e\+50, got values from 1e-60 to 1"),
    bad(["far"] * 10, "sample_scale must be numbers.* 'far'"),
]
FILE_TO_WRITE = [
    bad(None, "path must be a str or path-like, got GOT", TypeError),
    bad(3, "path must be a str or path-like, got GOT", TypeError),
    bad("absent/model.npz", "absent/model.npz", FileNotFoundError),
    bad(".", "Is a directory", IsADirectoryError),
]
REPORT_TO_WRITE = [
    bad("report.pdf", "must end in .html or .json, got GOT"),
    bad("absent/report.html", "the folder of the report does not exist", FileNotFoundError),
    bad(3, "path must be a str or path-like, got GOT", TypeError),
]
INDEX = [
    bad(10, "index", IndexError),
    bad(-10, "index", IndexError),
    bad(0.5, "integer", TypeError),
    bad("first", "integer", TypeError),
]
BACKEND = [
    bad("arrow", "backend must be 'polars', 'pandas' or 'dict', got GOT"),
    bad(3, "backend must be .* got GOT"),
]
NAMES = [
    bad(["a"], "feature_names must have one name for each of the 2 features, got 1"),
    bad("ab", "feature_names must be a list of names, got GOT"),
    bad(3, "feature_names must be a list of names, got GOT"),
]
CLASSES = [
    bad(np.zeros(9), "y must have one class for each of the 10 rows of X, got 9"),
    bad(np.full(10, np.nan), "y must have a class for each row, but 10 are missing"),
    bad(np.linspace(0, 1, 10), "y must be classes, got numbers that are not whole"),
    bad(np.zeros((10, 2)), r"y should be a 1d array, got an array of shape \(10, 2\)"),
]
IMAGE = [
    bad((3, 3), r"image_shape must hold the 2 features, got \(3, 3\), which holds 9"),
    bad((2,), r"image_shape must be \(height, width\) .* got GOT"),
    bad((1, -2), r"image_shape must be \(height, width\) .* got GOT"),
    bad(2, r"image_shape must be \(height, width\) .* got GOT"),
    bad("1x2", r"image_shape must be \(height, width\) .* got GOT"),
]
AXES = [bad(3, "ax must be one of matplotlib's Axes or None, got GOT", TypeError)]
ON_THE_PATH = [
    bad(0.1, "bandwidth=0.1 is not on the path, which goes from inf to 2; fit a path"),
    *(
        bad(value, "bandwidth must be a number > 0, got GOT")
        for value in (0, -1.0, np.nan, "wide", [2.0, 4.0])
    ),
]
PATH_MODEL = [
    bad(KModes(3), "not fitted yet", NotFittedError),
    bad(_mean_shift(), "MeanShift has not; pass a fitted KModes"),
    bad(None, "None is not an estimator instance", TypeError),
    bad(KModes, "KModes'> is a class, not an instance", TypeError),
]

SHARED_BY_PATHS = {
    "kernel": KERNEL,
    "metric": METRIC,
    "n_init": count("n_init"),
    "path_iter": count("path_iter"),
    "max_iter": count("max_iter"),
    "random_state": SEED,
    "n_jobs": THREADS,
    "store_labels": STORE_LABELS,
    "tol": TOLERANCE,
    "init": INIT,
    "n_clusters": CLUSTERS,
}
CLIMBS = {
    "kernel": KERNEL,
    "metric": METRIC,
    "max_iter": count("max_iter"),
    "tol": positive("tol", None),
    "merge_radius": positive("merge_radius", None),
    "random_state": SEED,
    "n_jobs": THREADS,
}
W = np.ones((10, 10))


def by_hand(message, *values):
    return [bad(value, message) for value in values]


def one_for_each_row(name):
    """Return rows for a parameter that is a column of the data or has one value for each row."""
    return [
        bad("absent", f"{name} must be a column of data or one value for each row"),
        bad(["a"], f"{name} must have one value for each of the 10 rows, got 1"),
        bad(3, f"{name} must be a column of data or one value for each row, got GOT"),
    ]


def nearly_symmetric():
    given = W.copy()
    given[0, 1] = given[1, 0] = 1e12
    given[5] *= 2
    return given


ROWS_PER_MODE = by_rule("rows_per_mode", 0.5, 0, -3, np.nan, "few", None)
STABILITY = {
    "X": KNOWN,
    "n_resamples": [
        bad(v, "n_resamples must be an integer >= 1, got GOT") for v in (0, 2.5, "ten", None)
    ],
    "random_state": [
        bad(v, "cannot be used to seed|Seed must be between") for v in ("seed", 1.5, -1)
    ],
    "sample_weight": WEIGHTS,
}
REPORT = {
    "X": [
        *(row for row in KNOWN if row is not TEXT),
        bad(TEXT.value, "X must be given.* column '1' of data has text. Pass what was clustered"),
    ],
    "y": [
        *CLASSES,
        bad("report.html", "y must be the class of each row.* name the file by path='report.html'"),
    ],
    "path": REPORT_TO_WRITE,
    "image_shape": IMAGE,
    "feature_names": NAMES,
    "title": anything("whatever it is, the heading is its text"),
    "notes": [bad(3, "notes must be a list of sentences, got GOT")],
    "row_names": one_for_each_row("row_names"),
    "texts": one_for_each_row("texts"),
    "overwrite": by_hand("overwrite must be True or False, got GOT", "yes", 1, None),
    "sample_weight": WEIGHTS,
}
RESAMPLES = by_hand("stability must be a number of resamples >= 0, got GOT", -1, 2.5, "ten", None)
TABLE: dict[str, dict[str, list[Bad | Anything]]] = {
    "KModes": {
        **SHARED_BY_PATHS,
        "bandwidth": positive("bandwidth", "magic", *NO_RULES, None),
        "adaptive": switch("adaptive"),
        "n_bandwidths": count("n_bandwidths"),
        "rows_per_mode": ROWS_PER_MODE,
        "max_clusters": count("max_clusters"),
        "reassign": switch("reassign"),
        "start_bandwidth": [
            *START_BANDWIDTH,
            bad(np.inf, "start_bandwidth must be finite and greater .* got GOT"),
        ],
        "mean_shift_iter": count("mean_shift_iter"),
        "half_life": positive("half_life", None),
        "checkpoint": [
            *by_rule("checkpoint", 3, True),
            bad("absent/fit.checkpoint", "absent", FileNotFoundError),
            bad(".", "directory|folder", IsADirectoryError),
        ],
        "keep_checkpoint": switch("keep_checkpoint"),
        "verbose": VERBOSE,
    },
    "KModes.fit": {
        "X": TO_CLUSTER, "y": IGNORED, "sample_weight": WEIGHTS, "sample_scale": SCALES
    },
    "KModes.partial_fit": {
        "X": NEW, "y": IGNORED, "sample_weight": WEIGHTS, "sample_scale": SCALES
    },
    "KModes.predict": {"X": NEW},
    "KModes.predict_proba": {"X": NEW},
    "KModes.score_outliers": {"X": NEW},
    "KModes.transform": {"X": NEW},
    "KModes.score": {
        "X": NEW, "y": IGNORED, "sample_weight": WEIGHTS, "sample_scale": SCALES
    },
    "KModes.redundant_clusters": {
        "threshold": THRESHOLD
    },
    "KModes.merge_redundant": {
        "X": KNOWN,
        "threshold": THRESHOLD,
        "sample_weight": WEIGHTS,
        "sample_scale": SCALES,
    },
    "KModes.stability": {**STABILITY, "sample_scale": SCALES},
    "KModes.report": {**REPORT, "stability": RESAMPLES, "sample_scale": SCALES},
    "KModes.save": {"path": FILE_TO_WRITE},
    "LaplacianKModes": {
        **SHARED_BY_PATHS,
        "max_clusters": count("max_clusters"),
        "smoothing": by_rule("smoothing", -1.0, np.nan, np.inf, 1e-200, 1e300, "much", None),
        "n_neighbors": [
            *count("n_neighbors"),
            *by_rule("n_neighbors", "few", None),
            bad(10, "n_neighbors=10 must be less than .* n_samples=10; lower n_neighbors"),
        ],
        "affinity": [
            *by_rule("affinity", "warm", None, 3),
            bad(W[:9], r"affinity must have shape \(10, 10\), .* got \(9, 10\)"),
            bad(-W, "affinity must be >= 0, got -1"),
            bad(np.triu(W), "affinity must be symmetric: .* differ by 1"),
            bad(nearly_symmetric(), "affinity must be symmetric"),
            bad(W[0], "affinity must be numbers.* Expected 2D array"),
            bad(sparse.csr_array(W * np.inf), "affinity contains infinity"),
            bad([["a"] * 10] * 10, "affinity must be numbers.* 'a'"),
            bad(1e-200 * W, "affinity must be between 1e-100 and 1e.100 .* got 1e-200"),
            bad(W * np.nan, "affinity contains NaN"),
            bad(1e200 * W, "affinity must be between 1e-100 and 1e.100 .* got 1e.200"),
        ],
        "affinity_bandwidth": positive("affinity_bandwidth", np.inf),
        "rows_per_mode": ROWS_PER_MODE,
        "bandwidth": positive("bandwidth", "magic", *NO_RULES, np.inf, None),
        "start_bandwidth": [*START_BANDWIDTH, *by_rule("start_bandwidth", np.inf, None)],
        "n_bandwidths": count("n_bandwidths"),
        "solver": by_rule("solver", "magic", None),
        "neighbor_search": by_rule("neighbor_search", "quick", None),
        "verbose": VERBOSE,
    },
    "LaplacianKModes.fit": {
        "X": TO_CLUSTER,
        "y": IGNORED,
        "sample_weight": [
            *WEIGHTS,
            bad(np.full(10, 1e-200), "sample_weight must be between 1e-100 and .* got 1e-200"),
            bad(np.full(10, 1e200), "sample_weight must be between 1e-100 and .* got 1e.200"),
        ],
    },
    "LaplacianKModes.predict": {"X": NEW},
    "LaplacianKModes.predict_proba": {"X": NEW},
    "LaplacianKModes.stability": STABILITY,
    "LaplacianKModes.report": {
        **REPORT,
        "stability": RESAMPLES,
        "sample_scale": [bad(np.ones(10), "sample_scale must be None: LaplacianKModes has no")],
    },
    "LaplacianKModes.save": {"path": FILE_TO_WRITE},
    "MeanShift": {
        **CLIMBS,
        "bandwidth": positive("bandwidth", "magic", *NO_RULES, np.inf, None),
        "n_clusters": [
            *by_rule("n_clusters", 0, 2.5, "many"),
            bad(11, "n_clusters=11 is more than the number of rows of X, n_samples=10; lower"),
        ],
        "adaptive": switch("adaptive"),
        "seeds": [
            *by_rule("seeds", "some", 0, 2.5, None),
            bad(X[:, :1], "seeds must have as many columns as X, 2, got 1"),
            bad(X[0], "seeds must be numbers.* 2D array"),
            bad(spoiled(np.nan), "seeds contains NaN"),
            bad([["a", "b"]], "seeds must be numbers.* 'a'"),
            bad(2, "n_clusters=3 modes cannot be found from 2 seeds", n_clusters=3),
            bad(X[:2], "n_clusters=3 modes cannot be found from 2 seeds", n_clusters=3),
        ],
    },
    "MeanShift.fit": {
        "X": TO_FIT, "y": IGNORED, "sample_weight": WEIGHTS, "sample_scale": SCALES
    },
    "MeanShift.predict_proba": {"X": NEW},
    "MeanShift.predict": {
        "X": NEW,
        "method": [bad(v, "method must be 'basin' or 'nearest', got GOT") for v in ("far", None)],
    },
    "MeanShift.save": {"path": FILE_TO_WRITE},
    "kmodes_path": {
        **SHARED_BY_PATHS,
        "X": TO_CLUSTER,
        "bandwidths": BANDWIDTHS_OF_A_PATH,
        "mean_shift_iter": count("mean_shift_iter"),
        "sample_weight": WEIGHTS,
        "sample_scale": SCALES,
    },
    "cluster_modes": {
        "X": [*ROWS, bad(np.empty((5, 0)), "0 feature")],
        "labels": [
            bad(np.zeros(9, int), "labels must have one entry for each of the 10 rows of X, got 9"),
            bad(np.full(10, -1), "labels must have a cluster, got -1, noise, for every row"),
            bad(np.full(10, 0.5), "labels must be integers or strings, got float64"),
            bad(np.full(10, np.nan), "labels must not have NaN or missing values, got 10"),
            bad(np.zeros((10, 2), int), "should be a 1d array"),
            bad(None, "should be a 1d array"),
        ],
        "bandwidth": positive("bandwidth", "magic", *NO_RULES, None),
        "rows_per_mode": ROWS_PER_MODE,
        "kernel": KERNEL,
        "metric": METRIC,
        "sample_weight": WEIGHTS,
        "sample_scale": SCALES,
        "random_state": SEED,
        "n_jobs": THREADS,
    },
    "suggest_clusters": {
        "X": TO_FIT,
        "max_clusters": count("max_clusters"),
        "metric": METRIC,
        "sample_weight": WEIGHTS,
        "random_state": SEED,
        "n_jobs": THREADS,
    },
    "estimate_bandwidth": {
        "X": TO_FIT,
        "rule": by_rule("rule", "magic", None, 1.0),
        "n_neighbors": count("n_neighbors"),
        "local": switch("local"),
        "n_samples": count("n_samples", 2),
        "statistic": by_rule("statistic", "mode", None, 1.0),
        "metric": METRIC,
        "sample_weight": WEIGHTS,
        "random_state": SEED,
        "n_jobs": THREADS,
    },
    "modes_by_bandwidth": {
        **CLIMBS,
        "X": TO_FIT,
        "bandwidths": BANDWIDTHS_OF_A_TREE,
        "sample_weight": WEIGHTS,
        "sample_scale": SCALES,
    },
    "load": {
        "path": [
            bad("absent.npz", "absent.npz", FileNotFoundError),
            bad(".", "directory", IsADirectoryError),
            bad(3, "path must be a str or path-like, got GOT", TypeError),
            bad(None, "path must be a str or path-like, got GOT", TypeError),
        ]
    },
    "load_dataset": {
        "name": [
            bad("irs", "No built-in dataset 'irs'; choose one of blobs, .* did you mean 'iris'"),
            bad(3, "No built-in dataset 3"),
            bad(["iris"], r"No built-in dataset \['iris'\]"),
        ]
    },
    "save": {
        "model": [
            bad(KModes(3), "not fitted yet", NotFittedError),
            bad(make_pipeline(MinMaxScaler(), _kmodes()), "Scaler, got MinMaxScaler", TypeError),
            bad(
                make_pipeline(TablePreparation(), StandardScaler(), _kmodes()),
                "may have one TablePreparation or StandardScaler, got Pipeline",
                TypeError,
            ),
            bad(make_pipeline(StandardScaler(), _kmodes()), "not fitted yet", NotFittedError),
            bad(StandardScaler().fit(X), "one of KModes, .* got a StandardScaler", TypeError),
            bad(None, "pass an instance|not an estimator instance", TypeError),
        ],
        "path": FILE_TO_WRITE,
    },
    "TablePreparation": {
        "kinds": [
            *by_rule("kinds", "number", 3),
            bad({"x9": "number"}, "kinds names 'x9', but the columns are x0, x1"),
            bad({"x0": "colour"}, r"kinds\['x0'\] must be one of number, category, .* got"),
            bad({"x0": "text"}, "Column 'x0' cannot be prepared as a text: it has texts without"),
        ],
        "scale": by_rule("scale", "unit", 1.0, True),
    },
    "TablePreparation.fit": {"X": TABLE_ROWS, "y": IGNORED, "sample_weight": WEIGHTS},
    "TablePreparation.transform": {
        "X": [
            bad(X[:, :1], "X has 1 features, but TablePreparation is expecting 2"),
            bad(None, "Expected 2D array, got scalar array instead"),
        ]
    },
    "TablePreparation.inverse_transform": {"X": TO_SCALE, "backend": BACKEND},
    "TablePreparation.get_feature_names_out": {"input_features": IGNORED},
    "ClusterSuggestion.plot": {"ax": AXES},
    "Path.__getitem__": {
        "index": [
            *INDEX,
            bad(slice(3, None), "must have at least one of its 3 bandwidths.* got GOT"),
            bad(slice(None, None, -1), "in their order, got GOT"),
            bad(slice("a", "b"), "integer", TypeError),
        ]
    },
    "Path.at": {"bandwidth": ON_THE_PATH},
    "Path.to_frame": {"backend": BACKEND},
    "ModeTree.__getitem__": {
        "index": [*INDEX, bad(slice(0, 1), "integer, got GOT; slice tree.levels", TypeError)]
    },
    "ModeTree.labels": {"index": INDEX},
    "ModeTree.to_frame": {"backend": BACKEND},
    "PathDisplay.from_estimator": {
        "estimator": PATH_MODEL,
        "X": KNOWN,
        "bandwidth": ON_THE_PATH,
        "feature_names": NAMES,
        "sample_weight": WEIGHTS,
        "sample_scale": SCALES,
        "ax": AXES,
        "kwargs": [bad({"colour": "red"}, "unexpected keyword argument 'colour'", TypeError)],
    },
    "PathDisplay.plot": {
        "ax": AXES,
        "levels": [
            bad(value, "levels must be a list of numbers between 0 and 1, got GOT")
            for value in ([0.5, 1.5], [np.nan], [], 0.5, ["high"])
        ],
        "bins": [
            bad("many", "'many' is not a valid estimator for `bins`"),
            bad(0, "`bins` must be positive"),
            bad([2.0, 1.0], "`bins` must increase"),
        ],
        "legend": anything("its truth counts"),
    },
    "ModesDisplay.from_estimator": {
        "estimator": [
            bad(KModes(3), "not fitted yet", NotFittedError),
            bad(DBSCAN().fit(X), "cluster_centers_ and labels_, but DBSCAN has not; pass a"),
            bad(None, "None is not an estimator instance", TypeError),
        ],
        "X": KNOWN,
        "y": CLASSES,
        "bandwidth": ON_THE_PATH,
        "n_exemplars": [
            bad(v, "n_exemplars must be an integer > 0, got GOT") for v in (0, 2.5, None)
        ],
        "image_shape": IMAGE,
        "feature_names": NAMES,
        "n_terms": [
            bad(v, "n_terms must be an integer > 0, got GOT") for v in (0, 2.5, None)
        ],
        "clusters": [
            bad(v, "clusters must be a list of integers from 0 to 2, got GOT")
            for v in ([], [3], [-1], [0.5], 1, "01")
        ],
        "sample_weight": WEIGHTS,
        "ax": AXES,
        "kwargs": [bad({"colour": "red"}, "unexpected keyword argument 'colour'", TypeError)],
    },
    "ModesDisplay.plot": {
        "ax": AXES,
        "cmap": [
            bad(value, "cmap must be a Colormap or the name of one, got GOT")
            for value in ("no_such_map", 3)
        ],
    },
    "ScheduleDisplay.from_estimator": {"estimator": PATH_MODEL, "ax": AXES},
    "ScheduleDisplay.from_path": {
        "path": [
            bad(value, "path must be a Path, .* got GOT", TypeError)
            for value in (None, "fit.npz", X)
        ],
        "ax": AXES,
    },
    "ScheduleDisplay.plot": {"ax": AXES},
    "ClusterCountDisplay.from_suggestion": {
        "suggestion": [
            bad(value, "suggestion must be a ClusterSuggestion, .* got GOT", TypeError)
            for value in (None, 5, X)
        ],
        "ax": AXES,
    },
    "ClusterCountDisplay.plot": {"ax": AXES},
    "report": {
        **{name: rows for name, rows in REPORT.items() if name not in ("X", "y")},
        "clustering": [
            bad("labels", "clustering must be a fitted KModes, .* or labels, got GOT"),
            bad(None, "clustering must be a fitted KModes, .* or labels, got GOT"),
            bad(GaussianMixture(2).fit(X), "got a GaussianMixture without labels_"),
            bad(np.arange(100), "100 of 100 labels are distinct; is this a column of ids"),
            bad([0.0, np.nan] * 5, "labels must not have NaN or missing values, got 5"),
            bad(KModes(3), "not fitted", NotFittedError),
            bad([0, 1], "labels must have one entry for each of the 10 rows of X, got 2"),
        ],
        "data": [
            bad(X[1:], "fitted on, 10 rows, got 9"),
            bad(X[1:], "data must have the 10 rows that were clustered.* got 9", X=X),
            bad(X[::-1], "in the same order.* pass that as X"),
            bad(np.zeros((10, 2, 2)), "data must have rows and columns", X=X),
            bad(np.arange(10) % 2, "clustering and data seem to be swapped", clustering=X),
            bad(["text"] * 10, "pass what was clustered as X"),
        ],
        "X": [row for row in KNOWN if row.value is not None],
        "y": REPORT["y"],
        "stability": [
            *RESAMPLES, bad(3, "stability must be 0 for labels", clustering=np.arange(10) % 2)
        ],
        "sample_scale": SCALES,
    },
    "Report.save": {
        "path": [
            *REPORT_TO_WRITE,
            bad(None, "path must be a str or path-like, got GOT", TypeError),
            bad(".", "must end in .html or .json, got GOT"),
        ]
    },
}  # fmt: skip


def test_every_parameter_has_a_row():
    assert {name: sorted(rows) for name, rows in TABLE.items()} == {
        name: sorted(parameters(name)) for name in PUBLIC if parameters(name)
    }
    assert CALLS.keys() == TABLE.keys()
    assert all(rows for row in TABLE.values() for rows in row.values())


@pytest.fixture(scope="module")
def empty_folder(tmp_path_factory):
    """Make work fail: going over rows, looking for neighbours; and let writing be seen."""

    def work(*args, **options):
        raise AssertionError("work began")

    folder = tmp_path_factory.mktemp("model") / "empty"
    folder.mkdir()
    _kmodes().save(folder.parent / "model.npz")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("run", "distances"):
            patch.setattr(f"modeclust.data.memory.MemoryDataset.{name}", work)
        patch.setattr("modeclust._core.nearest_rows", work)
        patch.setattr("modeclust.reporting.data.labels_along", work)
        patch.chdir(folder)
        yield folder


@pytest.fixture
def no_work(empty_folder):
    """Fail where work began, or anything was written or drawn."""
    yield
    assert list(empty_folder.iterdir()) == []
    assert plt.get_fignums() == []


def refusal(call, arguments):
    try:
        call(**arguments)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, parameter) for name in TABLE for parameter in TABLE[name]]
)
def test_a_bad_argument_is_refused_before_work(name, parameter, no_work):
    kind = inspect.signature(PUBLIC[name]).parameters[parameter].kind
    for row in TABLE[name][parameter]:
        if isinstance(row, Anything):
            continue
        given = row.value if kind is inspect.Parameter.VAR_KEYWORD else {parameter: row.value}
        error = refusal(CALLS[name], given | row.beside)
        assert isinstance(error, row.error), f"{row.value!r} got {error!r}"
        message = row.message.replace("GOT", re.escape(repr(row.value)))
        assert re.search(message, str(error)), f"{row.value!r} got {error!r}"


def test_what_is_bad_only_together(no_work):
    for model in (KModes(3, adaptive=True), MeanShift(adaptive=True)):
        with pytest.raises(ValueError, match="sample_scale cannot be given with adaptive=True"):
            model.fit(X, sample_scale=np.ones(10))
    with pytest.raises(ValueError, match="seeds='bin' needs dense rows; pass seeds='all'"):
        MeanShift(seeds="bin").fit(sparse.csr_array(X))


# The commands. A row is what is typed after a command whose other arguments are good.

TYPED = {
    "fit": ["fit", "iris", "-k", "3"],
    "explore": ["explore", "iris", "-k", "3", "--no-open"],
    "predict": ["predict", "../model.npz", "wine", "-o", "labels.csv"],
    "report": ["report", "../model.npz", "wine", "--no-open"],
    "info": ["info", "../model.npz"],
    "demo": ["demo", "--no-open"],
}
DATA = [
    ("irs", "No built-in dataset 'irs'; .* did you mean 'iris'"),
    ("absent.csv", "'absent.csv': No such file or directory"),
    ("data.xlsx", "must end in one of"),
    ("", "No built-in dataset ''"),
]
NO_FOLDER = ("absent/out", "there is no folder '.*absent'; create it first")
NO_NAMES = ("", "--exclude must name at least one column")
JOB = {
    "data": DATA,
    "n_clusters": [
        ("0", "--clusters must be auto or an integer > 0, got '0'"),
        ("2.5", "--clusters must be auto or an integer > 0, got '2.5'"),
        ("many", "--clusters must be auto or an integer > 0, got 'many'"),
        ("151", "--clusters=151 is more than the number of rows, 150; lower --clusters"),
    ],
    "max_clusters": [
        ("0", "'--max-clusters': .*1"),
        ("2.5", "'--max-clusters': .*integer"),
        ("many", "'--max-clusters': .*integer"),
        ("5", "--max-clusters applies only to --clusters auto, got --clusters 3; remove one"),
    ],
    "bandwidth": [
        (value, f"--bandwidth must be auto, a number > 0, inf, one of knn, .* got '{value}'")
        for value in ("0", "-1", "nan", "wide", "knn/", "knn/0", "auto/2")
    ],
    "rows_per_mode": [
        (value, f"--rows-per-mode must be auto, a number >= 1, or inf, got '{value}'")
        for value in ("0.5", "-1", "nan", "few")
    ],
    "kernel": [("triangle", "'--kernel': .*'triangle' is not one of 'gaussian', ")],
    "metric": [("manhattan", "'--metric': .*'manhattan' is not one of 'euclidean', 'cosine'")],
    "columns": [
        ("x9", "'iris' has no column 'x9'"),
        ("x,x", "must not repeat a column"),
        ("", "--columns must name at least one column"),
    ],
    "exclude": [("x9", "'iris' has no column 'x9'"), NO_NAMES],
    "kinds": [
        ("x0", "--kinds must have items NAME=KIND, with a KIND of number, .* got 'x0'"),
        ("x0=colour", "--kinds must have items NAME=KIND, .* got 'colour' in 'x0=colour'"),
        ("", "--kinds must name at least one column"),
    ],
    "label_column": [("kind", "The built-in dataset 'iris' has no columns of labels")],
    "weight_column": [
        ("w", "The built-in dataset 'iris' has no columns of labels, weights or ids")
    ],
    "id_column": [("id", "The built-in dataset 'iris' has no columns of .* ids")],
    "separator": [(";", "--separator applies only to text files, .* 'iris'; remove")],
    "image": [
        ("8", "--image must be HEIGHTxWIDTH, e.g. 28x28, got '8'"),
        ("0x8", "--image must be HEIGHTxWIDTH, e.g. 28x28, got '0x8'"),
        ("8x8", "--image 8x8 needs 64 columns, got 4"),
    ],
    "n_bandwidths": [("0", "'--n-bandwidths': .*1"), ("x", "'--n-bandwidths': .*integer")],
    "n_init": [
        (value, f"--n-init must be auto or an integer > 0, got '{value}'")
        for value in ("0", "x", "1.5")
    ],
    "seed": [
        ("-1", "'--seed': .*0"),
        (str(2**32), "'--seed': .*4294967295"),
        ("x", "'--seed': .*integer"),
    ],
    "jobs": [("0", "--jobs must not be 0; pass -1"), ("1.5", "'--jobs': .*integer")],
    "method": [("spectral", "'--method': .*'spectral' is not one of 'kmodes', 'laplacian'")],
    "smoothing": [("1", "--smoothing applies only to --method laplacian; remove it")],
    "n_neighbors": [("5", "--n-neighbors applies only to --method laplacian; remove it")],
    "neighbor_search": [
        ("all", "'--neighbor-search': .*'all' is not one of 'auto', "),
        ("exact", "--neighbor-search applies only to --method laplacian; remove it"),
    ],
    "solver": [
        ("newton", "'--solver': .*'newton' is not one of 'bound', 'gradient'"),
        ("gradient", "--solver applies only to --method laplacian; remove it"),
    ],
    "checkpoint": [
        ("absent/fit.checkpoint", "absent"),
        (".", "'.': Not a regular file"),
    ],
}
MODEL = [
    ("absent.npz", "absent.npz.*No such file"),
    (".", "'.' has no model.npz; pass the output folder"),
]
COMMANDS: dict[str, dict[str, list[tuple[str, str]]]] = {
    "fit": {**JOB, "output": [NO_FOLDER, (".", "the current folder cannot be replaced")]},
    "explore": {
        **JOB,
        "output": [("absent/page.html", NO_FOLDER[1]), ("page.pdf", "must end in .html, got")],
    },
    "predict": {
        "model": MODEL,
        "data": [*DATA, ("iris", "X has 4 features, but KModes is expecting 2")],
        "output": [
            ("absent/labels.csv", NO_FOLDER[1]),
            ("labels.pdf", "must end in one of"),
        ],
        "separator": [(";", "--separator applies only to text files, .* 'wine'; remove")],
        "id_column": [("id", "The built-in dataset 'wine' has no columns of .* ids")],
        "exclude": [("x9", "'wine' has no column 'x9'"), NO_NAMES],
    },
    "report": {
        "model": MODEL,
        "data": [*DATA, ("iris", "'iris' has 4 features, but KModes is expecting 2")],
        "output": [("absent/page.html", NO_FOLDER[1]), ("page.pdf", "must end in .html, got")],
        "columns": [("x", "--columns applies to labels only")],
        "id_column": [("id", "The built-in dataset 'wine' has no columns of .* ids")],
        "text_column": [("note", "'wine' has no column 'note' for --text-column")],
        "image": [("8", "--image must be HEIGHTxWIDTH, e.g. 28x28, got '8'")],
        "stability": [("-1", "'--stability': .*0"), ("x", "'--stability': .*integer")],
        "separator": [(";", "--separator applies only to text files, .* 'wine'; remove")],
    },
    "info": {"model": MODEL},
    "demo": {"output": [NO_FOLDER, (".", "the current folder cannot be replaced")]},
}


def test_every_option_has_a_row():
    assert TYPED.keys() == COMMANDS.keys() == SHELL.commands.keys()
    for command, rows in COMMANDS.items():
        taking = {name for name, option in options(command).items() if not is_flag(option)}
        assert rows.keys() == taking, command


def is_flag(option):
    return getattr(option, "is_flag", False)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_option_gets_one_line_before_work(command, no_work):
    for name, option in options(command).items():
        if is_flag(option):
            flag = option.opts[0]
            line = refused(*TYPED[command], f"{flag}=3")
            assert f"Option '{flag}' does not take a value" in line
            continue
        for value, message in COMMANDS[command][name]:
            line = refused(*typed(command, name, option, value))
            assert re.search(message, line), line


def typed(command, name, option, value):
    """Return the words of a command in which one is bad."""
    if option.param_type_name == "option":
        return [*TYPED[command], option.opts[0], value]
    words = list(TYPED[command])
    place = [p for p, o in options(command).items() if o.param_type_name == "argument"].index(name)
    words[1 + place : 2 + place] = [value]
    return words
