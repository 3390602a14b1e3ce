"""The command line on data that is streamed: the same files, with less memory."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import command
import numpy as np
import polars as pl
import pytest
from command import invoke
from polars.testing import assert_frame_equal
from sklearn.datasets import make_blobs

import modeclust
from modeclust.cli.readers import array_files, columns
from modeclust.cli.readers.options import ReadOptions
from modeclust.cli.readers.parquet_files import scan_parquet
from modeclust.cli.readers.table import read_table
from modeclust.cli.writers import MULTI_COLUMN_ENDINGS, WRITERS, write_labels
from modeclust.data import machine
from modeclust.estimators.saving import read_model

da = pytest.importorskip("dask.array")

X, KINDS = make_blobs(2400, 3, centers=3, cluster_std=2.0, random_state=1)
FRAME = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
    kind=pl.Series([f"kind {k}" for k in KINDS]), w=pl.Series(np.arange(2400) % 4)
)
QUICK = ["-k", "3", "--bandwidth", "1", "--n-bandwidths", "3", "--n-init", "2"]
LABELS_AND_WEIGHTS = ["--label-column", "kind", "--weight-column", "w"]
IDS = [f"row {i}" for i in range(2400)]
N_PARTS = 12

refused = partial(command.refused, may_note=True)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Change to a folder with data, and make chunks small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(columns, "CHUNK_BYTES", 8 * 5 * 170)
    FRAME.write_parquet("one.parquet", row_group_size=500)
    write_parts()
    return tmp_path


def write_parts():
    Path("parts").mkdir()
    size = len(FRAME) // N_PARTS
    for part in range(N_PARTS):
        FRAME[part * size : (part + 1) * size].write_parquet(f"parts/part.{part}.parquet")
    for name in ("_SUCCESS", "_metadata", ".part.0.parquet.crc"):
        Path("parts", name).write_bytes(b"")


def write_zarr(path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(path, mode="w")
    for name, values in (("x", X), ("kind", KINDS), ("w", FRAME["w"].to_numpy())):
        group.create_array(name, data=values, chunks=(500, *values.shape[1:]))


def write_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["x"], file["w"] = X, FRAME["w"].to_numpy()
        file["kind"] = FRAME["kind"].to_list()


def written(folder):
    """Return the contents of the output folder of `fit`."""
    folder = Path(folder)
    (labels,) = folder.glob("labels.*")
    report = json.loads((folder / "report.json").read_text())
    return {
        "labels": read_table(labels, ReadOptions(stream=False)).X.ravel(),
        "model": read_model(folder / "model.npz").model,
        "modes": pl.read_csv(folder / "modes.csv"),
        "path": pl.read_csv(folder / "path.csv"),
        "report": report,
    }


def assert_same_files(ours, theirs):
    """Check that two fits wrote the same, up to rounding."""
    np.testing.assert_array_equal(ours["labels"], theirs["labels"])
    for name in ("modes", "path"):
        assert_frame_equal(ours[name], theirs[name], rel_tol=1e-9, abs_tol=1e-9)
    for name in ("labels_", "counts_", "exemplar_indices_"):
        np.testing.assert_array_equal(
            getattr(ours["model"], name), getattr(theirs["model"], name), name
        )
    for name in ("n_rows", "n_features", "feature_names", "class_names", "labels", "exemplars"):
        assert ours["report"].get(name) == theirs["report"].get(name), name


@pytest.mark.parametrize("data", ["one.parquet", "parts"])
@pytest.mark.parametrize(
    "options", [[], ["--raw", "--standardize", *LABELS_AND_WEIGHTS]], ids=["plain", "all"]
)
def test_a_streamed_fit_writes_the_same_files(data, options):
    options = [*QUICK, *(options or ["--columns", "c,a"])]
    read = invoke("fit", "one.parquet", *options, "-o", "read", "--json")
    streamed = invoke("fit", data, *options, "-o", "streamed", "--stream", "--json")
    assert read.stderr == ""
    assert re.fullmatch(
        rf"note: {data} is streamed in chunks.* MB of numbers.* 25% .*\n", streamed.stderr
    )
    ours, theirs = json.loads(streamed.stdout), json.loads(read.stdout)
    assert ours["clusters"] == [
        cluster | {name: pytest.approx(cluster[name]) for name in ("rows_averaged", "moved")}
        for cluster in theirs["clusters"]
    ]
    assert ours["files"] == theirs["files"]
    assert_same_files(written("streamed"), written("read"))
    info = [json.loads(invoke("info", folder, "--json").stdout) for folder in ("read", "streamed")]
    assert info[0]["counts"] == info[1]["counts"]
    assert info[0]["classes"] == info[1]["classes"]
    assert info[0]["scales"] == pytest.approx(info[1]["scales"])


@pytest.mark.parametrize("ending", [".zarr", ".h5", ".npy"])
def test_arrays_are_streamed(ending):
    {".zarr": write_zarr, ".h5": write_hdf5, ".npy": lambda path: np.save(path, X)}[ending](
        f"x{ending}"
    )
    options = [*QUICK, "--standardize", *(LABELS_AND_WEIGHTS if ending != ".npy" else [])]
    for folder, option in (("streamed", "--stream"), ("read", "--no-stream")):
        invoke("fit", f"x{ending}", *options, "-o", folder, option)
    assert_same_files(written("streamed"), written("read"))
    labels = "labels.npy" if ending == ".npy" else "labels.parquet"
    assert Path("streamed", labels).exists()
    invoke("predict", "read", f"x{ending}", "-o", "new.parquet", "--stream")
    np.testing.assert_array_equal(
        pl.read_parquet("new.parquet")["label"], written("read")["labels"]
    )


@pytest.mark.parametrize("part", ["x", "kind", "w"])
@pytest.mark.parametrize("ending", [".zarr", ".h5"])
def test_an_error_in_a_chunk_names_the_file(ending, part):
    path = Path(f"x{ending}")
    if ending == ".zarr":
        write_zarr(path)
        chunk = max((path / part / "c").rglob("*"), key=lambda file: file.is_file())
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            for name, values in (("x", X), ("kind", KINDS.astype("S")), ("w", FRAME["w"])):
                values = np.asarray(values)
                file.create_dataset(name, data=values, chunks=True, fletcher32=True)
            offset = file[part].id.get_chunk_info(0).byte_offset
        chunk = path
    content = bytearray(chunk.read_bytes())
    content[0 if ending == ".zarr" else offset] ^= 1
    chunk.write_bytes(content)
    for option in ("--stream", "--no-stream"):
        message = refused("fit", path, *QUICK, *LABELS_AND_WEIGHTS, "-o", "f", option)
        assert f"'x{ending}' cannot be read as a {ending} file: " in message


@pytest.mark.parametrize("ending", WRITERS)
def test_predicted_labels_are_streamed_in_every_format(ending):
    invoke("fit", "one.parquet", *QUICK, "--columns", "a,b,c", "-o", "m")
    done = invoke("predict", "m", "parts", "-o", f"l{ending}", "--stream", "--json")
    model = modeclust.load("m/model.npz")
    assert json.loads(done.stdout)["counts"] == model.counts_.tolist()
    table = np.load("l.npz")["label"] if ending == ".npz" else read_table(f"l{ending}").X
    np.testing.assert_array_equal(np.ravel(table), model.labels_)


def test_ids_are_streamed_next_to_the_labels_of_a_fit():
    FRAME.with_columns(id=pl.Series(IDS)).write_parquet("ids.parquet")
    options = ["--columns", "a,b,c", "--id-column", "id"]
    for option in ("--stream", "--no-stream"):
        invoke("fit", "ids.parquet", *QUICK, *options, option, "-o", option[2:])
    streamed = pl.read_parquet("stream/labels.parquet")
    assert_frame_equal(streamed, pl.read_parquet("no-stream/labels.parquet"))
    assert streamed.columns == ["id", "label"]
    assert streamed["id"].to_list() == IDS


@pytest.mark.parametrize("ids", [IDS, list(range(2400))], ids=["text", "numbers"])
def test_ids_are_streamed_in_every_format_with_several_columns(ids):
    FRAME.with_columns(id=pl.Series(ids)).write_parquet("ids.parquet")
    model = modeclust.KModes(3, bandwidth=np.inf, n_init=1, random_state=0)
    model.fit(FRAME.select("a", "b", "c")).save("m.npz")
    for ending in MULTI_COLUMN_ENDINGS:
        output = f"l{ending}"
        invoke("predict", "m.npz", "ids.parquet", "--id-column", "id", "-o", output, "--stream")
        if ending == ".npz":
            with np.load(output) as file:
                assert (file["id"].tolist(), file["label"].tolist()) == (
                    ids,
                    model.labels_.tolist(),
                )
            continue
        table = read_table(output, ReadOptions(["label"], label_column="id"))
        assert table.labels.tolist() == ids
        np.testing.assert_array_equal(table.X.ravel(), model.labels_)


def test_explore_streams():
    invoke(
        "explore", "parts", *QUICK, *LABELS_AND_WEIGHTS, "--stream", "--no-open", "-o", "page.html"
    )
    assert "kind 1" in Path("page.html").read_text()


@pytest.mark.parametrize("ending", WRITERS)
def test_a_failure_while_labels_are_written_leaves_no_file(ending):
    def fail(part):
        raise ValueError("torn")

    labels = da.zeros(100, chunks=10, dtype=np.int32).map_blocks(fail, dtype=np.int32)
    with pytest.raises(ValueError, match="torn"):
        write_labels(f"l{ending}", labels, 1)
    assert not list(Path().glob("*l.*")) + list(Path().glob(".modeclust*"))


def test_large_data_is_streamed_by_default(monkeypatch):
    asked = ["fit", "one.parquet", *QUICK, "--columns", "a,b", "--force"]
    size = 2400 * 2 * 8
    monkeypatch.setattr(machine, "memory", lambda: size / machine.SHARE_TO_READ)
    assert invoke(*asked).stderr == ""
    monkeypatch.setattr(machine, "memory", lambda: size / machine.SHARE_TO_READ - 8)
    assert "streamed" in invoke(*asked).stderr
    assert invoke(*asked, "--no-stream").stderr == ""


@pytest.mark.parametrize("option", ["--stream", "--no-stream"])
def test_a_missing_class_is_reported_with_its_row(option):
    gaps = pl.Series([None if i in (900, 2000) else k for i, k in enumerate(KINDS.tolist())])
    FRAME.with_columns(kind=gaps).write_parquet("gaps.parquet")
    message = refused("fit", "gaps.parquet", *QUICK, "--label-column", "kind", option)
    assert "Column 'kind' of 'gaps.parquet' has 2 missing values, first in row 901" in message


def test_columns_of_every_type_are_streamed_unchanged():
    n = 1000
    frame = pl.DataFrame(
        {
            "single": np.arange(n, dtype=np.float32),
            "whole": np.arange(n),
            "flag": np.arange(n) % 2 == 0,
            "text": [str(i / 2) for i in range(n)],
            "kind": [f"kind {i % 3}" for i in range(n)],
            "floats": np.arange(n) % 5 * 1.0,
        }
    )
    frame.write_parquet("kinds.parquet")
    for names, label in ((["single"], "whole"), (["whole", "text"], "kind"), (["flag"], "floats")):
        options = ReadOptions(names, label, "single" if "whole" in names else None)
        ours = read_table("kinds.parquet", replace(options, stream=True))
        theirs = read_table("kinds.parquet", options)
        assert ours.X.numblocks[0] > 1
        for lazy, values in zip(ours[:4], theirs[:4], strict=True):
            if hasattr(lazy, "compute"):
                np.testing.assert_array_equal(lazy.compute(), values)
        assert ours.X.dtype == theirs.X.dtype


def test_parts_are_read_in_the_order_of_their_numbers():
    assert scan_parquet(Path("parts"))._files[-1].file.name == "part.11.parquet"
    np.testing.assert_array_equal(read_table("parts", ReadOptions(["a", "b", "c"])).X, X)
    chunks = read_table("parts", ReadOptions(["a", "b", "c"], stream=True)).X
    np.testing.assert_array_equal(chunks.compute(), X)
    assert chunks.numblocks[0] == -(-2400 * 3 * 8 // columns.CHUNK_BYTES)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Dask calls in pandas
def test_a_dataset_that_dask_wrote():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).sample(frac=1.0, random_state=0)
    dd.from_pandas(frame, npartitions=11, sort=False).to_parquet("dask")
    notes = []
    table = read_table("dask", ReadOptions(stream=True), note=notes.append)
    np.testing.assert_array_equal(table.X.compute(), frame.to_numpy())
    assert table.columns == ["a", "b", "c"]
    assert "index is ignored" in table.notices[0]
    assert notes[:-1] == list(table.notices)
    assert "is streamed" in notes[-1]


def test_a_name_that_is_not_utf_8():
    path = os.fsdecode(b"ros\xe9.parquet")
    Path("one.parquet").rename(path)
    for stream in (False, True):
        rows = read_table(path, ReadOptions(["a", "b", "c"], stream=stream)).X
        np.testing.assert_array_equal(np.asarray(rows), X)


class TestBadInput:
    @pytest.fixture(params=["--stream", "--no-stream"])
    def option(self, request):
        return request.param

    def test_a_missing_value_deep_in_a_part(self, option):
        part = pl.read_parquet("parts/part.2.parquet")
        part[7, "b"], part[9, "b"] = np.nan, np.inf
        part.write_parquet("parts/part.2.parquet")
        message = refused("fit", "parts", *QUICK, *LABELS_AND_WEIGHTS, "--raw", option)
        assert "Column 'b' of 'parts' has 2 missing or infinite values" in message
        assert "first in row 408 (counted from 1)" in message

    def test_a_missing_weight(self, option):
        part = pl.read_parquet("parts/part.3.parquet")
        part[5, "w"] = None
        part.write_parquet("parts/part.3.parquet")
        message = refused("fit", "parts", *QUICK, *LABELS_AND_WEIGHTS, option)
        assert "Column 'w' of 'parts' has 1 missing" in message

    def test_negative_weights(self, option):
        FRAME.with_columns(w=pl.col("w") - 1).write_parquet("one.parquet")
        message = refused("fit", "one.parquet", *QUICK, *LABELS_AND_WEIGHTS, option)
        assert "Column 'w' of 'one.parquet' has 600 missing, infinite or negative values" in message

    def test_text(self, option):
        message = refused("fit", "parts", *QUICK, "--raw", option)
        assert "Column 'kind' contains text, e.g. 'kind" in message

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda part: part.drop("b"), "it has no column 'b'"),
            (lambda part: part.with_columns(z=1), "it has an extra column 'z'"),
            (lambda part: part.cast({"a": pl.Float32}), "'a' has type Float32 instead of Float64"),
            (lambda part: part.select(reversed(part.columns)), "in a different order"),
        ],
    )
    def test_different_schemas(self, change, message, option):
        change(pl.read_parquet("parts/part.5.parquet")).write_parquet("parts/part.5.parquet")
        error = refused("fit", "parts", *QUICK, *LABELS_AND_WEIGHTS, option)
        assert "'part.5.parquet' differs from 'part.0.parquet': " in error
        assert message in error

    @pytest.mark.parametrize("kept", [0, 0.5, 0.99])
    def test_a_truncated_part(self, kept, option):
        part = Path("parts/part.5.parquet")
        part.write_bytes(part.read_bytes()[: int(part.stat().st_size * kept)])
        error = refused("fit", "parts", *QUICK, *LABELS_AND_WEIGHTS, option)
        assert "'parts/part.5.parquet'" in error
        assert "empty" in error if kept == 0 else "cannot be read as a .parquet file" in error

    def test_a_damaged_part(self, option):
        part = Path("parts/part.5.parquet")
        content = bytearray(part.read_bytes())
        content[4 : len(content) // 3] = b"\xff" * (len(content) // 3 - 4)
        part.write_bytes(content)
        error = refused("fit", "parts", *QUICK, *LABELS_AND_WEIGHTS, option)
        assert "'parts/part.5.parquet' cannot be read" in error

    def test_folders(self, option):
        Path("empty").mkdir()
        assert "contains no .parquet file" in refused("fit", "empty", *QUICK, option)
        Path("empty/notes.txt").touch()
        assert "contains no .parquet file" in refused("fit", "empty", *QUICK, option)
        Path("empty/year=2020").mkdir()
        assert "contains folders, e.g. 'year=2020'" in refused("fit", "empty", *QUICK, option)

    def test_no_rows(self, option):
        FRAME[:0].write_parquet("none.parquet")
        assert "has no rows" in refused("fit", "none.parquet", *QUICK, "--columns", "a", option)

    def test_formats_that_cannot_be_streamed(self):
        FRAME.write_csv("x.csv")
        assert "convert it to Parquet" in refused("fit", "x.csv", *QUICK, "--stream")
        assert "--stream applies only to files" in refused("fit", "iris", *QUICK, "--stream")

    @pytest.mark.parametrize("ending", [".h5", ".zarr"])
    def test_several_arrays(self, ending, option):
        if ending == ".h5":
            h5py = pytest.importorskip("h5py")
            with h5py.File("x.h5", "w") as file:
                file["first"], file["deep/second"], file["flat"] = X, X + 1, X[:, 0]
        else:
            zarr = pytest.importorskip("zarr")
            group = zarr.open_group("x.zarr", mode="w")
            for name, values in (("first", X), ("deep/second", X + 1), ("flat", X[:, 0])):
                group.create_array(name, data=values)
        error = refused("fit", f"x{ending}", *QUICK, option)
        assert "'first'" in error
        assert "'deep/second'" in error
        assert f"select one, e.g. 'x{ending}/" in error
        assert "has no array 'third'; its arrays are '" in refused(
            "fit", f"x{ending}/third", *QUICK, option
        )
        assert "two dimensions, got 1" in refused("fit", f"x{ending}/flat", *QUICK, option)
        done = invoke("fit", f"x{ending}/deep/second", *QUICK, option, "--json")
        assert json.loads(done.stdout)["folder"] == "second.modes"
        read = read_table(f"x{ending}/deep/second", ReadOptions(stream=option == "--stream"))
        np.testing.assert_array_equal(np.asarray(read.X), X + 1)

    @pytest.mark.parametrize("ending", [".h5", ".zarr"])
    def test_an_array_with_few_stored_chunks(self, ending, option, monkeypatch):
        if ending == ".h5":
            h5py = pytest.importorskip("h5py")
            with h5py.File("x.h5", "w") as file:
                file.create_dataset("empty", (1_000_000, 2), "f8", chunks=(10, 2))
                file.create_dataset("whole", data=X, chunks=(500, 3))
        else:
            zarr = pytest.importorskip("zarr")
            group = zarr.open_group("x.zarr", mode="w")
            group.create_array("empty", shape=(1_000_000, 2), chunks=(10, 2), dtype="f8")
            group.create_array("whole", data=X, chunks=(500, 3))
        error = refused("fit", f"x{ending}/empty", *QUICK, option)
        assert re.search(
            r"shape \(1000000, 2\) requires 100000 chunks, but only \d+ bytes are", error
        )
        assert "the data is incomplete or the shape is wrong" in error
        monkeypatch.setattr(array_files, "MAX_UNCHECKED_CHUNKS", 1)
        rows = read_table(f"x{ending}/whole", ReadOptions(stream=option == "--stream")).X
        np.testing.assert_array_equal(np.asarray(rows), X)

    @pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
    def test_missing_files_and_other_content(self, name, option):
        pytest.importorskip("h5py")
        pytest.importorskip("zarr")
        assert "No such file" in refused("fit", name, *QUICK, option)
        Path(name).write_bytes(b"nothing of the kind")
        assert "cannot be read as a" in refused("fit", name, *QUICK, option)

    @pytest.mark.parametrize(
        ("package", "data", "extra"),
        [("dask", "one.parquet", "dask"), ("h5py", "x.h5", "hdf5"), ("zarr", "x.zarr", "zarr")],
    )
    def test_a_package_that_is_not_installed(self, package, data, extra, monkeypatch):
        Path(data).touch()
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setitem(sys.modules, f"{package}.array", None)
        error = refused("fit", data, *QUICK, "--columns", "a", "--stream")
        assert error == f"error: {package} is not installed; pip install 'modeclust[{extra}]'\n"

    def test_labels_cannot_be_written_as_zarr(self):
        assert "must end in one of .csv" in refused("predict", "m", "parts", "-o", "l.zarr")


MEASURE = """
import json, sys
from pathlib import Path

def highest():  # not ru_maxrss, which starts with the peak of the parent process
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

from modeclust.data.dask import dataset as dask_dataset
dask_dataset.memory_for_chunks = lambda: 0.0  # as if there were no memory to keep chunks
import modeclust.cli.fit, modeclust.cli.readers.table, polars, dask.array
from modeclust.cli.app import app

def run(*arguments):
    try:
        app(arguments, prog_name="modeclust")
    except SystemExit as end:
        assert not end.code

small = ["small.parquet", "-k", "3", "--n-init", "1", "--n-bandwidths", "1", "--bandwidth", "2"]
run("fit", *small, "-o", "small", "--force", "--stream")  # import everything before measuring
run("fit", *small, "-o", "small", "--force", "--no-stream")
before = highest()
run(*sys.argv[1:])
sys.stderr.write(json.dumps(highest() - before))
"""


def peak(*arguments):
    """Return the peak memory of a command in bytes, without the imports."""
    if not sys.platform.startswith("linux"):
        pytest.skip("memory is measured on Linux only")
    run = [sys.executable, "-c", MEASURE, *arguments]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    return json.loads(done.stderr.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_memory_is_bounded():
    rng = np.random.default_rng(0)
    Path("large").mkdir()
    for part in range(10):
        rows = rng.integers(3, size=(400_000, 1)) * 8 + rng.standard_normal((400_000, 20))
        pl.DataFrame(rows.astype(np.float32)).write_parquet(f"large/{part}.parquet")
    pl.DataFrame(rows[:1000].astype(np.float32)).write_parquet("small.parquet")
    n_bytes = 4_000_000 * 20 * 4
    options = ["-k", "3", "--bandwidth", "2", "--n-bandwidths", "1", "--n-init", "1", "--raw"]
    streamed = peak("fit", "large", *options, "-o", "streamed", "--stream")
    read = peak("fit", "large", *options, "-o", "read", "--no-stream")
    ours, theirs = (pl.read_parquet(f"{name}/labels.parquet") for name in ("streamed", "read"))
    assert ours.equals(theirs)
    assert read > 2 * n_bytes
    assert streamed < 1.6 * n_bytes
    assert peak("predict", "read", "large", "-o", "l.parquet", "--stream") < 1.5 * n_bytes


def test_columns_in_memory_are_written_beside_chunks(tmp_path):
    da = pytest.importorskip("dask.array")
    ids = da.from_array(np.arange(7), chunks=3)
    shares = np.linspace(0, 1, 14).reshape(7, 2)
    labels = np.arange(7, dtype=np.int32) % 2
    write_labels(tmp_path / "l.csv", labels, 2, {"id": ids}, {"proba": shares})
    written = pl.read_csv(tmp_path / "l.csv")
    assert written.columns == ["id", "label", "proba_0", "proba_1"]
    np.testing.assert_allclose(written.to_numpy(), np.c_[np.arange(7), labels, shares])
