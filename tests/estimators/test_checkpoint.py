"""Fits that are interrupted, and go on to the same bits."""

import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path

import fits
import numpy as np
import pytest
from callbacks import Callback, needs_callbacks
from interruption import Interrupter, assert_same_fit, interrupts
from same import assert_same
from scipy import sparse
from sklearn.datasets import make_blobs

from modeclust import KModes, LaplacianKModes, __version__, load
from modeclust.data.memory import MemoryDataset
from modeclust.estimators import fit_path
from modeclust.estimators.checkpoint import Checkpoint
from modeclust.exceptions import CheckpointError, CheckpointWarning, ModelFileError
from modeclust.io.atomic import unused_name
from modeclust.io.checkpoint import CHECKPOINT, describe_checkpoint
from modeclust.io.model_file import Document, read_document, write_document
from modeclust.solvers import kmodes
from modeclust.solvers.bandwidth import choose_bandwidth

X, _ = make_blobs(600, 5, centers=6, cluster_std=3.0, random_state=0)
LONG, _ = make_blobs(300, 1024, centers=70, cluster_std=4.0, random_state=2)
CSR = sparse.csr_array(np.where(X > 0, X, 0.0))
WEIGHT = np.arange(600) % 4 / 2.0
SCALE = 0.5 + np.arange(600) % 3
MANY_LONG = {"n_clusters": 70, "bandwidth": 100.0, "n_bandwidths": 2, "n_init": 1}
SAMPLED = {"bandwidth": "knn", "random_state": None}
UNIFORM = np.random.default_rng(2).random((2_000, 16))
AUTO = {"bandwidth": "auto", "n_init": "auto"}
QUICK = {"bandwidth": 2.0, "n_bandwidths": 4, "n_init": 2, "random_state": 0}


def first_rows(X, n_clusters, random_state):
    return X[random_state.choice(len(X), n_clusters, replace=False)]


# Parameters, data, and what else `fit` takes.
FITS = {
    "plain": ({}, X, {}),
    "one iteration": ({"path_iter": 1}, X, {}),
    "two iterations": ({"path_iter": 2}, X, {}),
    "converged everywhere": ({"path_iter": 300}, X, {}),
    "converged nowhere": ({"max_iter": 1, "path_iter": 1}, X, {}),
    "mode steps": ({"mean_shift_iter": 3, "path_iter": 2}, X, {}),
    "one bandwidth": ({"n_bandwidths": 1}, X, {}),
    "K-means": ({"bandwidth": np.inf}, X, {}),
    "start": ({"start_bandwidth": 9.0}, X, {}),
    "weights": ({}, X, {"sample_weight": WEIGHT}),
    "scales": ({}, X, {"sample_scale": SCALE}),
    "CSR": ({"path_iter": 2}, CSR, {"sample_weight": WEIGHT}),
    "float32": ({"path_iter": 2}, X.astype(np.float32), {}),
    "offset": ({"path_iter": 2}, X + 1e6, {}),
    "offset, float32": ({}, (X + 1e5).astype(np.float32), {"sample_scale": SCALE}),
    "huge": ({"bandwidth": 2e30}, X * 1e30, {}),
    "adaptive": ({"adaptive": True, "bandwidth": "knn"}, X, {}),
    "adaptive, sampled": ({"adaptive": True, **SAMPLED}, X, {}),
    "no seed": (SAMPLED, X, {}),
    "random": ({"init": "random", "n_init": 5}, X, {}),
    "callable": ({"init": first_rows}, X, {}),
    "array": ({"init": X[:6]}, X, {}),
    "epanechnikov": ({"kernel": "epanechnikov", "bandwidth": 4.0}, X, {}),
    "no support": ({"kernel": "biweight", "bandwidth": 0.1}, X, {}),
    "cauchy": ({"kernel": "cauchy", "path_iter": 2}, X, {}),
    "tiny bandwidth": ({"bandwidth": 1e-3}, X, {}),
    "long rows": (MANY_LONG, LONG, {}),
    "long float32": (MANY_LONG, LONG.astype(np.float32), {}),
    "no labels": ({"store_labels": False}, X, {}),
    "auto": (AUTO, X, {"sample_weight": WEIGHT}),
    "auto, modes that fail": ({**AUTO, "n_clusters": 4}, UNIFORM, {}),
    "ties": ({"bandwidth": 1.0, "path_iter": 2}, np.round(X / 4), {}),
}


# What each of the others does besides one of these takes long to try all over.
TELLING = {
    "two iterations",
    "converged everywhere",
    "K-means",
    "CSR",
    "offset, float32",
    "adaptive, sampled",
    "callable",
    "array",
    "auto, modes that fail",
}


def each(names, *, telling=TELLING):
    """Return a mark that tries some names, and those less telling only in slow tests."""
    marks = {name: [pytest.mark.slow] * (name not in telling) for name in names}
    return pytest.mark.parametrize("name", [pytest.param(n, marks=marks[n]) for n in names])


def fit(name, **changes):
    """Return a fitted model, and what it warned of."""
    parameters, data, options = FITS[name]
    model = KModes(**{"n_clusters": 6, **QUICK, **parameters, **changes})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(data, **options)
    return model, [str(warning.message) for warning in caught]


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    """Let rules for the bandwidth draw some rows, which they otherwise do from 5,000 on."""
    monkeypatch.setitem(choose_bandwidth.__kwdefaults__, "n_samples", 200)


@pytest.fixture
def passes(monkeypatch):
    return Interrupter(monkeypatch, MemoryDataset, "run")


interrupt = interrupts(fit)


@each(FITS)
def test_a_fit_interrupted_anywhere_resumes_with_the_same_bits(name, writes, tmp_path):
    np.random.seed(7)
    file = tmp_path / "checkpoint"
    whole, warned = fit(name)
    np.random.seed(7)
    writes.count()
    same, warned_too = fit(name, checkpoint=file)
    assert_same_fit(same, whole)
    assert warned_too == warned
    assert not file.exists()
    n_restarts = 1 if name == "array" or whole.n_init == "auto" else whole.n_init
    # One before K-means, one after.
    assert writes.n_calls == n_restarts + 1 + len(whole.path_)
    for after in range(1, n_restarts + 2 + len(whole.path_)):
        np.random.seed(7)
        interrupt(writes, after, file, name)
        np.random.seed(after)
        before = np.random.get_state(legacy=False)
        resumed, warned_too = fit(name, checkpoint=str(file))
        assert_same_fit(resumed, whole)
        assert warned_too == warned
        assert_same(np.random.get_state(legacy=False), before)
        assert list(tmp_path.iterdir()) == []


@each(["plain", "one iteration", "adaptive"], telling={"one iteration"})
def test_a_fit_interrupted_in_any_pass_resumes_with_the_same_bits(name, passes, tmp_path):
    file = tmp_path / "checkpoint"
    whole, _ = fit(name)
    passes.count()
    fit(name, checkpoint=file)
    for after in range(1, passes.n_calls, 7):
        with passes.interrupting(after):
            fit(name, checkpoint=file)
        assert_same_fit(fit(name, checkpoint=file)[0], whole)


def test_a_fit_interrupted_over_and_over_ends_with_the_same_bits(writes, tmp_path):
    whole, _ = fit("two iterations")
    for _ in range(3):  # the first of each is that of before the first restart
        interrupt(writes, 2, tmp_path / "c", "two iterations")
    for _ in range(4):
        interrupt(writes, 1, tmp_path / "c", "two iterations")
    assert_same_fit(fit("two iterations", checkpoint=tmp_path / "c")[0], whole)


def test_a_resumed_fit_leaves_the_generator_in_the_same_state(writes, tmp_path):
    generator = np.random.RandomState(5)
    whole, _ = fit("no seed", random_state=generator)
    for after, same in product((1, 2, 4, 6), (True, False)):
        begun = np.random.RandomState(5)
        interrupt(writes, after, tmp_path / "c", "no seed", random_state=begun)
        # Go on with the one that the interrupted fit has drawn from, or with another.
        again = begun if same else np.random.RandomState(99)
        resumed, _ = fit("no seed", random_state=again, checkpoint=tmp_path / "c")
        assert_same_fit(resumed, whole)
        assert_same(again, generator)


def test_any_generator_of_numpy_will_do(writes, tmp_path):
    def generator():
        return np.random.RandomState(np.random.PCG64(3))

    whole, _ = fit("no seed", random_state=generator())
    interrupt(writes, 3, tmp_path / "c", "no seed", random_state=generator())
    with pytest.raises(CheckpointError, match=r"RandomState of PCG64 there and a .* MT19937 here"):
        fit("no seed", random_state=np.random.RandomState(3), checkpoint=tmp_path / "c")
    resumed, _ = fit("no seed", random_state=generator(), checkpoint=tmp_path / "c")
    assert_same_fit(resumed, whole)


def test_checkpoints_of_memory_mapped_rows_can_be_resumed(writes, tmp_path):
    np.save(tmp_path / "X.npy", X + 1e6)
    file, mapped = tmp_path / "c", np.load(tmp_path / "X.npy", mmap_mode="r")
    whole = KModes(6, **QUICK).fit(mapped)
    with writes.interrupting(after=4):
        KModes(6, checkpoint=file, **QUICK).fit(mapped)
    assert_same_fit(KModes(6, checkpoint=file, **QUICK).fit(mapped), whole)


def test_threads_and_printing_may_change(writes, tmp_path, capsys):
    whole, _ = fit("plain", n_jobs=1)
    interrupt(writes, 6, tmp_path / "c", n_jobs=1)
    assert describe_checkpoint(tmp_path / "c") == "2 of 4 bandwidths done"
    model, _ = fit("plain", checkpoint=tmp_path / "c", n_jobs=3, verbose=1, n_clusters=np.int64(6))
    assert_same(model.path_, whole.path_)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"[KModes] resumed from {str(tmp_path / 'c')!r}: 2 of 4 bandwidths done"
    assert len(lines) == 1 + 2
    interrupt(writes, 2, tmp_path / "c")
    assert describe_checkpoint(tmp_path / "c") == "1 restarts done"


@pytest.mark.parametrize("name", ["plain", "offset, float32", "K-means"])
def test_a_kept_checkpoint_ends_the_same_call_at_once(name, monkeypatch, tmp_path):
    file = tmp_path / "c"
    whole, _ = fit(name, checkpoint=file, keep_checkpoint=True)
    content = file.read_bytes()
    monkeypatch.setattr(fit_path, "solve_kmeans", None)
    monkeypatch.setattr(kmodes, "solve_on_path", None)
    again, _ = fit(name, checkpoint=file, keep_checkpoint=True)
    assert_same_fit(again, whole)
    assert file.read_bytes() == content
    fit(name, checkpoint=file)
    assert not file.exists()


class Recorder(Callback):
    """A callback that counts steps, and can stop after one."""

    def __init__(self, stop_after=None):
        self.told, self.stop_after = [], stop_after

    def on_fit_task_end(self, estimator, context):
        self.told.append(context.task_name)
        return self.stop_after == (context.task_name, self.told.count(context.task_name))


@needs_callbacks
def test_callbacks_of_a_resumed_fit_get_the_remaining_tasks(writes, tmp_path):
    for after, restarts, bandwidths in ((1, 2, 4), (2, 1, 4), (3, 0, 4), (4, 0, 4), (7, 0, 1)):
        interrupt(writes, after, tmp_path / "c")
        recorder = Recorder()
        KModes(6, checkpoint=tmp_path / "c", **QUICK).set_callbacks(recorder).fit(X)
        assert recorder.told.count("restart") == restarts
        assert recorder.told.count("bandwidth") == bandwidths


@needs_callbacks
@pytest.mark.parametrize("stop", [("restart", 1), ("bandwidth", 2)])
def test_a_fit_that_a_callback_stops_is_done(stop, tmp_path):
    file = tmp_path / "c"
    parameters = {**QUICK, "n_init": 5, "checkpoint": file}
    stopped = KModes(6, **parameters).set_callbacks(Recorder(stop)).fit(X)
    assert not file.exists()
    model = KModes(6, keep_checkpoint=True, **parameters).set_callbacks(Recorder(stop)).fit(X)
    assert_same(model.path_, stopped.path_)
    more = KModes(6, **parameters).fit(X)  # goes on without the callback
    assert len(more.path_) == 5
    n_same = len(stopped.path_)
    np.testing.assert_array_equal(more.path_.centers[:n_same], stopped.path_.centers)
    assert not file.exists()


def other_rows(X, n_clusters, random_state):
    return X[:n_clusters]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("plain", {"n_clusters": 5}, "n_clusters is 6 there and 5 here. "),
        ("plain", {"bandwidth": 2.5}, r"bandwidth is 2 there and 2\.5 here"),
        ("plain", {"bandwidth": "knn"}, "bandwidth is 2 there and 'knn' here"),
        ("plain", {"kernel": "cauchy"}, "kernel is 'gaussian' there and 'cauchy' here"),
        ("plain", {"adaptive": True}, "adaptive is False there and True here"),
        (
            "plain",
            {"random_state": 1, "tol": 0.1},
            r"random_state is 0 there and 1 here; tol is 0\.0001",
        ),
        ("plain", {"random_state": None}, "random_state is 0 there and None here"),
        ("plain", {"init": X[:6]}, r"'k-means\+\+' there and an array \(6, 5\) of digest"),
        ("array", {"init": X[1:7]}, r"init is an array \(6, 5\) of digest \w+ there and an array"),
        ("callable", {"init": other_rows}, "first_rows there and .*other_rows here"),
        ("plain", {"store_labels": False}, "store_labels"),
    ],
)
def test_other_parameters_are_refused_by_name(name, changes, message, writes, tmp_path):
    file = tmp_path / "c"
    interrupt(writes, 5, file, name)
    content = file.read_bytes()
    with pytest.raises(CheckpointError, match=message) as caught:
        fit(name, checkpoint=file, **changes)
    assert str(caught.value).startswith(f"{str(file)!r} is the checkpoint of another fit: ")
    assert "values" not in str(caught.value)
    assert file.read_bytes() == content
    fit(name, checkpoint=file)


CHANGED = X.copy()
CHANGED[-1, -1] = np.nextafter(CHANGED[-1, -1], 99)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (CHANGED, {}, "fit: the values of X differ. "),
        (X + 1e6, {}, "fit: the values of X differ. "),
        (X * 2.0**100, {}, "fit: the values of X differ. "),
        (X[:599], {}, r"fit: the shape of X is \(600, 5\) there and \(599, 5\) here"),
        (X.astype(np.float32), {}, "the dtype of X is float64 there and float32 here"),
        (sparse.csr_array(X), {}, "X is dense there and sparse here"),
        (X, {"sample_weight": np.ones(600)}, "fit: the values of sample_weight differ"),
        (X, {"sample_scale": np.full(600, 2.0)}, "fit: the values of sample_scale differ"),
    ],
)
def test_other_data_are_refused_by_name(data, options, message, writes, tmp_path):
    file = tmp_path / "c"
    interrupt(writes, 5, file)
    content = file.read_bytes()
    with pytest.raises(CheckpointError, match=message):
        KModes(6, checkpoint=file, **QUICK).fit(data, **options)
    assert file.read_bytes() == content


@pytest.mark.parametrize(("offset", "scale"), [(1e6, 1.0), (1e6, 2.0**50)])
def test_data_in_other_units_are_distinguished(offset, scale, writes, tmp_path):
    whole = np.round(X) + offset
    with writes.interrupting(after=5):
        KModes(6, checkpoint=tmp_path / "c", **QUICK).fit(whole)
    with pytest.raises(CheckpointError, match="the values of X differ"):
        KModes(6, checkpoint=tmp_path / "c", **QUICK).fit((whole + 1e6) * scale)


def test_scales_that_differ_by_a_factor_are_distinguished(writes, tmp_path):
    interrupt(writes, 5, tmp_path / "c", "scales")
    with pytest.raises(CheckpointError, match="the values of sample_scale differ"):
        KModes(6, checkpoint=tmp_path / "c", **QUICK).fit(X, sample_scale=2 * SCALE)


def test_another_version_is_refused(writes, tmp_path, monkeypatch):
    interrupt(writes, 5, tmp_path / "c")
    monkeypatch.setattr("modeclust.io.checkpoint.__version__", "0.99")
    with pytest.raises(CheckpointError, match=r"was written by modeclust .*, and this is 0\.99"):
        fit("plain", checkpoint=tmp_path / "c")


@pytest.fixture
def small(writes, tmp_path):
    """Return a small model with its data, and the bytes of its checkpoint."""
    model = KModes(
        2, bandwidth=3.0, n_bandwidths=2, n_init=1, random_state=0, checkpoint=tmp_path / "c"
    )
    with writes.interrupting(after=4):
        model.fit(X[:20, :2])
    return model, (tmp_path / "c").read_bytes()


def test_a_flipped_bit_anywhere_is_seen_or_changes_nothing(small):
    model, content = small
    file, whole = model.checkpoint, Checkpoint.of(model)._found
    messages = []
    for position in range(0, len(content), 11):
        damaged = bytearray(content)
        damaged[position] ^= 1 << (position % 8)
        file.write_bytes(damaged)
        try:
            assert_same(Checkpoint.of(model)._found, whole)
        except CheckpointError as error:
            messages.append(str(error))
        assert file.read_bytes() == damaged
    assert len(messages) > len(content) / 22
    assert all(str(file) in message for message in messages)


def without(name):
    return lambda part: {key: value for key, value in part.items() if key != name}


def with_place(place):
    return lambda state: state | {"state": state["state"] | {"pos": place}}


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("facts", lambda facts: 5),
        ("facts", lambda facts: facts | {"n_clusters": np.ones(2)}),
        ("contents", lambda contents: []),
        ("begun", without("state")),
        # numpy would read what lies in memory there.
        *((part, with_place(10**6)) for part in ("begun", "generator")),
        ("generator", with_place(-1)),
        ("generator", lambda state: state | {"has_gauss": 2**40}),
        ("generator", lambda state: state | {"gauss": np.nan}),
        ("target", lambda target: target[0]),
        ("target", lambda target: (-1.0, None)),
        ("target", lambda target: (3.0, np.ones(3))),
        ("target", lambda target: (3.0, np.full(20, np.nan))),
        ("target", lambda target: (3.0, np.full(20, 1e-200))),
        ("n_restarts", lambda n: 1.5),
        ("n_restarts", lambda n: 10**9),
        ("bandwidths", lambda bandwidths: bandwidths[:1]),
        ("bandwidths", lambda bandwidths: -bandwidths),
        ("bandwidths", lambda bandwidths: None),
        ("states", lambda states: None),
        ("states", without("nearest")),
        ("states", lambda states: states | {"bandwidth": "x"}),
        ("states", lambda states: states | {"counts": states["counts"][:, :1]}),
        ("states", lambda states: states | {"counts": states["counts"] * [[1], [2]]}),
        ("states", lambda states: states | {"counts": states["counts"] + 1}),
        ("states", lambda states: states | {"nearest": states["nearest"] + 20}),
        ("states", lambda states: states | {"centers": states["centers"] * np.nan}),
        ("states", lambda states: states | {"stage": states["stage"] + 1}),
        ("states", lambda states: states | {"mass": np.ones(3)}),
        ("states", lambda states: states | {"mass": np.full(2, 1e160)}),
        ("centers", lambda centers: centers[:, :1]),
        ("centers", lambda centers: centers * np.inf),
        ("centers", lambda centers: np.repeat(centers, 5, axis=0)),
        ("labels", lambda labels: labels[:, :5]),
        ("labels", lambda labels: labels + 7),
    ],
)
def test_parts_that_no_fit_writes_are_refused(part, change, small):
    model, _ = small
    state = read_document(model.checkpoint, __version__, {"Checkpoint": ()}, CHECKPOINT).state
    state[part] = change(state[part])
    write_document(model.checkpoint, Document(__version__, "Checkpoint", state, {}, CHECKPOINT))
    content = model.checkpoint.read_bytes()
    with pytest.raises(CheckpointError, match=r"c' is damaged: its \w+ cannot be .* Remove it"):
        model.fit(X[:20, :2])
    assert model.checkpoint.read_bytes() == content


def test_a_checkpoint_cut_short_is_refused_and_left_alone(small):
    model, content = small
    for length in range(0, len(content), 97):
        model.checkpoint.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=r"is (damaged|empty|no checkpoint)"):
            model.fit(X[:20, :2])
        assert model.checkpoint.read_bytes() == content[:length]
        assert len(list(model.checkpoint.parent.iterdir())) == 1


def test_other_files_are_refused_and_left_alone(tmp_path, writes):
    file = tmp_path / "c"
    KModes(6, **QUICK).fit(X).save(file)
    for content in (file.read_bytes(), b"a,b\n1,2\n", b""):
        file.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"c' is (no checkpoint|empty)"):
            fit("plain", checkpoint=file)
        assert file.read_bytes() == content
    file.unlink()
    interrupt(writes, 5, file)
    with pytest.raises(ModelFileError, match="is no model"):
        load(file)


@pytest.mark.posix
def test_paths_that_cannot_be_written_are_refused_before_the_fit(tmp_path, passes):
    for place, error in (
        (tmp_path, IsADirectoryError),
        ("", IsADirectoryError),
        (tmp_path / "absent" / "c", FileNotFoundError),
        ("/dev/null", OSError),
    ):
        with pytest.raises(error):
            fit("plain", checkpoint=place)
    with pytest.raises(ValueError, match="'checkpoint' parameter"):
        fit("plain", checkpoint=5)
    assert passes.n_calls == 0


@pytest.mark.posix
def test_a_link_is_followed(writes, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "c").symlink_to(tmp_path / "folder" / "file")
    whole, _ = fit("plain")
    interrupt(writes, 5, tmp_path / "c")
    assert (tmp_path / "c").is_symlink()
    assert (tmp_path / "folder" / "file").is_file()
    assert_same_fit(fit("plain", checkpoint=tmp_path / "c")[0], whole)
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.posix
def test_a_full_disk_warns_once_and_leaves_the_old_checkpoint(writes, tmp_path):
    file, out = tmp_path / "c", tmp_path / "centers.npy"
    np.save(tmp_path / "X.npy", X)
    parameters = {**QUICK, "n_bandwidths": 6}
    whole = KModes(6, **parameters).fit(X)
    with writes.interrupting(after=5):
        KModes(6, checkpoint=file, **parameters).fit(X)
    content = file.read_bytes()
    code = f"""
import resource, signal, sys, warnings
import numpy as np
from modeclust import KModes
from modeclust.exceptions import CheckpointWarning
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
X = np.load(sys.argv[1])
model = KModes(6, checkpoint=sys.argv[2], keep_checkpoint=True, **{parameters!r})
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(X)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
[warning] = caught
assert warning.category is CheckpointWarning
assert warning.filename == "<string>", warning.filename
assert sys.argv[2] in str(warning.message) and "File too large" in str(warning.message)
np.save(sys.argv[3], model.path_.centers)
"""
    import resource

    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    arguments = [str(tmp_path / "X.npy"), str(file), str(out)]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
    assert np.load(out).tobytes() == whole.path_.centers.tobytes()
    assert file.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.npy", "c", "centers.npy"]


def test_a_folder_that_goes_away_stops_no_fit(tmp_path, monkeypatch):
    whole, _ = fit("plain")
    folder = tmp_path / "folder"
    folder.mkdir()
    original = Checkpoint.write

    def write(self, progress):
        if folder.exists() and progress.n_restarts == 1:
            (folder / "c").unlink()
            folder.rmdir()
        original(self, progress)

    monkeypatch.setattr(Checkpoint, "write", write)
    with pytest.warns(CheckpointWarning, match="No such file or directory") as caught:
        model = KModes(6, checkpoint=folder / "c", **QUICK).fit(X)
    assert len(caught) == 1
    assert_same_fit(model, whole)


def test_a_checkpoint_that_cannot_be_removed_spoils_no_fit(tmp_path, monkeypatch):
    def unlink(self, **_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.warns(CheckpointWarning, match=r"could not be removed: .*Permission") as caught:
        model = KModes(6, checkpoint=tmp_path / "c", **QUICK).fit(X)
    assert caught[0].filename == __file__
    assert len(model.path_) == 5


@pytest.mark.parametrize("after", [1, 4, 7])
def test_the_first_batch_of_a_stream_is_a_fit_with_a_checkpoint(after, writes, tmp_path):
    file, batches = tmp_path / "c", (X[:400], X[400:500], X[500:])
    whole = KModes(6, **QUICK)
    for batch in batches:
        whole.partial_fit(batch)
    model = KModes(6, checkpoint=file, keep_checkpoint=True, **QUICK)
    with writes.interrupting(after):
        model.partial_fit(batches[0])
    assert not hasattr(model, "n_steps_")
    with pytest.raises(CheckpointError, match=r"is \(400, 5\) there and \(100, 5\) here"):
        model.partial_fit(batches[1])
    model.set_params(half_life=99).partial_fit(batches[0])  # which is for later batches
    content, n_writes = file.read_bytes(), writes.n_calls
    again = KModes(6, checkpoint=file, keep_checkpoint=True, **QUICK).fit(batches[0])
    for batch in batches[1:]:
        model.set_params(half_life=np.inf).partial_fit(batch)
        again.partial_fit(batch)
    assert_same_fit(model, whole)
    assert_same_fit(again, whole)
    assert writes.n_calls == n_writes
    assert file.read_bytes() == content


def test_a_warning_of_the_first_batch_points_at_the_caller(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("modeclust.io.checkpoint.write_document", full)
    for method in ("fit", "partial_fit"):
        model = KModes(6, checkpoint=tmp_path / "c", **QUICK)
        with pytest.warns(CheckpointWarning, match="No space left") as caught:
            getattr(model, method)(X)
        assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize("keep", [True, False])
def test_partial_files_of_killed_fits_are_removed(keep, tmp_path):
    unused_name(tmp_path / "c").touch()
    KModes(6, checkpoint=tmp_path / "c", keep_checkpoint=keep, **QUICK).fit(X)
    assert list(tmp_path.iterdir()) == [tmp_path / "c"] * keep


def test_merging_has_no_checkpoint(tmp_path):
    model = KModes(6, checkpoint=tmp_path / "c", **QUICK).fit(X)
    threshold = np.sort(model.dip_significance_.data)[2]  # one pair is below it
    (tmp_path / "c").write_text("something else")
    assert model.merge_redundant(X, threshold=threshold) is not model
    assert (tmp_path / "c").read_text() == "something else"


def test_a_model_with_a_checkpoint_is_saved(tmp_path):
    model = KModes(6, checkpoint=tmp_path / "c", **QUICK).fit(X)
    model.save(tmp_path / "model.npz")
    assert_same(vars(load(tmp_path / "model.npz")), vars(model))


def test_estimators_without_checkpoints_write_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LaplacianKModes(3, n_bandwidths=2, n_init=1, random_state=0).fit(X[:50])
    fit("plain")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.posix
def test_killed_at_ten_random_moments_it_ends_with_the_same_bits(tmp_path):
    # In a process without threads, which has all loaded and lets fits be killed in copies of it.
    subprocess.run([sys.executable, fits.__file__, str(tmp_path)], check=True)
    first, *others = [load(path) for path in sorted(tmp_path.glob("*.npz"))]
    assert others
    for model in others:
        assert_same_fit(model, first)
    assert not (tmp_path / "checkpoint").exists()
