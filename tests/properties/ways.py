"""One fit is the same in whatever way it is asked for."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from callbacks import HAS_CALLBACKS, Callback
from chunks import in_chunks
from hypothesis import strategies as st
from interruption import Interrupter, assert_same_fit
from same import assert_same
from scipy import sparse
from sklearn.base import clone

from modeclust import KModes, LaplacianKModes, MeanShift, estimate_bandwidth
from modeclust.estimators.checkpoint import Checkpoint
from modeclust.estimators.parameters import n_kmeans_runs
from properties.checking import (
    check_history,
    fitted_attributes,
    is_refused,
    is_too_fine,
    outcome,
    refusal,
    soft_refusal,
)
from properties.drawing import (
    BANDWIDTH,
    BY_RULE,
    DENSE,
    EUCLIDEAN,
    FIT,
    FIT_SOFT,
    IGNORED,
    KMODES,
    LAPLACIAN,
    MEAN_SHIFT,
    ROWS,
    RULE,
    SEED,
    THREADS,
    Data,
    OfRows,
    blobs,
    data,
    holds_for,
    of_rows,
    sizeable,
    without,
)

AUTO = st.just("auto")
ESTIMATORS = {
    "KModes": {
        **KMODES,
        "bandwidth": st.one_of(KMODES["bandwidth"], AUTO),
        "reassign": st.booleans(),
    },
    "MeanShift": MEAN_SHIFT,
    "LaplacianKModes": LAPLACIAN,
}
FITS = {"KModes.fit": FIT, "MeanShift.fit": FIT, "LaplacianKModes.fit": FIT_SOFT}
WHICH = st.sampled_from(sorted(ESTIMATORS))
FOUND = st.sampled_from(["heat", "binary"])
# Without a tolerance, rounding decides in the end where a center goes from between two rows.
SETTLED = {"tol": st.sampled_from([1e-4, 0.1])}


def refused(found, model, rows):
    """Return whether rows are too few for a model, which must then have said so."""
    if isinstance(model, MeanShift):
        return is_too_fine(found, rows) or is_refused(found, refusal(rows, metric=model.metric))
    if isinstance(model, LaplacianKModes):
        return is_refused(found, soft_refusal(model, rows))
    return is_refused(found, refusal(rows, model.n_clusters, metric=model.metric))


BESIDE = of_rows(
    "their weights and scales",
    lambda rows, _: {"sample_weight": rows.weight, "sample_scale": rows.scale},
)
WEIGHT_BESIDE = of_rows("their weights", lambda rows, _: {"sample_weight": sizeable(rows.weight)})
AT_ONCE = {"X": ROWS, "y": IGNORED}


@holds_for(
    {
        **ESTIMATORS,
        **FITS,
        "KModes.fit_predict": {**AT_ONCE, "kwargs": BESIDE},
        "MeanShift.fit_predict": {**AT_ONCE, "kwargs": BESIDE},
        "LaplacianKModes.fit_predict": {**AT_ONCE, "kwargs": WEIGHT_BESIDE},
    },
    data(),
    WHICH,
    quick=25,
)
def fit_predict_is_fit_and_labels(ask, rows, which):
    model = ask(which, rows)
    if refused(outcome(ask, f"{which}.fit", rows, model), model, rows):
        return
    again = clone(model)
    assert_same(ask(f"{which}.fit_predict", rows, again), model.labels_)
    assert_same(fitted_attributes(again), fitted_attributes(model))


NAMES = OfRows("f0, ...", lambda rows, _: [f"f{j}" for j in range(rows.dense.shape[1])])
LIBRARY = {"default": "numpy", None: "numpy", "pandas": "pandas", "polars": "polars"}


@holds_for(
    {
        "KModes": KMODES,
        "KModes.fit_transform": {**AT_ONCE, "fit_params": BESIDE},
        "KModes.set_output": {"transform": st.sampled_from(["default", "pandas", "polars", None])},
        "KModes.get_feature_names_out": {"input_features": st.sampled_from([None, NAMES])},
    },
    data(),
)
def fit_transform_is_fit_and_transform_in_any_frame(ask, rows):
    model = ask("KModes", rows)
    distances = outcome(ask, "KModes.fit_transform", rows, model)
    if refused(distances, model, rows):
        return
    assert_same(distances, model.transform(rows.X))
    names = ask("KModes.get_feature_names_out", rows, model)
    assert names.tolist() == [f"kmodes{k}" for k in range(model.n_clusters)]
    frame = ask("KModes.set_output", rows, model).transform(rows.X)
    kind = ask.arguments("KModes.set_output", rows)["transform"]
    assert type(frame).__module__.split(".")[0] == LIBRARY[kind]
    if LIBRARY[kind] != "numpy":
        assert list(frame.columns) == names.tolist()
        frame = frame.to_numpy()
    np.testing.assert_array_equal(frame, distances)


class Watcher(Callback):
    """Looks at all that it is shown."""

    def __init__(self):
        self.n_ends = 0

    def on_fit_task_end(self, estimator, context):
        self.n_ends += 1


# So many rows are more than one thread goes over at a time.
IN_BLOCKS = {
    "KModes": (15_000, 40_000),
    "MeanShift": (500, 2000),
    "LaplacianKModes": (14_000, 20_000),
}
CALLBACKS = {"callbacks": st.integers(0, 2).map(lambda n: tuple(Watcher() for _ in range(n)))}


@holds_for(
    {
        **ESTIMATORS,
        "LaplacianKModes": {**LAPLACIAN, "affinity": FOUND},  # a matrix would be large
        **FITS,
        **{f"{name}.set_callbacks": CALLBACKS for name in ESTIMATORS if HAS_CALLBACKS},
    },
    WHICH.flatmap(
        lambda which: st.tuples(st.just(which), st.one_of(data(), blobs(n_rows=IN_BLOCKS[which])))
    ),
    THREADS,
    thorough=150,
)
def threads_callbacks_and_printing_change_no_bit(ask, drawn, n_jobs):
    which, rows = drawn
    quiet = ask(which, rows)
    if which == "LaplacianKModes" and len(rows.dense) >= IN_BLOCKS[which][0]:
        quiet.set_params(max_iter=3)  # with tol=0, all iterations of many rows take minutes
    loud = clone(quiet).set_params(n_jobs=n_jobs)
    if which != "MeanShift":
        quiet.set_params(verbose=0)
    if refused(outcome(ask, f"{which}.fit", rows, quiet), quiet, rows):
        return
    if HAS_CALLBACKS:
        assert ask(f"{which}.set_callbacks", rows, loud) is loud
    printed = io.StringIO()
    with redirect_stdout(printed):
        ask(f"{which}.fit", rows, loud)
    assert_same(fitted_attributes(loud), fitted_attributes(quiet))
    n_lines = len(loud.path_) if getattr(loud, "verbose", 0) else 0
    assert len(printed.getvalue().splitlines()) == n_lines
    if HAS_CALLBACKS:
        for watcher in ask.arguments(f"{which}.set_callbacks", rows)["callbacks"]:
            assert watcher.n_ends > 0


@holds_for(
    {**ESTIMATORS, **FITS},
    data(forms=DENSE),
    WHICH,
)
def a_mapped_file_gives_the_same_bits(ask, rows, which):
    np.save("rows.npy", rows.X)
    mapped = np.load("rows.npy", mmap_mode="r")
    model, again = ask(which, rows), ask(which, rows)
    found = outcome(ask, f"{which}.fit", rows, model)
    if refused(found, model, rows):
        assert str(outcome(ask, f"{which}.fit", rows, again, X=mapped)) == str(found)
        return
    ask(f"{which}.fit", rows, again, X=mapped)
    assert_same(fitted_attributes(again), fitted_attributes(model))
    assert_same(again.predict(mapped), model.predict(rows.X))


def chunked(rows, form, cuts):
    """Return rows as a Dask collection, cut at shares of their number."""
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    n_rows, n_features = rows.X.shape
    if form == "CSR":
        return in_chunks(sparse.csr_array(rows.X), 1 + int(cuts[0] * n_rows))
    if form == "frame":
        return dd.from_pandas(pd.DataFrame(rows.X), npartitions=len(cuts))
    edges = [0, *sorted(int(cut * n_rows) for cut in cuts), n_rows]
    return da.from_array(rows.X, chunks=(tuple(np.diff(edges).tolist()), n_features))


@holds_for(
    {
        "KModes": {
            **KMODES,
            **SETTLED,
            "bandwidth": st.one_of(BANDWIDTH, AUTO, st.just(np.inf)),
            "store_labels": st.sampled_from(["auto", False]),
        }
    },
    blobs(n_rows=(20, 120)),
    st.sampled_from(["array", "frame", "CSR"]),
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
    quick=8,
    thorough=100,
)
def chunks_find_what_memory_finds(ask, rows, form, cuts):
    import dask.array as da

    if form == "CSR":
        X = np.where(rows.X > 0, rows.X, 0.0)
        X[:, 0] = np.abs(rows.X[:, 0])  # no row is all zeros
        rows = rows._replace(X=X, dense=X)
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    lazy = {n: None if v is None else da.from_array(v, chunks=17) for n, v in told.items()}
    memory, chunks = ask("KModes", rows), ask("KModes", rows)
    memory.fit(sparse.csr_array(rows.X) if form == "CSR" else rows.X, **told)
    collection = chunked(rows, form, cuts)
    chunks.fit(collection, **lazy)
    np.testing.assert_array_equal(chunks.labels_.compute(), memory.labels_)
    size = np.abs(rows.dense).max()
    np.testing.assert_allclose(
        chunks.cluster_centers_, memory.cluster_centers_, rtol=0, atol=1e-6 * size
    )
    np.testing.assert_allclose(chunks.modes_, memory.modes_, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(chunks.path_.objectives, memory.path_.objectives, atol=1e-6)
    np.testing.assert_array_equal(chunks.counts_, memory.counts_)
    assert chunks.bandwidth_ == pytest.approx(memory.bandwidth_, rel=1e-6)
    np.testing.assert_array_equal(chunks.predict(collection).compute(), memory.labels_)
    np.testing.assert_allclose(
        chunks.transform(collection).compute(), memory.transform(rows.X), atol=1e-6 * size
    )


@holds_for(
    {
        "KModes": {
            **KMODES,
            "bandwidth": st.one_of(BANDWIDTH, AUTO, st.just(np.inf)),
            "adaptive": st.booleans(),
            "checkpoint": st.sampled_from(["fit.checkpoint", Path("fit.checkpoint")]),
            "keep_checkpoint": st.booleans(),
        }
    },
    data(scales=False),
    st.floats(0, 1, exclude_max=True),
    THREADS,
    thorough=200,
)
def an_interrupted_fit_goes_on_to_the_same_bits(ask, rows, share, n_jobs):
    model = ask("KModes", rows)
    whole = clone(model).set_params(checkpoint=None)
    if refused(outcome(whole.fit, rows.X, sample_weight=rows.weight), model, rows):
        return
    n_writes = (
        n_kmeans_runs(model.n_init, model.init) + 1 + len(whole.path_)
    )  # one before K-means, one after
    with pytest.MonkeyPatch.context() as patch:
        writes = Interrupter(patch, Checkpoint, "write")
        with writes.interrupting(after=1 + int(share * n_writes)):
            clone(model).fit(rows.X, sample_weight=rows.weight)
    model.set_params(n_jobs=n_jobs).fit(rows.X, sample_weight=rows.weight)
    assert_same_fit(model, whole)
    file = Path(model.checkpoint)
    assert file.exists() is model.keep_checkpoint
    if model.keep_checkpoint:
        again = clone(model).fit(rows.X, sample_weight=rows.weight)
        assert_same_fit(again, whole)


@holds_for(
    {"KModes": {**KMODES, **SETTLED}, "LaplacianKModes": {**LAPLACIAN, **SETTLED}},
    blobs(scales=False),
    st.sampled_from(["KModes", "LaplacianKModes"]),
    SEED,
)
def another_order_of_the_start_is_another_order_of_the_clusters(ask, rows, which, seed):
    rng = np.random.default_rng(seed)
    options = ask.arguments(which, rows)
    n_clusters = options["n_clusters"]
    start = rows.dense[rng.choice(len(rows.dense), n_clusters, replace=False)]
    order = rng.permutation(n_clusters)
    kind = KModes if which == "KModes" else LaplacianKModes
    plain = kind(**options | {"init": start}).fit(rows.X, sample_weight=rows.weight)
    other = kind(**options | {"init": start[order]}).fit(rows.X, sample_weight=rows.weight)
    atol = 1e-6 * np.abs(rows.dense).max()
    np.testing.assert_allclose(other.cluster_centers_, plain.cluster_centers_[order], atol=atol)
    np.testing.assert_array_equal(order[other.labels_], plain.labels_)
    np.testing.assert_array_equal(other.counts_, plain.counts_[order])


ADAPTIVE = {
    "KModes": {**KMODES, **SETTLED, "bandwidth": BANDWIDTH},
    "MeanShift": {**MEAN_SHIFT, "bandwidth": BANDWIDTH},
}


@holds_for(
    {name: {**table, "adaptive": st.just(True)} for name, table in ADAPTIVE.items()},
    blobs(scales=False),
    st.sampled_from(sorted(ADAPTIVE)),
)
def adaptive_scales_are_local_bandwidths(ask, rows, which):
    model = ask(which, rows).fit(rows.X, sample_weight=rows.weight)
    local = estimate_bandwidth(
        rows.X, local=True, metric=model.metric, sample_weight=rows.weight, random_state=0
    )
    scale = local / np.average(local, weights=rows.weight)
    told = clone(model).set_params(adaptive=False, bandwidth=model.bandwidth_)
    told.fit(rows.X, sample_weight=rows.weight, sample_scale=scale)
    atol = 1e-6 * np.abs(rows.dense).max()
    np.testing.assert_allclose(told.cluster_centers_, model.cluster_centers_, atol=atol)
    np.testing.assert_array_equal(told.labels_, model.labels_)


@holds_for(
    ADAPTIVE,
    data(scales=False, weights=False, forms=("C order", "single", "int")),
    st.sampled_from(sorted(ADAPTIVE)),
)
def adaptive_is_plain_where_all_neighbours_are_as_near(ask, rows, which):
    rows = Data(*(np.repeat(part, 11, axis=0) for part in rows[:2]), *rows[2:])
    plain = ask(which, rows)
    adaptive = clone(plain).set_params(adaptive=True)
    if refused(outcome(plain.fit, rows.X), plain, rows):
        return
    assert_same(fitted_attributes(adaptive.fit(rows.X)), fitted_attributes(plain))


@holds_for(
    {
        "KModes": {**KMODES, **SETTLED, **BY_RULE, "metric": EUCLIDEAN},
        "MeanShift": {**MEAN_SHIFT, "bandwidth": RULE, "metric": EUCLIDEAN},
        "LaplacianKModes": {**LAPLACIAN, **SETTLED, **BY_RULE, "metric": EUCLIDEAN},
    },
    blobs(scales=False),
    WHICH,
    st.integers(-40, 40),
)
def larger_rows_have_larger_modes_and_the_same_labels(ask, rows, which, exponent):
    factor = 2.0**exponent
    larger = rows._replace(X=rows.X * factor, dense=rows.dense * factor)
    plain, scaled = ask(which, rows), ask(which, larger)
    plain.fit(rows.X, sample_weight=rows.weight)
    scaled.fit(larger.X, sample_weight=rows.weight)
    assert scaled.bandwidth_ == pytest.approx(plain.bandwidth_ * factor, rel=1e-6)
    np.testing.assert_allclose(
        scaled.cluster_centers_ / factor,
        plain.cluster_centers_,
        atol=1e-5 * np.abs(rows.dense).max(),
    )
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@holds_for(
    {"LaplacianKModes": {**LAPLACIAN, "affinity": FOUND}},
    data(scales=False),
    st.booleans(),
)
def a_given_graph_is_as_good_as_a_found_one(ask, rows, is_dense):
    found = ask("LaplacianKModes", rows)
    told = {"sample_weight": sizeable(rows.weight)}
    if refused(outcome(found.fit, rows.X, **told), found, rows):
        return
    W = found.affinity_.toarray() if is_dense else found.affinity_
    given = clone(found).set_params(affinity=W).fit(rows.X, **told)
    assert_same(fitted_attributes(given), fitted_attributes(found))
    if found.affinity == "heat":
        assert_same(given.predict_proba(rows.X), found.predict_proba(rows.X))
    way = {"auto": "exact", "exact": "auto"}[found.neighbor_search]
    other = clone(found).set_params(neighbor_search=way).fit(rows.X, **told)
    assert_same(fitted_attributes(other), fitted_attributes(found))


@holds_for(
    {
        "LaplacianKModes": {
            **without(LAPLACIAN, "affinity"),
            "neighbor_search": st.just("approximate"),
        }
    },
    blobs(n_rows=(50, 400), scales=False),
    quick=5,
    thorough=60,
)
def approximate_neighbours_are_mostly_the_nearest(ask, rows):
    model = ask("LaplacianKModes", rows).fit(rows.X, sample_weight=rows.weight)
    exact = clone(model).set_params(neighbor_search="exact")
    exact.fit(rows.X, sample_weight=rows.weight)
    check_history(model)
    shared = (model.affinity_ != 0).multiply(exact.affinity_ != 0).sum()
    assert shared >= 0.9 * (exact.affinity_ != 0).sum()
