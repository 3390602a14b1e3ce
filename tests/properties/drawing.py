"""What is drawn: rows in any form, and arguments for all that is public."""

import inspect
import warnings
from collections.abc import Callable
from contextlib import chdir
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from public import CALLABLE
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from modeclust.exceptions import (
    EmptyClusterWarning,
    EmptySupportWarning,
    SingleRowWarning,
    UnsureClusterCountWarning,
)
from modeclust.kernels import KERNELS
from modeclust.solvers.bandwidth import RULES

ALWAYS = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}


class Property(NamedTuple):
    check: Callable[..., None]
    table: dict[str, dict[str, Any]]
    strategies: tuple[Any, ...]
    n_quick: int
    n_thorough: int

    def run(self, *, thorough):
        """Try it on a few fixed examples, or on many random ones; each in a folder of its own."""
        asked = set()
        table = {name: st.fixed_dictionaries(row) for name, row in self.table.items()}
        ask = st.fixed_dictionaries(table).map(lambda drawn: Asking(drawn, asked))

        @wraps(self.check)  # hypothesis asks for the names of what it gives
        def tried(**drawn):
            try:
                with TemporaryDirectory() as folder, chdir(folder):
                    self.check(**drawn)
            finally:
                plt.close("all")

        how = (
            settings(max_examples=self.n_thorough, database=None, **ALWAYS)
            if thorough
            else settings(max_examples=self.n_quick, derandomize=True, **ALWAYS)
        )
        with warnings.catch_warnings():
            for kind in (
                EmptyClusterWarning,
                EmptySupportWarning,
                ConvergenceWarning,
                SingleRowWarning,
                UnsureClusterCountWarning,
            ):
                warnings.simplefilter("ignore", kind)
            how(given(ask, *self.strategies)(tried))()
        # A few examples may all be refused before the last of the calls.
        assert asked == set(table) or not thorough, "what is in the table must be called"


PROPERTIES = []


def holds_for(table, *strategies, quick=15, thorough=400):
    """Add a property that is given what calls the names in the table, and what else is drawn."""

    def add(check):
        PROPERTIES.append(Property(check, table, strategies, quick, thorough))
        return check

    return add


class OfRows(NamedTuple):
    """An argument that depends on the rows, and may depend on others."""

    told: str
    make: Callable[["Data", dict[str, Any]], Any]

    def __repr__(self):
        return self.told


class Found(dict):
    """Arguments that are made when they are first asked for, one of another."""

    def __init__(self, drawn, rows):
        super().__init__()
        self._drawn, self._rows = drawn, rows

    def __missing__(self, name):
        value = self._drawn[name]
        self[name] = value.make(self._rows, self) if isinstance(value, OfRows) else value
        return self[name]


class Asking:
    """Calls what is public by name, with the arguments that were drawn for it."""

    def __init__(self, drawn, asked):
        self.drawn, self.asked = drawn, asked

    def __call__(self, name, rows, *owner, **instead):
        """Return what a function, or a method of `owner`, answers."""
        arguments = self.arguments(name, rows) | instead
        positional = list(owner)
        for parameter in inspect.signature(CALLABLE[name]).parameters.values():
            if parameter.name in arguments and parameter.kind is parameter.VAR_POSITIONAL:
                positional += arguments.pop(parameter.name)
            elif parameter.name in arguments and parameter.kind is parameter.VAR_KEYWORD:
                arguments |= arguments.pop(parameter.name)
        return CALLABLE[name](*positional, **arguments)

    def arguments(self, name, rows):
        """Return the arguments of a name, made for these rows."""
        self.asked.add(name)
        found = Found(self.drawn[name], rows)
        return {parameter: found[parameter] for parameter in self.drawn[name]}

    def __repr__(self):
        return f"Asking({self.drawn})"


# Rows.


class Data(NamedTuple):
    X: Any  # in some form that users may have
    dense: Any  # the same numbers as float64
    eps: float  # by how much of the largest of them results may be rounded
    weight: Any
    scale: Any
    model: Any = None  # fitted to them
    file: Any = None  # that has them
    on_sphere: bool = False  # whether `dense` has length 1, as the metric "cosine" has it

    @property
    def present(self):
        return np.ones(len(self.dense), bool) if self.weight is None else self.weight > 0

    @property
    def n_distinct(self):
        return len(np.unique(self.dense[self.present], axis=0))

    @property
    def rounding(self):
        return self.eps * np.abs(self.dense).max()

    def by(self, metric):
        """Return the rows as a metric sees them."""
        if metric == "euclidean":
            return self
        largest = np.abs(self.dense).max(axis=1, keepdims=True)
        dense = self.dense / np.where(largest > 0, largest, 1.0)
        lengths = np.linalg.norm(dense, axis=1, keepdims=True)
        dense = dense / np.where(lengths > 0, lengths, 1.0)
        return self._replace(dense=dense, on_sphere=True)


def _frame(library):
    return lambda X: library(X, [f"f{j}" for j in range(X.shape[1])])


FORMS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
    "single CSR": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "CSC": sparse.csc_array,
    "list": lambda X: X.tolist(),
    "pandas": _frame(lambda X, names: pd.DataFrame(X, columns=names)),
    "polars": _frame(lambda X, names: pl.DataFrame(X, schema=names)),
    "int": lambda X: np.round(X).astype(np.int64),
    "bool": lambda X: X > 0,
    "not aligned": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}
DENSE = ("C order", "F order", "single", "int", "bool")


@st.composite
def data(draw, scales=True, weights=True, forms=tuple(FORMS), n_features=5):
    """Draw rows with ties, duplicates, constant columns, offsets; weights with zeros; scales."""
    n_rows, n_features = draw(st.integers(1, 30)), draw(st.integers(1, n_features))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    form = draw(st.sampled_from(sorted(forms)))
    X = rng.normal(size=(n_rows, n_features))
    if draw(st.booleans()):
        X = np.round(2 * X)
    if draw(st.booleans()):
        X = X[rng.integers(0, n_rows, size=n_rows)]
    if draw(st.booleans()):
        X[:, rng.integers(n_features)] = draw(st.sampled_from([0.0, 5.0]))
    if form not in ("int", "bool"):
        X = X * 10.0 ** draw(st.integers(-3, 3))
    if form not in ("bool", "CSR", "single CSR", "CSC"):
        X = X + draw(st.sampled_from([0.0, 0.0, 1e3, -1e6, 1e8])) * (np.abs(X).max() or 1)
    given_X = FORMS[form](X)
    weight = scale = None
    if weights and draw(st.booleans()):
        weight = rng.integers(0, 3, size=n_rows) * draw(st.sampled_from([1.0, 0.3, 1e-200]))
    if scales and draw(st.booleans()):
        scale = rng.uniform(0.3, 3, size=n_rows) * draw(st.sampled_from([1.0, 1e-20, 1e20]))
    return Data(given_X, as_dense(given_X), 1e-6 if "single" in form else 1e-14, weight, scale)


@st.composite
def blobs(draw, n_rows=(20, 200), scales=True):
    """Draw rows of which no two are as far from anything, so that rounding decides nothing."""
    size, n_features = draw(st.integers(*n_rows)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    middles = 4 * rng.normal(size=(3, n_features))
    X = middles[rng.integers(3, size=size)] + rng.normal(size=(size, n_features))
    weight = rng.integers(1, 4, size=size).astype(float) if draw(st.booleans()) else None
    scale = rng.uniform(0.5, 2, size=size) if scales and draw(st.booleans()) else None
    return Data(X, X, 1e-14, weight, scale)


def as_dense(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X).astype(float)


# Arguments that many take.


def of_rows(told, make):
    """Return what draws an argument that follows from the rows."""
    return st.just(OfRows(told, make))


def sizeable(weight):
    """Return weights that can be summed."""
    is_tiny = weight is not None and 0 < weight.max() < 1e-100
    return weight * 1e200 if is_tiny else weight


ROWS = of_rows("the rows", lambda rows, _: rows.X)
WEIGHT = of_rows("their weights", lambda rows, _: rows.weight)
SIZEABLE_WEIGHT = of_rows("their weights", lambda rows, _: sizeable(rows.weight))
SCALE = of_rows("their scales", lambda rows, _: rows.scale)
MODEL = of_rows("the model", lambda rows, _: rows.model)
IGNORED = st.sampled_from([None, OfRows("numbers", lambda rows, _: np.arange(len(rows.dense)))])
FIT = {"X": ROWS, "y": IGNORED, "sample_weight": WEIGHT, "sample_scale": SCALE}
FIT_SOFT = {"X": ROWS, "y": IGNORED, "sample_weight": SIZEABLE_WEIGHT}
FILE = {"path": st.sampled_from(["model.npz", Path("model.npz")])}
KERNEL = st.sampled_from(sorted(KERNELS))
EUCLIDEAN = st.just("euclidean")
# The directions of rows with one feature differ by rounding, or not at all.
METRIC = st.sampled_from(
    [
        "euclidean",
        OfRows(
            "cosine", lambda rows, _: "cosine" if rows.dense.shape[1] > 1 else "euclidean"
        ),
    ]
)  # fmt: skip
SEED = st.integers(0, 100)
THREADS = st.sampled_from([None, 1, 2, 3, -1])
STORE_LABELS = st.sampled_from(["auto", True, False])
VERBOSE = st.integers(0, 2)
RULE = st.sampled_from(RULES)
RATIOS = st.one_of(st.floats(-2, 2), st.sampled_from([-6.0, 6.0]))


def bandwidth_for(rows, exponent):
    """Return a bandwidth of so many orders beside the spread of the rows."""
    spread = np.ptp(rows.dense, axis=0).max() or 1.0
    size = 1.0 if rows.scale is None else float(np.mean(rows.scale))
    return float(10.0**exponent * spread / size)


NUMBER = RATIOS.map(
    lambda exponent: OfRows(
        f"1e{exponent:g} spreads", lambda rows, _: bandwidth_for(rows, exponent)
    )
)
BANDWIDTH = st.one_of(NUMBER, RULE)


def _start(factor):
    def make(rows, found):
        bandwidth = found["bandwidth"]
        if isinstance(bandwidth, str) or np.isinf(bandwidth):
            return "auto"  # it must be above a target that is not known here
        return factor * bandwidth

    return OfRows(f"{factor:g} bandwidths", make)


START = st.one_of(st.just("auto"), st.floats(1.01, 100).map(_start))


@st.composite
def inits(draw):
    """Draw a start for K clusters of some rows."""
    kind = draw(st.sampled_from(["k-means++", "random", "rows", "callable", "outside"]))
    if kind in ("k-means++", "random"):
        return kind
    if kind == "callable":
        return last_rows
    seed = draw(SEED)
    away = 3.0 if kind == "outside" else 0.0

    def make(rows, found):
        rng = np.random.default_rng(seed)
        start = rows.dense[rng.integers(0, len(rows.dense), size=found["n_clusters"])]
        return start + away * rng.normal(size=start.shape) * np.ptp(rows.dense, axis=0)

    return OfRows(kind, make)


def last_rows(X, n_clusters, random_state):
    return as_dense(X.compute() if hasattr(X, "compute") else X)[-n_clusters:]


# What K-modes takes in any form, and what the estimator besides.
PATHS = {
    "n_clusters": st.integers(1, 6),
    "n_init": st.one_of(st.integers(1, 3), st.just("auto")),
    "path_iter": st.integers(1, 3),
    "max_iter": st.sampled_from([1, 5, 300]),
    "tol": st.sampled_from([0.0, 1e-4, 0.1]),
    "kernel": KERNEL,
    "metric": METRIC,
    "init": inits(),
    "random_state": SEED,
    "store_labels": STORE_LABELS,
    "n_jobs": THREADS,
}
KMODES = {
    **PATHS,
    "max_clusters": st.integers(1, 6),
    "bandwidth": st.one_of(NUMBER, NUMBER, st.just(np.inf)),
    "n_bandwidths": st.integers(1, 4),
    "start_bandwidth": START,
    "mean_shift_iter": st.integers(1, 2),
    "rows_per_mode": st.sampled_from(["auto", 3]),
    "reassign": st.just(True),
    "verbose": VERBOSE,
}
BY_ITSELF = {
    **KMODES,
    "bandwidth": st.just("auto"),
    "rows_per_mode": st.sampled_from(["auto", 1, 3.5, np.inf]),
    "reassign": st.booleans(),
    "adaptive": st.booleans(),
}
BY_RULE = {"bandwidth": RULE, "start_bandwidth": st.just("auto")}
MEAN_SHIFT = {
    "bandwidth": NUMBER,
    "kernel": KERNEL,
    "metric": METRIC,
    "seeds": st.sampled_from(
        [
            "all",
            OfRows("bin", lambda rows, _: "all" if sparse.issparse(rows.X) else "bin"),
            5,
            OfRows("rows", lambda rows, _: rows.dense[:3]),
        ]
    ),
    "max_iter": st.sampled_from([3, 1000]),
    "tol": st.sampled_from([1e-5, 1e-3]),
    "merge_radius": st.sampled_from([0.1, 1.0]),
    "random_state": SEED,
    "n_jobs": THREADS,
}


def _affinities(rows, _):
    """Return whole numbers, so that no sum of them is rounded."""
    n_rows = len(rows.dense)
    W = np.random.default_rng(n_rows).integers(0, 3, size=(n_rows, n_rows))
    return sparse.csr_array(W + W.T)


LAPLACIAN = {
    **PATHS,
    "max_clusters": st.integers(1, 6),
    "init": st.one_of(st.just("linkage"), PATHS["init"]),
    "bandwidth": BANDWIDTH,
    "rows_per_mode": st.sampled_from(["auto", 1, 3.5, np.inf]),
    "start_bandwidth": START,
    "n_bandwidths": st.integers(1, 4),
    "smoothing": st.sampled_from(["auto", 0, 0.1, 10.0]),
    "solver": st.sampled_from(["gradient", "bound"]),
    "affinity": st.sampled_from(
        [
            "auto",
            "heat",
            "binary",
            OfRows("a matrix", _affinities),
            OfRows("a dense matrix", lambda *given: _affinities(*given).toarray()),
        ]
    ),
    "affinity_bandwidth": st.sampled_from(
        [None, "local", OfRows("a number", lambda rows, _: bandwidth_for(rows, -0.5))]
    ),
    "n_neighbors": st.one_of(st.just("auto"), st.integers(1, 4)),
    "neighbor_search": st.sampled_from(["auto", "exact"]),
    "verbose": VERBOSE,
}


def without(table, *names):
    return {name: strategy for name, strategy in table.items() if name not in names}
