"""What is typed gives what Python gives."""

import csv
import io
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

import modeclust
from modeclust import KModes, LaplacianKModes
from modeclust.cli.printing import use_option_names
from modeclust.solvers.bandwidth import RULES
from properties.checking import is_refused, outcome, refusal
from properties.drawing import KERNEL, OfRows, bandwidth_for, data, holds_for, of_rows, sizeable


class File(NamedTuple):
    """A table to be written, whose columns are called so."""

    path: str
    names: list[str]

    def write(self, rows, asked):
        """Write rows, with the columns that are named besides, as it is said to be read."""
        columns = dict(zip(self.names, rows.dense.T, strict=True))
        others = {
            "weight_column": rows.weight,
            "label_column": (["even", "odd"] * 15)[: len(rows.dense)],
            "id_column": ids_of(rows),
            "exclude": ["no number"] * len(rows.dense),
        }
        for option, values in others.items():
            if asked.get(option) is not None:
                columns[asked[option]] = values
        frame = pl.DataFrame(columns)
        if self.is_text:
            separator, decimal_comma = asked["separator"] or ",", bool(asked["decimal_comma"])
            frame.write_csv(self.path, separator=separator, decimal_comma=decimal_comma)
        else:
            frame.write_parquet(self.path)

    @property
    def is_text(self):
        return self.path.endswith("csv")


def ids_of(rows):
    return [f"row {i}" for i in range(len(rows.dense))]


# Names that files and lists of names must quote, and some that results have columns of.
NAMES = ("a", "b,c", 'd "e"', "f g", "ü", "cluster", "count", "step")
TABLES = st.tuples(
    data(scales=False, forms=("C order",)),
    st.sampled_from(["data.csv", "data.parquet"]),
    st.permutations(NAMES),
).map(
    lambda drawn: drawn[0]._replace(file=File(drawn[1], drawn[2][: drawn[0].dense.shape[1]]))
)  # fmt: skip


def _columns(rows, _):
    line = io.StringIO()
    csv.writer(line).writerow(rows.file.names[:2][::-1])
    return line.getvalue().strip()


def _image(rows, found):
    n_features = rows.dense.shape[1]
    return f"1x{n_features if found['columns'] is None else min(n_features, 2)}"


def _number(exponent):
    return OfRows(
        f"1e{exponent:g} spreads", lambda rows, _: repr(bandwidth_for(rows, exponent))
    )  # fmt: skip


FLAG = st.booleans()
DATA = of_rows("the file", lambda rows, _: rows.file.path)
# A table of text is read whole.
STREAM = st.sampled_from([None, False, True]).map(
    lambda wanted: OfRows(
        f"{wanted} if it can be", lambda rows, _: None if rows.file.is_text else wanted
    )
)


def _of_text(*values):
    """Draw what is told of text, and of no other file."""
    return st.sampled_from(values).map(
        lambda wanted: OfRows(
            f"{wanted} of text", lambda rows, _: wanted if rows.file.is_text else None
        )
    )


TEXT = {
    "header": _of_text(None, True),
    "separator": _of_text(None, ";", "|"),
    "decimal_comma": of_rows(
        "where fields are not separated by commas",
        lambda _, found: None if found["separator"] is None else True,
    ),
}


def _of_auto(wanted):
    """Return a value of --rows-per-mode, which applies only to --bandwidth auto."""
    return OfRows(
        f"{wanted} with auto", lambda _, found: wanted if found["bandwidth"] == "auto" else "auto"
    )


def _method(wanted):
    """Return a method; tiny weights are too small for laplacian."""

    def make(rows, _):
        is_tiny = sizeable(rows.weight) is not rows.weight
        return "kmodes" if is_tiny else wanted

    return OfRows(f"{wanted} if it can be", make)


def _of_method(method, strategy):
    """Draw a value of an option of one method, or None with the other."""

    def wrapped(value):
        def make(rows, found):
            made = value.make(rows, found) if isinstance(value, OfRows) else value
            return made if found["method"] == method else None

        return OfRows(f"{value!r} of {method}", make)

    return strategy.map(wrapped)


def _metric(rows, found):
    """Return the metric "cosine" where no row is all zeros, whichever columns are taken."""
    has_directions = rows.dense.shape[1] > 1 and rows.dense[:, :2].any(axis=1).all()
    return "cosine" if has_directions and not found["standardize"] else "euclidean"


EXCLUDE = st.sampled_from([None, "left out"])
PARTS = ("knn/3", "scott/0.5", "2 * knn", "knn*0.5")
JOB = {
    "data": DATA,
    **TEXT,
    "exclude": EXCLUDE,
    "id_column": st.sampled_from([None, "id"]),
    "n_clusters": st.integers(1, 4),
    "max_clusters": st.none(),  # of -k auto
    "method": st.sampled_from(["kmodes", "laplacian"]).map(_method),
    "bandwidth": st.one_of(
        st.sampled_from(["auto", *RULES, *PARTS, "inf"]).map(
            lambda rule: OfRows(
                rule, lambda _, found: "auto" if found["method"] + rule == "laplacianinf" else rule
            )
        ),
        st.floats(-2, 2).map(_number),
    ),
    "rows_per_mode": st.sampled_from(["auto", "1", "2.5", "inf"]).map(_of_auto),
    "kernel": KERNEL,
    "metric": st.sampled_from(["euclidean", OfRows("cosine of rows that have one", _metric)]),
    "adaptive": _of_method("kmodes", FLAG),
    "columns": st.sampled_from([None, OfRows("the first two, turned", _columns)]),
    "label_column": st.sampled_from([None, "kind"]),
    "weight_column": of_rows("w", lambda rows, _: None if rows.weight is None else "w"),
    "kinds": st.none(),  # of tables that are prepared; see `tables`
    "raw": st.just(True),
    "standardize": FLAG,
    "stream": _of_method("kmodes", STREAM),
    "image": st.sampled_from([None, OfRows("one row", _image)]),
    "n_bandwidths": st.integers(1, 3),
    "n_init": _of_method("kmodes", st.sampled_from(["auto", "1", "2"])),
    "seed": st.integers(0, 9),
    "jobs": st.sampled_from([None, 1, 2]),
    "checkpoint": _of_method("kmodes", st.sampled_from([None, "fit.checkpoint"])),
    "smoothing": _of_method("laplacian", st.sampled_from(["auto", "0", "1.5"])),
    "n_neighbors": _of_method("laplacian", st.sampled_from(["auto", "1", "3"])),
    "neighbor_search": _of_method("laplacian", st.sampled_from(["auto", "exact"])),
    "solver": _of_method("laplacian", st.sampled_from(["bound", "gradient"])),
    "force": FLAG,
    "as_json": FLAG,
}


def _parsed(text, number):
    """Return a value of an option: a rule, "auto", or a number."""
    return text if text in ("auto", *RULES, *PARTS) else number(text)


def fitted_in_python(rows, job):
    """Return the model that a job asks for."""
    X = rows.dense
    if job["columns"] is not None:
        X = X[:, :2][:, ::-1]
    if job["standardize"]:
        scaler = StandardScaler().fit(X, sample_weight=rows.weight)
        X = (X - scaler.mean_) / scaler.scale_
    shared = {
        "n_clusters": job["n_clusters"],
        "bandwidth": _parsed(job["bandwidth"], float),
        "rows_per_mode": _parsed(job["rows_per_mode"], float),
        "kernel": job["kernel"],
        "metric": job["metric"],
        "n_bandwidths": job["n_bandwidths"],
        "random_state": job["seed"],
    }
    if job["method"] == "kmodes":
        model = KModes(adaptive=job["adaptive"], n_init=_parsed(job["n_init"], int), **shared)
    else:
        model = LaplacianKModes(
            smoothing=_parsed(job["smoothing"], float),
            n_neighbors=_parsed(job["n_neighbors"], int),
            neighbor_search=job["neighbor_search"],
            solver=job["solver"],
            **shared,
        )
    return model.fit(np.ascontiguousarray(X), sample_weight=rows.weight)


def is_good(ask, command, rows):
    """Write the table of a job, run it, and return whether there are rows enough for it."""
    job = ask.arguments(command, rows)
    rows.file.write(rows, job)
    seen = rows if job["columns"] is None else rows._replace(dense=rows.dense[:, :2])
    printed = outcome(ask, command, rows)
    n_neighbors = job["n_neighbors"]
    is_given = n_neighbors not in (None, "auto")
    expected = refusal(seen, job["n_clusters"], int(n_neighbors) if is_given else 0)
    if is_refused(printed, expected and use_option_names(expected)):
        return False
    assert not Path("fit.checkpoint").exists()
    if job["as_json"]:
        told = json.loads(printed)
        assert told["n_rows"] == len(rows.dense)
        assert sum(cluster["count"] for cluster in told["clusters"]) == len(rows.dense)
    return True


def labels_in(path):
    if path.suffix == ".npy":
        return np.load(path).ravel()
    read = pl.read_csv if path.suffix == ".csv" else pl.read_parquet
    return read(path)["label"].to_numpy()


def check_ids(path, rows):
    """Assert that a file of labels tells which row each is of."""
    read = pl.read_csv if path.suffix == ".csv" else pl.read_parquet
    assert read(path)["id"].to_list() == ids_of(rows)


def _in_a_table(wanted):
    """Return an option of another column where the labels are written to a table."""
    return OfRows(
        f"{wanted} in a table",
        lambda _, found: None if found["output"].endswith("npy") else wanted,
    )


def _flag_in_a_table(wanted):
    return OfRows(
        f"{wanted} in a table", lambda _, found: wanted and not found["output"].endswith("npy")
    )


WHERE = {"model": st.sampled_from(["out", Path("out", "model.npz")]), "as_json": FLAG}


@holds_for(
    {
        "modeclust fit": {**JOB, "output": st.just("out")},
        "modeclust predict": {
            **WHERE,
            "data": DATA,
            "output": st.sampled_from(["labels.csv", "labels.parquet", "labels.npy"]),
            "stream": STREAM,
            "force": FLAG,
            **TEXT,
            "exclude": EXCLUDE,
            "id_column": st.sampled_from([None, "id"]).map(_in_a_table),
            "proba": st.booleans().map(_flag_in_a_table),
            "outliers": st.booleans().map(_flag_in_a_table),
        },
        "modeclust info": WHERE,
    },
    TABLES,
    quick=10,
    thorough=150,
)
def a_command_fits_and_predicts_as_python_does(ask, rows):
    if not is_good(ask, "modeclust fit", rows):
        return
    job = ask.arguments("modeclust fit", rows)
    loaded = modeclust.load("out/model.npz")
    model = loaded[-1] if job["standardize"] else loaded
    if not job["stream"]:
        expected = fitted_in_python(rows, job)
        np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
        np.testing.assert_array_equal(model.modes_, expected.modes_)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
    written = Path("out", "labels" + Path(rows.file.path).suffix)
    np.testing.assert_array_equal(labels_in(written), model.labels_)
    if job["id_column"] is not None:
        check_ids(written, rows)
    new = ask.arguments("modeclust predict", rows)
    rows.file.write(rows, new)
    is_misplaced = new["outliers"] and job["method"] == "laplacian"
    printed = outcome(ask, "modeclust predict", rows)
    if is_refused(printed, "--outliers needs a KModes" if is_misplaced else None):
        return
    labels = labels_in(Path(new["output"]))
    if job["method"] == "kmodes":  # else a row may differ from that of the fit
        np.testing.assert_array_equal(labels, model.labels_)
    if new["id_column"] is not None:
        check_ids(Path(new["output"]), rows)
    check_confidence_columns(Path(new["output"]), new, model)
    if new["as_json"]:
        counts = np.bincount(labels, minlength=job["n_clusters"])
        assert json.loads(printed)["counts"] == counts.tolist()
    told = ask("modeclust info", rows)
    if ask.arguments("modeclust info", rows)["as_json"]:
        assert json.loads(told)["counts"] == model.counts_.tolist()


def check_confidence_columns(file, asked, model):
    """Assert that the columns that were asked for, and no others, are those of the model."""
    if file.suffix == ".npy":
        return
    table = pl.read_csv(file) if file.suffix == ".csv" else pl.read_parquet(file)
    shares = [name for name in table.columns if name.startswith("proba_")]
    assert len(shares) == len(model.counts_) * asked["proba"]
    if shares:
        np.testing.assert_allclose(table.select(shares).sum_horizontal(), 1)
    assert ("outlier_score" in table.columns) == asked["outliers"]
    if asked["outliers"]:
        scores = table["outlier_score"].to_numpy()
        np.testing.assert_allclose(scores, model.outlier_scores_, rtol=1e-6, atol=1e-6)


@holds_for(
    {
        "modeclust explore": {
            **JOB,
            "output": st.sampled_from([None, "page.html"]),
            "no_open": st.just(True),  # no browser for a test
        }
    },
    TABLES,
    quick=6,
    thorough=60,
)
def a_page_is_written_where_it_was_asked_for(ask, rows):
    if is_good(ask, "modeclust explore", rows):
        output = ask.arguments("modeclust explore", rows)["output"] or "data-report.html"
        assert Path(output).read_text(encoding="utf-8").startswith("<!doctype html>")
        assert len(list(Path().iterdir())) == 2
