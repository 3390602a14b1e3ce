"""Models as files: the same model back, or a clear error."""

import copy
import io
import json
import pickle
import re
import subprocess
import sys
import zipfile
from functools import cache

import numpy as np
import pandas as pd
import pytest
from callbacks import needs_callbacks
from same import assert_same
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from modeclust import KModes, LaplacianKModes, MeanShift, TablePreparation, load
from modeclust.estimators.confidence import Confidence
from modeclust.estimators.saving import read_model, write_model
from modeclust.exceptions import ModelFileError
from modeclust.io.model_file import Document, read_document, write_document
from modeclust.io.npy import array_of
from modeclust.preparation.columns import LeftOut, TextColumn
from modeclust.preparation.saving import SAVED_TYPES, SavedScaler, SavedTable

X = load_iris().data
FRAME = load_iris(as_frame=True).data
CSR = sparse.csr_array(np.where(X > 1, X, 0))
WEIGHT = np.arange(150) % 3 + 1.0
QUICK = {"n_bandwidths": 3, "n_init": 2, "random_state": 0}

FITS = {
    "dense": lambda: KModes(3, **QUICK).fit(X),
    "K-means": lambda: KModes(3, bandwidth=np.inf, **QUICK).fit(X),
    "CSR": lambda: KModes(3, **QUICK).fit(CSR),
    "csr_matrix": lambda: KModes(3, **QUICK).fit(sparse.csr_matrix(CSR)),
    "float32": lambda: KModes(3, **QUICK).fit(X.astype(np.float32)),
    "pandas": lambda: KModes(3, **QUICK).set_output(transform="pandas").fit(FRAME),
    "adaptive": lambda: KModes(3, adaptive=True, kernel="cauchy", **QUICK).fit(X),
    "weights": lambda: KModes(np.int64(3), **QUICK).fit(X, sample_weight=WEIGHT),
    "RandomState": lambda: KModes(
        3, bandwidth=np.float32(1.0), n_bandwidths=3, random_state=np.random.RandomState(7)
    ).fit(X),
    "init array": lambda: KModes(3, init=X[:100:40], store_labels=False, **QUICK).fit(X),
    "init list": lambda: KModes(2, init=X[:2].tolist(), **QUICK).fit(X),
    "stream": lambda: KModes(3, half_life=50, **QUICK).fit(X).partial_fit(X[:9], None, WEIGHT[:9]),
    "mean-shift": lambda: MeanShift(bandwidth=0.8, random_state=0).fit(X, sample_weight=WEIGHT),
    "mean-shift CSR": lambda: MeanShift(bandwidth=1.0, random_state=0).fit(CSR),
    "Laplacian": lambda: LaplacianKModes(3, **QUICK).fit(X, sample_weight=WEIGHT),
    "Laplacian bound": lambda: LaplacianKModes(3, solver="bound", **QUICK).fit(CSR),
    "Laplacian local": lambda: LaplacianKModes(3, affinity_bandwidth="local", **QUICK).fit(X),
    "Laplacian binary": lambda: LaplacianKModes(
        3, smoothing=0, affinity="binary", n_neighbors=np.int64(4), **QUICK
    ).fit(X),
    "Laplacian graph": lambda: LaplacianKModes(
        3, affinity=sparse.csr_array(np.exp(-cdist(X, X))), **QUICK
    ).fit(X),
    "mean-shift seeds": lambda: MeanShift(bandwidth=0.8, seeds=X[::10], adaptive=True).fit(X),
}
SPARSE = ("CSR", "csr_matrix", "mean-shift CSR", "Laplacian bound")
DATA = {"pandas": FRAME, **dict.fromkeys(SPARSE, CSR)}


class Derived(KModes):
    pass


@cache
def fitted(name):
    return FITS[name]()


@pytest.mark.parametrize("name", FITS)
def test_a_loaded_model_is_the_same(name, tmp_path):
    model, data = fitted(name), DATA.get(name, X)
    model.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    same = load(str(tmp_path / "model"))
    assert type(same) is type(model)
    assert_same(vars(same), vars(model))
    assert repr(same).partition(" at 0x")[0] == repr(model).partition(" at 0x")[0]
    for method in ("predict", "predict_proba", "transform", "score"):
        if hasattr(model, method):
            assert_same(getattr(same, method)(data), getattr(model, method)(data))


def test_a_loaded_model_keeps_scikit_learns_conventions(tmp_path):
    fitted("pandas").save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    assert isinstance(model.transform(FRAME), pd.DataFrame)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME.rename(columns={FRAME.columns[0]: "other"}))
    assert not hasattr(clone(model), "labels_")
    centers = model.cluster_centers_.copy()
    assert_same(model.fit(FRAME).cluster_centers_, centers)
    assert model.redundant_clusters() == fitted("pandas").redundant_clusters()
    assert model.path_.to_frame("dict").keys() == fitted("pandas").path_.to_frame("dict").keys()


def test_saving_twice_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        fitted("dense").save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@needs_callbacks
def test_callbacks_are_not_saved(tmp_path):
    from sklearn.callback import ScoringMonitor

    model = KModes(3, **QUICK).set_callbacks(ScoringMonitor(scoring=lambda *_: 0.0)).fit(X)
    model.save(tmp_path / "model.npz")
    assert not hasattr(load(tmp_path / "model.npz"), "_skl_callbacks")


def test_what_cannot_be_saved_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(NotFittedError):
        KModes().save(tmp_path / "model.npz")

    def init(X, n_clusters, random_state):
        return X[:n_clusters]

    model = KModes(3, init=init, **QUICK).fit(X)
    with pytest.raises(TypeError, match=r"KModes\.init must be .* got <function"):
        model.save(tmp_path / "model.npz")
    with pytest.raises(TypeError, match="got a Derived, which `load` does not know"):
        Derived(3, **QUICK).fit(X).save(tmp_path / "model.npz")
    generator = np.random.RandomState(np.random.PCG64(0))
    model = KModes(3, n_bandwidths=3, random_state=generator).fit(X)
    with pytest.raises(TypeError, match=r"KModes\.random_state must be .*pass a seed"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_values_of_every_kind(tmp_path):
    values = {
        "none": None,
        "numbers": [True, 1, -(2**70), 0.1, -0.0, np.inf, -np.inf, np.nan],
        "nested": ({"a": (1, [2.0])}, "text \ud800 \x00 é"),
        "scalars": [np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("é"), np.float64(2)],
        "arrays": [np.arange(6).reshape(2, 3).T, np.array(["a", "bc"]), np.zeros((0, 3)), X > 1],
        "names": np.array(["a", "é"], dtype=object),
        "sparse": [CSR, sparse.csr_matrix(CSR), sparse.csc_array(CSR)],
    }
    write_document(tmp_path / "a", Document("0.1", "Thing", values, {"more": (1,)}))
    document = read_document(tmp_path / "a", "0.1", {"Thing": ()})
    assert_same(document.state, values)
    assert document.notes == {"more": (1,)}
    for value in (object(), print, {1, 2}, np.array([1, "a"], dtype=object), pd.DataFrame()):
        with pytest.raises(TypeError, match=r"Thing\.bad must be"):
            write_document(tmp_path / "b", Document("0.1", "Thing", {"bad": [value]}, {}))
    assert not (tmp_path / "b").exists()


def test_notes_are_kept_beside_the_model(tmp_path):
    notes = {"means": np.array([1.0, 2.0]), "columns": ["a", "b"]}
    write_model(tmp_path / "model.npz", fitted("dense"), notes)
    saved = read_model(tmp_path / "model.npz")
    assert_same(saved.notes, notes)
    assert_same(vars(saved.model), vars(fitted("dense")))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return a small model and the bytes of its file."""
    data, _ = make_blobs(12, 2, centers=2, random_state=0)
    model = KModes(2, bandwidth=2.0, n_bandwidths=1, n_init=1, random_state=0).fit(data)
    path = tmp_path_factory.mktemp("small") / "model.npz"
    model.save(path)
    return model, path.read_bytes()


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_flipped_bit_anywhere_is_seen_or_changes_nothing(small, tmp_path, stride):
    model, content = small
    path = tmp_path / "model.npz"
    messages = []
    positions = range(0, len(content), stride)
    for position in positions:
        damaged = bytearray(content)
        damaged[position] ^= 1 << (position % 8)
        path.write_bytes(damaged)
        try:
            assert_same(vars(load(path)), vars(model))
        except ModelFileError as error:
            messages.append(str(error))
    assert len(messages) > len(positions) / 2
    assert all(str(path) in message for message in messages)


def test_a_file_cut_short_is_refused(small, tmp_path):
    _, content = small
    path = tmp_path / "model.npz"
    for length in range(0, len(content), 37):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"model\.npz' is (damaged|empty|no model)"):
            load(path)


def test_a_file_without_one_of_its_parts_is_refused(small, tmp_path):
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(io.BytesIO(small[1])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for missing in members:
        with zipfile.ZipFile(path, "w") as archive:
            for name in members.keys() - {missing}:
                archive.writestr(name, members[name])
        with pytest.raises(ModelFileError, match="damaged"):
            load(path)


def altered(value, **changes):
    """Return a copy of a dataclass with other values, without the checks of its class."""
    value = copy.copy(value)
    for name, change in changes.items():
        object.__setattr__(value, name, change)
    return value


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n1,2\n",
        npz(X=np.zeros(3)),
        pickle.dumps({"a": 1}),
        b"PK\x03\x04",
        b"\x93NUMPY",
        bytes(1000),
    ],
)
def test_foreign_files_are_refused(content, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.npz"):
        load(path)


def state_in(content):
    """Return the state of a model, as its text has it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return json.loads(archive.read("model.json"))["state"]


def rewritten(content, **changes):
    """Return the bytes of a model file with its text changed."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(buffer, "w") as new,
    ):
        for name in archive.namelist():
            part = archive.read(name)
            if name == "model.json":
                part = json.dumps(json.loads(part) | changes)
            new.writestr(name, part)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "999.0"}, r"was written by modeclust 999\.0.*update"),
        ({"version": "x"}, "damaged"),
        ({"version": "0." + "9" * 1000}, "damaged"),
        ({"class": "Other"}, "holds a Other .*does not know"),
        ({"format": "other"}, "of something else"),
        ({"state": []}, "damaged"),
        ({"state": {"a": {"array": "no.npy"}}}, "damaged"),
        ({"state": {"a": {"unknown": 1}}}, "damaged"),
        ({"state": {"a": {}}}, "damaged"),
        ({"state": {"a": {"object": ["Popen", 1]}}}, "damaged"),
    ],
)
def test_files_with_another_text_are_refused(changes, message, small, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(rewritten(small[1], **changes))
    with pytest.raises(ModelFileError, match=message):
        load(path)


ARRAYS = {
    "nan": np.array([[0.0, np.nan], [1.0, 1.0]]),
    "narrow": np.zeros((2, 1)),
    "wide": np.zeros((2, 3)),
    "none": np.zeros((0, 2)),
    "whole": np.zeros((2, 2), dtype=int),
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"cluster_centers_": value}, "cluster_centers_ must be") for value in ARRAYS.values()),
        ({"cluster_centers_": None}, "cluster_centers_ must be .* got NoneType"),
        ({"n_features_in_": 3}, "cluster_centers_ must be .*n_features_in_=3"),
        ({"n_features_in_": None}, "cluster_centers_ must be"),
        ({"labels_": np.array([0, 2])}, "labels_ must be integers from 0 to 1"),
        ({"labels_": np.array([-1, 0])}, "labels_ must be"),
        ({"labels_": np.array([0.0, 1.0])}, "labels_ must be"),
        ({"labels_": 5}, "labels_ must be"),
        ({"counts_": 5}, "counts_ must be 2 integers, got int '5'"),
        ({"counts_": np.array([1, 2, 3])}, "counts_ must be"),
        ({"bandwidth_": -1.0}, "bandwidth_ must be a number > 0"),
        ({"bandwidth_": np.nan}, "bandwidth_ must be"),
        ({"bandwidth_": "x"}, "bandwidth_ must be"),
        ({"path_": 5}, "path_ must be"),
        ({"feature_names_in_": np.array(["a"], dtype=object)}, "feature_names_in_ must be 2"),
        ({"labels_": [[1], [1, 2]]}, "labels_ must be"),
        ({"redundancy_": 5}, "redundancy_ must be"),
        ({"redundancy_": sparse.csr_array([[0, -0.5], [-0.5, 0]])}, "redundancy_ must be"),
        ({"outlier_scores_": np.zeros(12)}, "no attribute 'outlier_scores_'"),
        ({"_confidence": 5}, "_confidence must be scores of 12 rows, and rows of 2 clusters"),
        ({"_confidence": Confidence(5, np.zeros(12))}, "_confidence must be scores of 12 rows"),
        ({"n_steps_": 0}, "n_steps_ must be an integer > 0"),
        ({"_n_features_out": 1}, "_n_features_out must be 2, got int '1'"),
        ({"n_samples_seen_": 1.5}, "n_samples_seen_ must be"),
        ({"_statistics": 5}, "_statistics must be sums of 2 clusters in 2 features, got int"),
        ({"_fitted_with": 5}, "_fitted_with must be valid values of n_clusters, .* int"),
        ({"_fitted_with": {"kernel": "cauchy"}}, "_fitted_with must be"),
        ({"_fitted_with": KModes(kernel="other")._parameters_needed()}, "_fitted_with must be"),
        ({"_sklearn_output_config": 5}, "_sklearn_output_config must be a dict"),
        ({"_sklearn_output_config": {"transform": 1.0}}, "transform, which is one of"),
        ({"_sklearn_output_config": {"transform": "frame"}}, "transform, which is one of"),
        ({"_sklearn_output_config": {"fit": "pandas"}}, "transform, which is one of"),
        ({"predict": 5}, "no attribute 'predict'"),
        ({"_sparse_with_y": np.ones(2)}, "_sparse_with_y must be a bool, got float64 of shape"),
        ({"__class__": 5}, "no attribute '__class__'"),
        ({"_skl_callbacks": 5}, "no attribute '_skl_callbacks'"),
        ({"_open_new_data": 5}, "no attribute '_open_new_data'"),
        ({"other": 5}, "no attribute 'other'"),
        ({"kernel": "other"}, "'kernel' parameter"),
        ({"kernel": np.eye(9)}, "'kernel' parameter"),
    ],
)
def test_state_that_does_not_fit_is_refused(changes, message, small, tmp_path):
    state = small[0]._state() | changes
    path = tmp_path / "model.npz"
    write_document(path, Document("0.1", "KModes", state, {}), KModes._saved_types)
    with pytest.raises(ModelFileError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_path_that_does_not_fit_is_refused(small, tmp_path):
    model, path = small[0], tmp_path / "model.npz"
    for name in ("centers", "bandwidths", "objectives", "inertias", "counts", "n_iter"):
        other = altered(model.path_, **{name: getattr(model.path_, name)[..., :0]})
        state = model._state() | {"path_": other}
        write_document(path, Document("0.1", "KModes", state, {}), KModes._saved_types)
        with pytest.raises(ModelFileError, match="the arrays of a path must be"):
            load(path)


def test_a_past_that_does_not_fit_is_refused(small, tmp_path):
    model, path = small[0], tmp_path / "model.npz"
    for changes in (
        {"centers": np.zeros((2, 3))},
        {"centers": np.full((2, 2), np.nan)},
        {"mass": np.ones(3)},
        {"mass": np.array([1.0, -1.0])},
        {"mass": np.array([1.0, np.inf])},
        {"reference": np.array([0.0, np.nan])},
        {"reference": None},
        {"weight": 0.0},
        {"weight": "x"},
        {"scale": np.inf},
    ):
        state = model._state() | {"_statistics": altered(model._statistics, **changes)}
        write_document(path, Document("0.1", "KModes", state, {}), KModes._saved_types)
        with pytest.raises(
            ModelFileError,
            match=r"_statistics must be sums of 2 clusters|sufficient statistics must be finite",
        ):
            load(path)


def test_a_kernel_density_that_does_not_fit_is_refused(tmp_path):
    path = tmp_path / "model.npz"
    for name in ("mean-shift", "mean-shift CSR"):
        model = fitted(name)
        n_rows, width = model._kernel_density.X.shape
        for changes in (
            {"X": np.zeros((n_rows, width - 1))},
            {"X": sparse.csr_array((n_rows, width + 1))},
            {"X": sparse.csc_array(np.ones((n_rows, width)))},
            {"X": np.full((n_rows, width), np.nan)},
            {"weight": np.ones(3)},
            {"weight": np.full(n_rows, -1.0)},
            {"scale": np.full(n_rows, np.nan)},
            {"scale": 1},
            {"X": sparse.csr_array(np.full((n_rows, width), 1e30))},
            {
                "X": sparse.csr_array(
                    (np.ones(2), [1, 0], [0] + n_rows * [2]), shape=(n_rows, width)
                )
            },
        ):
            state = model._state() | {"_kernel_density": altered(model._kernel_density, **changes)}
            write_document(path, Document("0.1", "MeanShift", state, {}), MeanShift._saved_types)
            with pytest.raises(
                ModelFileError,
                match=r"_kernel_density must be rows of 4 features|a kernel density must have",
            ):
                load(path)


@pytest.mark.parametrize("name", ["Laplacian", "Laplacian bound", "Laplacian local"])
def test_a_soft_clustering_that_does_not_fit_is_refused(name, tmp_path):
    path, model = tmp_path / "model.npz", fitted(name)
    near = model._neighborhood
    for attribute, value in (
        ("assignments_", model.assignments_[:, :2]),
        ("assignments_", model.assignments_ * np.nan),
        ("assignments_", model.assignments_ * 2),
        ("assignments_", -model.assignments_),
        ("affinity_", model.affinity_ * np.nan),
        ("smoothing_", np.inf),
        ("affinity_", model.affinity_[:5]),
        ("affinity_", np.zeros((150, 150))),
        ("smoothing_", -1.0),
        ("smoothing_", "auto"),
        ("_neighborhood", None),
        ("_neighborhood", altered(near, X=near.X[:5])),
        ("_neighborhood", altered(near, n_neighbors=0)),
        ("_neighborhood", altered(near, n_neighbors=2.5)),
        ("_neighborhood", altered(near, scale=-1.0)),
        ("_neighborhood", altered(near, scale=np.ones(7))),
        ("_neighborhood", altered(near, scale="local")),
        ("_neighborhood", altered(near, kind="normalised", mean_degree=1e308)),
    ):
        state = model._state() | {attribute: value}
        document = Document("0.1", "LaplacianKModes", state, {})
        write_document(path, document, LaplacianKModes._saved_types)
        with pytest.raises(ModelFileError, match=rf"{attribute} must be|a neighborhood must have"):
            load(path)


def test_state_that_lacks_something_is_refused(small, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(rewritten(small[1], state={}))
    with pytest.raises(ModelFileError, match="it lacks n_features_in_, cluster_centers_, labels_"):
        load(path)
    path.write_bytes(rewritten(small[1], notes=[]))
    with pytest.raises(ModelFileError, match="notes must be a dict, got list"):
        load(path)


def test_a_generator_whose_place_is_out_of_range_is_refused(tmp_path):
    """From there numpy would read what lies in memory."""
    write_document(tmp_path / "a", Document("0.1", "Thing", {"r": np.random.RandomState(0)}, {}))
    content = (tmp_path / "a").read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        text = archive.read("model.json").decode()
    for place in ("-1", "625", "1e3", '"x"'):
        state = json.loads(re.sub(r'("pos",\s*)624', rf"\g<1>{place}", text))["state"]
        (tmp_path / "a").write_bytes(rewritten(content, state=state))
        with pytest.raises(ModelFileError, match="the state of a random generator does not fit"):
            read_document(tmp_path / "a", "0.1", {"Thing": ()})


def test_an_array_that_says_to_be_longer_than_it_is_takes_no_memory(small, tmp_path):
    path, longer = tmp_path / "model.npz", io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 2)}
    np.lib.format.write_array_header_1_0(longer, header)
    with zipfile.ZipFile(io.BytesIO(small[1])) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name) if name == "model.json" else longer.getvalue())
    with pytest.raises(ModelFileError, match="the header says float64 of shape") as caught:
        load(path)
    assert not isinstance(caught.value.__cause__, MemoryError)


def test_sparse_parts_with_indices_out_of_range_are_refused(tmp_path):
    for part, value in (("indptr", 10**6), ("indices", -1000)):
        matrix = CSR.copy()
        getattr(matrix, part)[5] = value
        write_document(tmp_path / "a", Document("0.1", "Thing", {"matrix": matrix}, {}))
        with pytest.raises(ModelFileError, match="is damaged"):
            read_document(tmp_path / "a", "0.1", {"Thing": ()})


def test_sparse_parts_that_scipy_does_not_look_at_are_refused(tmp_path):
    hollow = sparse.csr_array((2, 2))
    hollow.indptr[1] = 7  # it ends with no number, all the same
    half = sparse.csr_array(np.eye(2))
    half.data = half.data.astype(np.float16)
    for matrix, reason in ((hollow, "end before they begin"), (half, "holds float16")):
        write_document(tmp_path / "a", Document("0.1", "Thing", {"matrix": matrix}, {}))
        with pytest.raises(ModelFileError, match=f"is damaged: .*{reason}"):
            read_document(tmp_path / "a", "0.1", {"Thing": ()})


@pytest.mark.parametrize(
    ("written_by", "version", "is_read"),
    [
        ("0.1.0", "0.1.0", True),
        ("0.1.7", "0.1.0", True),
        ("0.1.0", "0.2.0", True),
        ("0.2.0", "0.1.0", False),
        ("0.10.0", "0.9.0", False),
        ("0.9.0", "1.0.0", True),
        ("1.0.0", "0.9.0", False),
        ("1.3.0", "1.0.0", False),
        ("1.0.0", "2.0.0", True),
        ("2.0.0.dev1", "1.9.0", False),
    ],
)
def test_a_file_of_a_later_series_is_refused(written_by, version, is_read, tmp_path):
    write_document(tmp_path / "a", Document(written_by, "Thing", {"a": 1}, {}))
    if is_read:
        assert read_document(tmp_path / "a", version, {"Thing": ()}).state == {"a": 1}
    else:
        with pytest.raises(ModelFileError, match=f"by modeclust {written_by}, and this is"):
            read_document(tmp_path / "a", version, {"Thing": ()})


def test_a_file_of_an_older_version_is_read_with_defaults_for_what_it_lacks(small, tmp_path):
    model, content = small
    state = state_in(content)
    del state["mean_shift_iter"]
    path = tmp_path / "model.npz"
    path.write_bytes(rewritten(content, version="0.0.1", state=state))
    assert load(path).get_params() == model.get_params()


def test_an_older_file_that_lacks_results_is_refused_with_its_version(small, tmp_path):
    _, content = small
    state = state_in(content)
    del state["modes_"]
    path = tmp_path / "model.npz"
    path.write_bytes(rewritten(content, version="0.1.0", state=state))
    with pytest.raises(ModelFileError, match=r"lacks modes_; modeclust 0\.1\.0 wrote it"):
        load(path)


def test_no_threads_are_refused(small, tmp_path):
    _, content = small
    state = state_in(content)
    path = tmp_path / "model.npz"
    path.write_bytes(rewritten(content, state=state | {"n_jobs": 0}))
    with pytest.raises(ModelFileError, match="n_jobs must not be 0"):
        load(path)


def test_other_errors_of_files_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.npz")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
    with pytest.raises(IsADirectoryError):
        fitted("dense").save(tmp_path)
    with pytest.raises(FileNotFoundError):
        fitted("dense").save(tmp_path / "absent" / "model.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.posix
def test_a_full_disk_leaves_the_old_file(small, tmp_path):
    _, content = small
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    code = """
import resource, signal, sys
from modeclust import load
model = load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    model.save(sys.argv[1])
except OSError as error:
    sys.exit(0 if sys.argv[1] in str(error) else 3)
sys.exit(4)
"""
    import resource

    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == 0
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == content


def test_what_is_not_of_the_model_is_not_saved(tmp_path):
    model = KModes(3, **QUICK).fit(X)
    model.remark = object()
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    assert not hasattr(loaded, "remark")
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)


def test_a_preparation_that_does_not_fit_is_refused(tmp_path):
    path, frame = (
        tmp_path / "model.npz",
        pd.DataFrame({"n": X[:, 0] * 99, "c": ["a", "b", "c"] * 50}),
    )
    pipeline = make_pipeline(TablePreparation(), KModes(2, **QUICK)).fit(frame)
    saved = SavedTable.of(pipeline[0])
    number, category = saved.columns
    text = TextColumn("t", 0.0, ["w"], np.ones(1), np.ones((2, 1)), np.zeros(2))
    damaged = [
        "x",
        altered(saved, columns=[]),
        altered(saved, columns=[number]),
        altered(saved, columns=[category, category]),
        altered(saved, columns=[LeftOut("a", "an id")]),
        altered(saved, columns=["n", "c"]),
        altered(saved, kinds={"n": "colour"}),
        altered(saved, scale="unit"),
        altered(saved, is_named=1),
        *(
            altered(saved, columns=[altered(number, **{name: value}), category])
            for name, values in {
                "name": [3], "missing": [2.0, np.nan], "fill": [np.nan, "1"],
                "low": [np.inf, np.nan], "center": [np.inf], "scale": [0.0, -1.0],
                "decimal": ["x"], "date_format": ["%s"], "unit": [1], "is_typed": [0],
            }.items()
            for value in values
        ),
        *(
            altered(saved, columns=[number, altered(category, **{name: value})])
            for name, values in {
                "categories": [["a", "a", "b"], ["a"], "abc", [1, 2, 3]],
                "shares": [np.ones(2), -np.ones(3), np.full(3, np.nan), "x"],
                "n_rare": [-1, 1, 0.0], "is_boolean": ["x"],
            }.items()
            for value in values
        ),
        *(
            altered(saved, columns=[number, altered(text, **{name: value})])
            for name, values in {
                "terms": [[], ["w", "w"], [1]], "idf": [np.ones(2), np.full(1, np.nan)],
                "components": [np.ones((2, 2)), np.ones(1)], "center": [np.zeros(1)],
            }.items()
            for value in values
        ),
        altered(SavedScaler(None, np.ones(4), None), scale=np.zeros(4)),
        altered(SavedScaler(None, np.ones(4), None), mean=np.ones(3)),
        SavedScaler(None, np.ones(3), None),
    ]  # fmt: skip
    for other in damaged:
        document = Document("0.1", "KModes", pipeline[-1]._state(), {"preparation": other})
        write_document(path, document, (*KModes._saved_types, *SAVED_TYPES))
        with pytest.raises(ModelFileError, match=r"preparation|the columns|a scaling must"):
            load(path)


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "U3"])
@pytest.mark.parametrize("order", "<>")
def test_arrays_have_the_byte_order_of_this_machine(dtype, order):
    buffer, array = io.BytesIO(), np.array([[0, 1], [1, 0]]).astype(dtype)
    np.save(buffer, array.astype(array.dtype.newbyteorder(order)))
    found = array_of(buffer.getvalue())
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_a_model_whose_last_fit_failed_is_not_saved(tmp_path):
    model = KModes(3, **QUICK).fit(X)
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X[:, :2], sample_weight=-WEIGHT)
    with pytest.raises(ValueError, match=r"centers of 4 features, but .* got 2; fit it again"):
        model.save(tmp_path / "model.npz")
    model = KModes(3, **QUICK).fit(X).set_params(n_jobs=0)
    with pytest.raises(ValueError, match="n_jobs"):
        model.save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


def test_weights_that_change_after_the_fit_change_nothing():
    weight = WEIGHT.copy()
    model = MeanShift(bandwidth=0.8).fit(X, sample_weight=weight)
    expected = model.predict(X)
    weight[:100] = 0
    np.testing.assert_array_equal(model.predict(X), expected)
