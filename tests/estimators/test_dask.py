"""The same fit in memory and in the chunks of a Dask collection."""

from functools import partial

import numpy as np
import pytest
from chunks import in_chunks
from scipy import sparse
from sklearn.datasets import make_blobs

from modeclust import KModes, LaplacianKModes, MeanShift, load
from modeclust.data.dask import chunk as on_chunk
from modeclust.data.dask import dataset as dask_dataset
from modeclust.exceptions import SingleRowWarning
from modeclust.kernels import KERNELS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, _ = make_blobs(7000, 4, centers=6, random_state=0)
WEIGHT = np.arange(7000) % 4  # zeros too
SCALE = np.linspace(0.5, 2.0, 7000)
OPTIONS = {"n_clusters": 6, "n_init": 2, "n_bandwidths": 4, "random_state": 0}
chunked = partial(in_chunks, size=2500)


@pytest.fixture(params=["threads", "processes"])
def scheduler(request):
    """Where Dask works: in threads of this process, or in processes of a cluster."""
    if request.param == "threads":
        yield request.param
    else:
        with distributed.Client(request.getfixturevalue("dask_cluster")):
            yield request.param


def assert_as_in_memory(ours, theirs):
    """Assert that a fit of chunks is that of the same rows in memory."""
    np.testing.assert_array_equal(ours.labels_.compute(), theirs.labels_)
    scale = np.abs(theirs.cluster_centers_).max()
    tolerance = (1e-9 if theirs.cluster_centers_.dtype == np.float64 else 1e-6) * scale
    np.testing.assert_allclose(
        ours.cluster_centers_, theirs.cluster_centers_, rtol=0, atol=tolerance
    )
    np.testing.assert_allclose(ours.path_.objectives, theirs.path_.objectives, rtol=1e-9)
    for name in ("counts_", "exemplar_indices_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_, rel=1e-12)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.cluster_centers_.dtype == theirs.cluster_centers_.dtype
    np.testing.assert_allclose(ours.redundancy_.toarray(), theirs.redundancy_.toarray(), atol=1e-9)


CASES = {
    "plain": (X, {}, {}),
    "float32": (X.astype(np.float32), {}, {}),
    "integers": ((X * 100).astype(int), {}, {}),
    "CSR": (sparse.csr_array(np.where(X > 0, X, 0)), {}, {}),
    "weights": (X, {}, {"sample_weight": WEIGHT}),
    "fractions": (X, {}, {"sample_weight": WEIGHT + 0.5}),
    "scales": (X, {}, {"sample_scale": SCALE}),
    "adaptive": (X, {"adaptive": True}, {}),
    "adaptive, weights": (X, {"adaptive": True}, {"sample_weight": WEIGHT}),
    "few rows, adaptive": (X[:900], {"adaptive": True}, {}),
    "offset": (X + 1e6, {}, {}),
    "small": (X * 2.0**-500, {}, {}),
    "K-means": (X, {"bandwidth": np.inf}, {}),
    "scott": (X, {"bandwidth": "scott"}, {"sample_weight": WEIGHT}),
    "silverman": (X, {"bandwidth": "silverman"}, {}),
    "likelihood": (X, {"bandwidth": "likelihood"}, {"sample_weight": WEIGHT}),
    "random": (X, {"init": "random"}, {}),
    "array": (X, {"init": X[:6]}, {}),
    "equal rows": (np.repeat(X[:30], 250, axis=0)[:7000], {"bandwidth": 1.0}, {}),
    **{kernel: (X, {"kernel": kernel, "bandwidth": 3.0}, {}) for kernel in KERNELS},
}


ON_PROCESSES = ("plain", "float32", "CSR", "weights", "scales", "adaptive, weights", "K-means")
PLACES = [("threads", case) for case in CASES] + [("processes", case) for case in ON_PROCESSES]


@pytest.mark.parametrize(("scheduler", "case"), PLACES, indirect=["scheduler"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chunks_give_the_same_as_memory(case, scheduler):
    rows, parameters, columns = CASES[case]
    theirs = KModes(**(OPTIONS | parameters)).fit(rows, **columns)
    lazy = {name: da.from_array(column, chunks=1700) for name, column in columns.items()}
    ours = KModes(**(OPTIONS | parameters)).fit(chunked(rows), **lazy)
    assert_as_in_memory(ours, theirs)


@pytest.mark.parametrize("case", ["plain", "float32", "weights", "scales", "adaptive, weights"])
def test_mapped_rows_give_the_same_bits_as_memory(case, tmp_path):
    rows, parameters, columns = CASES[case]
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    ours = KModes(**(OPTIONS | parameters)).fit(mapped, **columns)
    theirs = KModes(**(OPTIONS | parameters)).fit(rows, **columns)
    assert ours.path_.centers.tobytes() == theirs.path_.centers.tobytes()
    assert ours.labels_.tobytes() == theirs.labels_.tobytes()


@pytest.mark.parametrize(
    "sizes",
    [
        (7000,),
        (1, 6999),
        (0, 3000, 0, 0, 4000, 0),
        (3,) * 20 + (6940,),  # less than there are clusters
        (200,) * 35,
    ],
    ids=["one", "one row", "empty", "fewer rows than clusters", "many"],
)
def test_chunks_of_any_size(sizes, scheduler):
    theirs = KModes(**OPTIONS).fit(X, sample_weight=WEIGHT)
    rows = da.from_array(X, chunks=((7000,), (4,))).rechunk((sizes, (2, 2)))
    assert_as_in_memory(KModes(**OPTIONS).fit(rows, sample_weight=WEIGHT), theirs)


def test_distinct_rows_where_a_chunk_has_no_weight():
    """All rows are searched for distinct ones where a sample has too few."""
    rows = np.zeros((40_000, 1))
    rows[-1] = 1
    weight = np.arange(40_000) >= 2500
    with pytest.warns(SingleRowWarning, match=r"one row: \d \(row 39999\)"):
        model = KModes(2, bandwidth=1.0, random_state=0).fit(chunked(rows), sample_weight=weight)
    np.testing.assert_allclose(np.sort(model.cluster_centers_, axis=0), [[0], [1]], atol=1e-3)


def test_the_same_chunks_give_the_same_bits(scheduler):
    first, second = (KModes(**OPTIONS).fit(chunked(X)) for _ in range(2))
    assert first.path_.centers.tobytes() == second.path_.centers.tobytes()
    assert first.objective_ == second.objective_


def test_predictions_wait_to_be_computed(scheduler):
    rows = chunked(X)
    model = KModes(**OPTIONS).fit(rows)
    plain = KModes(**OPTIONS).fit(X)
    for ours, theirs in (
        (model.labels_, plain.labels_),
        (model.predict(rows), plain.predict(X)),
        (model.transform(rows), plain.transform(X)),
    ):
        assert isinstance(ours, da.Array)
        assert ours.chunks[0] == rows.chunks[0]
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours.compute(), theirs, atol=1e-9)
    assert model.score(rows) == pytest.approx(plain.score(X))
    assert model.score(rows, sample_weight=WEIGHT) == pytest.approx(plain.score(X, None, WEIGHT))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.path_.labels is None


def test_redundant_clusters_are_merged(scheduler):
    options = OPTIONS | {"n_clusters": 9, "bandwidth": 1.5}
    rows = chunked(X)
    ours = KModes(**options).fit(rows).merge_redundant(rows)
    theirs = KModes(**options).fit(X).merge_redundant(X)
    assert len(ours.cluster_centers_) == len(theirs.cluster_centers_) < 9
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-9)


def test_a_fit_of_chunks_is_saved_with_its_labels(tmp_path):
    model = KModes(**OPTIONS).fit(chunked(X))
    model.save(tmp_path / "model.npz")
    assert isinstance(model.labels_, da.Array)
    loaded = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.labels_, model.labels_.compute())
    np.testing.assert_array_equal(loaded.predict(X), loaded.labels_)


def test_a_fit_in_a_task(dask_cluster):
    """Of which the thread is the only one of its worker."""

    def fit(rows, options):
        return KModes(**options).fit(da.from_array(rows, chunks=(2500, 4))).cluster_centers_

    with distributed.Client(dask_cluster) as client:
        found = client.submit(fit, X, OPTIONS, pure=False).result(timeout=120)
    np.testing.assert_allclose(found, KModes(**OPTIONS).fit(X).cluster_centers_, atol=1e-9)


@pytest.mark.parametrize("kind", ["flags", "nullable", "arrow"])
def test_frames_of_any_numbers(kind):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(flag=X[:, 0] > 0)
    kinds = {
        "flags": frame,
        "nullable": frame.convert_dtypes(),
        "arrow": frame.astype("double[pyarrow]"),
    }
    theirs = KModes(**OPTIONS).fit(frame)
    rows = dd.from_pandas(kinds[kind], npartitions=3)
    ours = KModes(**OPTIONS).set_output(transform="pandas").fit(rows)
    assert_as_in_memory(ours, theirs)
    assert list(ours.feature_names_in_) == list("abcd") + ["flag"]
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(frame), atol=1e-9)
    with pytest.warns(UserWarning, match="valid feature names"):
        ours.predict(da.from_array(frame.to_numpy(float)))


class TestWhatIsLost:
    """Labels and bounds that workers lose are found again, and never wrong."""

    @pytest.mark.parametrize("lost", [(0,), (0, 1, 2)])
    @pytest.mark.parametrize("parameters", [{}, {"bandwidth": np.inf}], ids=["modes", "means"])
    def test_states(self, monkeypatch, lost, parameters):
        whole = KModes(**(OPTIONS | parameters)).fit(chunked(X))
        passes, original = [], on_chunk.run_pass

        def forgetful(chunk, job):
            passes.append(chunk.number)
            if len(passes) % 5 == 0 and chunk.number in lost:
                on_chunk._kept_labels.clear()
            return original(chunk, job)

        monkeypatch.setattr(on_chunk, "run_pass", forgetful)
        found = KModes(**(OPTIONS | parameters)).fit(chunked(X))
        assert len(passes) > 20
        assert found.cluster_centers_.tobytes() == whole.cluster_centers_.tobytes()
        np.testing.assert_array_equal(found.labels_, whole.labels_)

    def test_states_of_another_pass(self, monkeypatch):
        whole = KModes(**OPTIONS).fit(chunked(X))
        original = on_chunk._keep_state

        def stale(labels, chunk, number, rows):
            if number % 4 == 3 and chunk == 1:
                number -= 1  # as if a task had run once more
            original(labels, chunk, number, rows)

        monkeypatch.setattr(on_chunk, "_keep_state", stale)
        found = KModes(**OPTIONS).fit(chunked(X))
        assert found.cluster_centers_.tobytes() == whole.cluster_centers_.tobytes()

    def test_nothing_is_left_after_a_fit(self):
        KModes(**OPTIONS).fit(chunked(X))
        assert len(on_chunk._kept_labels) == 0


class TestBadInput:
    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (da.zeros(10, chunks=5), "Expected 2D array, got 1D"),
            (da.zeros((10, 2, 2), chunks=5), "Expected 2D array, got 3D"),
            (da.from_array(np.where(X > 9, np.nan, X), chunks=2500), "contains NaN"),
            (da.from_array(np.where(X > 9, np.inf, X), chunks=2500), "contains infinity"),
            (da.from_array(np.array([["a", "b"]] * 9), chunks=5), "must hold numbers"),
            (da.from_array(X + 1j, chunks=2500), "must hold numbers"),
            (da.zeros((0, 3), chunks=5), "0 sample"),
            (da.zeros((1, 3), chunks=5), "1 sample.* minimum of 2"),
            (da.zeros((4, 3), chunks=5), "n_clusters=6 is more than"),
        ],
    )
    def test_of_rows(self, rows, message):
        with pytest.raises(ValueError, match=message):
            KModes(**OPTIONS).fit(rows)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"sample_weight": da.ones(9, chunks=5)}, r"sample_weight.shape == \(9,\)"),
            ({"sample_weight": -da.ones(7000, chunks=500)}, "sample_weight must be >= 0, got -1;"),
            ({"sample_weight": da.zeros(7000, chunks=500)}, "at least one non-zero"),
            ({"sample_weight": da.full(7000, np.nan, chunks=500)}, "contains NaN or infinity"),
            ({"sample_weight": ["heavy"] * 7000}, "sample_weight must be numbers.* 'heavy'"),
            ({"sample_scale": da.full(7000, "far", chunks=500)}, "sample_scale must be numbers"),
            ({"sample_scale": da.zeros(7000, chunks=500)}, "sample_scale must be > 0"),
            ({"sample_scale": np.ones((7000, 2))}, r"sample_scale.shape == \(7000, 2\)"),
        ],
    )
    def test_of_columns(self, columns, message):
        with pytest.raises(ValueError, match=message):
            KModes(**OPTIONS).fit(chunked(X), **columns)

    @pytest.mark.parametrize("kind", ["delayed", "bag"])
    def test_of_other_collections(self, kind):
        bag = pytest.importorskip("dask.bag")
        rows = dask.delayed(X) if kind == "delayed" else bag.from_sequence([1, 2], npartitions=1)
        with pytest.raises(TypeError, match="must be a Dask array or frame"):
            KModes(**OPTIONS).fit(rows)

    def test_of_a_column_of_text(self):
        pd = pytest.importorskip("pandas")
        dd = pytest.importorskip("dask.dataframe")
        rows = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), npartitions=1)
        with pytest.raises(ValueError, match="column 'b' does not"):
            KModes(**OPTIONS).fit(rows)

    @pytest.mark.parametrize("store_labels", [True, np.True_])
    def test_labels_along_the_path_are_not_stored(self, store_labels, monkeypatch):
        monkeypatch.setattr("modeclust.estimators.kmodes.Problem", None)  # before any work is done
        with pytest.raises(ValueError, match="store_labels=True needs data in memory"):
            KModes(store_labels=store_labels, **OPTIONS).fit(chunked(X))

    def test_other_features_than_those_of_the_fit(self):
        model = KModes(**OPTIONS).fit(chunked(X))
        for method in (model.predict, model.transform, model.score):
            with pytest.raises(ValueError, match="4 features"):
                method(chunked(X[:, :3]))

    @pytest.mark.parametrize("model", [LaplacianKModes(2), MeanShift()], ids=repr)
    def test_estimators_that_need_memory_say_so(self, model):
        with pytest.raises(TypeError, match="needs data in memory, got a Dask collection"):
            model.fit(chunked(X))


def test_chunks_of_unknown_size():
    rows = chunked(X)
    unknown = rows[rows[:, 0] > -100]
    assert np.isnan(unknown.shape[0])
    assert_as_in_memory(KModes(**OPTIONS).fit(unknown), KModes(**OPTIONS).fit(X))


def test_chunks_larger_than_memory_are_not_kept(monkeypatch):
    monkeypatch.setattr(dask_dataset, "memory_for_chunks", lambda: 1000.0)
    monkeypatch.setattr(dask_dataset, "persisted", lambda tasks: pytest.fail("kept"))
    assert_as_in_memory(KModes(**OPTIONS).fit(chunked(X)), KModes(**OPTIONS).fit(X))
