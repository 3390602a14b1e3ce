import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import modeclust
from modeclust import KModes, LaplacianKModes, MeanShift, TablePreparation, cluster_modes
from modeclust.reporting.page import Report
from tests.reporting.tables import WORDS, customer_pipeline, customers

IRIS = load_iris(as_frame=True).data
TWO_GROUPS = np.r_[np.zeros((20, 3)), np.full((20, 3), 9.0)] + np.arange(40)[:, None] / 100


def report(clustering, data, **options):
    """Return the summary of a report; what JSON cannot hold fails."""
    made = modeclust.report(clustering, data, path=None, **options)
    assert isinstance(made, Report)
    json.dumps(made.summary, allow_nan=False)
    return made.summary


def typical(summary):
    return pd.DataFrame([card["typical"] for card in summary["cards"]])


def test_it_is_written_to_the_path_and_replaces_nothing(blobs, tmp_path, monkeypatch):
    X, y, model = blobs
    monkeypatch.chdir(tmp_path)
    made = modeclust.report(model, X, y=y, title="Blobs")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == made.to_html()
    with monkeypatch.context() as patch:
        patch.setattr("modeclust.reporting.report.summarize", None)  # no work is done
        with pytest.raises(FileExistsError, match=r"pass overwrite=True.*'report\.html'"):
            modeclust.report(model, X)
        with pytest.raises(FileExistsError):
            model.report(X)
    modeclust.report(model, X, overwrite=True, title="Other")
    assert "<title>Other</title>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    made = model.report(X, path="numbers.json", title="Blobs")
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == made.summary


def test_a_missing_folder_is_found_before_work(blobs, tmp_path, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr("modeclust.reporting.report.summarize", None)
    with pytest.raises(FileNotFoundError, match="the folder of the report does not exist"):
        model.report(X, path=tmp_path / "nowhere" / "report.html")


def test_a_report_can_have_an_invalid_character(blobs, tmp_path):
    X, _, model = blobs
    for name in ("report.html", "report.json"):
        model.report(X, path=tmp_path / name, title="odd \ud800 title")
    assert len(list(tmp_path.iterdir())) == 2


def test_the_method_is_the_short_form(blobs):
    X, y, model = blobs
    assert model.report(X, y, None).summary == report(model, X, y=y)


def test_the_columns_of_a_frame_are_found_by_name():
    frame = IRIS.assign(species=load_iris().target_names[load_iris().target])
    model = KModes(3, random_state=0).fit(IRIS)
    summary = report(model, frame)
    assert [column["clustered"] for column in summary["columns"]] == [True] * 4 + [False]
    np.testing.assert_allclose(typical(summary)[IRIS.columns], model.modes_, rtol=1e-3)
    assert "on 4 of 5 columns" in summary["facts"][0]
    assert report(model, frame[frame.columns[::-1]])["cards"][0]["rows"] == model.counts_[0]


def test_arrays_have_features_by_number():
    X = IRIS.to_numpy()
    summary = report(KModes(3, random_state=0).fit(X), X)
    assert summary["columns"][0]["name"] == "feature 0"
    assert [card["name"] for card in summary["cards"]] == ["Cluster 0", "Cluster 1", "Cluster 2"]
    axes = report(KModes(3, random_state=0).fit(X[:, :2]), X[:, :2])["map"]["axes"]
    assert axes == ["feature 0", "feature 1"]
    named = report(KModes(3, random_state=0).fit(X), X, feature_names=list("abcd"))
    assert list(named["cards"][0]["typical"]) == list("abcd")
    assert named["cards"][0]["name"] != "Cluster 0"


@pytest.mark.parametrize("model", [LaplacianKModes(3), MeanShift(n_clusters=3)])
def test_other_estimators(model):
    model.fit(IRIS)
    summary = report(model, IRIS)
    modes = getattr(model, "modes_", model.cluster_centers_)
    assert [card["rows"] for card in summary["cards"]] == model.counts_.tolist()
    assert summary["method"]["class"] == type(model).__name__
    assert (summary["steps"] is None) == isinstance(model, MeanShift)
    if isinstance(model, LaplacianKModes):
        np.testing.assert_allclose(typical(summary), modes, rtol=1e-3)
    assert len(summary["map"]["centers"]) == len(summary["steps"] or [None])


def test_labels_with_noise():
    rng = np.random.default_rng(0)
    X, _ = make_blobs(200, centers=3, random_state=0, cluster_std=0.3)
    X = np.r_[X, rng.uniform(-10, 10, (20, 2))]
    labels = HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X)
    frame = pd.DataFrame(X, columns=["width", "height"])
    summary = report(labels, frame)
    n_noise = int((labels == -1).sum())
    assert n_noise > 0
    assert summary["n_noise"] == n_noise
    assert f"3 clusters, {n_noise} in none (noise)." in summary["facts"][0]
    found = cluster_modes(X, labels)
    np.testing.assert_allclose(typical(summary), found.modes, rtol=1e-3, atol=1e-3)
    assert [card["rows"] for card in summary["cards"]] == found.counts.tolist()
    assert summary["labels"]["first"] == labels.tolist()
    own = {example["row"] for card in summary["cards"] for example in card["examples"]}
    assert all(labels[row] >= 0 for row in own)


def test_labels_of_agglomerative_clustering_and_columns_beside():
    scaled = StandardScaler().fit_transform(IRIS)
    labels = AgglomerativeClustering(3).fit_predict(scaled)
    frame = IRIS.assign(color=np.array(["red", "white", "blue"])[labels])
    summary = report(labels, frame, X=scaled)
    assert typical(summary)["color"].tolist() == ["red", "white", "blue"]
    assert typical(summary)["petal length (cm)"].between(1, 7).all()
    assert {column["clustered"] for column in summary["columns"]} == {None}
    assert summary["steps"] is None


def test_axes_have_the_names_of_the_columns():
    labels = np.repeat([0, 1, 2], 50)
    frame = IRIS[["petal length (cm)", "petal width (cm)"]]
    for to_frame in (pd.DataFrame, pl.DataFrame):
        shown = to_frame({name: frame[name].to_numpy() for name in frame})
        assert report(labels, shown)["map"]["axes"] == list(frame)


def test_labels_that_are_strings_name_the_clusters():
    labels = np.repeat(["small", "large"], 20)
    summary = report(labels, TWO_GROUPS)
    assert [card["name"] for card in summary["cards"]] == ["large", "small"]
    assert [card["label"] for card in summary["cards"]] == ["large", "small"]


def test_a_pipeline_of_texts():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[i % 3], 5)) for i in range(90)]
    pipeline = make_pipeline(TfidfVectorizer(), KModes(3, random_state=0)).fit(texts)
    summary = report(pipeline, texts)
    labels = pipeline[-1].labels_
    for k, card in enumerate(summary["cards"]):
        group = np.bincount(np.flatnonzero(labels == k) % 3).argmax()
        assert {term for term, _ in card["terms"][:3]} <= set(WORDS[group])
        assert card["name"].split(", ")[0] in WORDS[group]
        assert card["examples"][0]["text"] == texts[card["examples"][0]["row"]]
    assert [column["kind"] for column in summary["columns"]] == ["text"]
    assert summary["is_text"]
    rows = pipeline[:-1].transform(texts)
    names = pipeline[0].get_feature_names_out()
    assert report(pipeline[-1], rows, texts=texts, feature_names=names)["is_text"]
    labelled = report(labels, customers(90), texts=texts)
    assert labelled["cards"][0]["terms"]
    assert not labelled["is_text"]  # but a table that has texts


def test_sparse_rows_have_their_largest_features_as_terms():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2000)) * (rng.random((60, 2000)) < 0.01)
    X[:30, 5] += 1.0
    X[30:, 7] += 1.0
    rows = sparse.csr_array(X)
    model = KModes(2, random_state=0).fit(rows)
    names = [f"word{d}" for d in range(2000)]
    summary = report(model, rows, feature_names=names)
    first = [card["terms"][0][0] for card in summary["cards"]]
    assert sorted(first) == ["word5", "word7"]
    card = summary["cards"][first.index("word5")]
    own = model.labels_ == first.index("word5")
    assert card["typical"]["word5"] == pytest.approx(X[own, 5].mean(), abs=0.3)
    assert len(summary["columns"]) <= 200


def test_images_are_those_of_data():
    rng = np.random.default_rng(0)
    X = np.clip(np.repeat(rng.random((2, 12)), 30, axis=0) + rng.normal(0, 0.02, (60, 12)), 0, 1)
    model = KModes(2, random_state=0).fit(X)
    for clustered, data in [(None, X), (X[:, :5], X)]:
        if clustered is not None:
            model = KModes(2, random_state=0).fit(clustered)
        summary = report(model, data, X=clustered, image_shape=(2, 2, 3))
        images = summary["images"]
        assert (images["shape"], images["low"], images["high"]) == ([2, 2, 3], 0.0, 1.0)
        modes = _bytes(images["modes"]).reshape(-1, 2, 12)
        wanted = [X[model.labels_ == k].mean(axis=0) for k in range(2)]
        np.testing.assert_allclose(modes[0] / 255, wanted, atol=0.03)
        rows = _bytes(images["rows"]).reshape(-1, 12)
        for card in summary["cards"]:
            assert card["typical"] == {}
            for example in card["examples"]:
                np.testing.assert_allclose(
                    rows[example["image"]] / 255, data[example["row"]], atol=1 / 255
                )


def _bytes(text):
    import base64

    return np.frombuffer(base64.b64decode(text), dtype=np.uint8)


def test_names_of_rows():
    labels = np.repeat([0, 1], 20)
    frame = pd.DataFrame(TWO_GROUPS, columns=list("abc"), index=[f"city {i}" for i in range(40)])

    def first(**options):
        return report(labels, frame, X=TWO_GROUPS, **options)["cards"][0]["examples"][0]

    row = first()["row"]
    assert first()["name"] == f"city {row}"
    assert first(row_names=[f"no. {i}" for i in range(40)])["name"] == f"no. {row}"
    assert first(row_names="a")["name"] == f"{TWO_GROUPS[row, 0]:g}"
    assert report(labels, TWO_GROUPS)["cards"][0]["examples"][0]["name"] == f"row {row}"


def test_ids_name_the_rows_unless_they_repeat():
    frame = pd.DataFrame({"shop_id": np.arange(40) % 30, "code": [f"C-{i}" for i in range(40)]})
    frame["a"] = TWO_GROUPS[:, 0]
    summary = report(np.repeat([0, 1], 20), frame, X=TWO_GROUPS)
    assert [column["kind"] for column in summary["columns"]] == ["number", "id", "id"]
    example = summary["cards"][0]["examples"][0]
    assert example["name"] == f"C-{example['row']}"
    assert example["values"]["shop_id"] == str(example["row"] % 30)


def test_a_pipeline_shows_columns_as_they_were_asked_for():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"plant": rng.choice([10115, 20095, 80331], 60), "x": rng.normal(size=60)})
    frame["paid"] = rng.integers(0, 2, 60)
    pipeline = make_pipeline(
        TablePreparation({"plant": "category"}), KModes(2, n_bandwidths=2, random_state=0)
    ).fit(frame)
    assert pipeline[0].columns_[2].kind == "category"  # one feature for each of two values
    for clustering, kind in ((pipeline, "category"), (pipeline[-1].labels_, "number")):
        X = None if clustering is pipeline else frame
        kinds = {c["name"]: c["kind"] for c in report(clustering, frame, X=X)["columns"]}
        assert kinds == {"plant": kind, "x": "number", "paid": "number"}


def test_texts_may_be_a_column_or_a_sequence():
    labels = np.repeat([0, 1], 20)
    words = ["apple pie"] * 20 + ["cold beer"] * 20
    frame = pd.DataFrame({"a": np.arange(40.0), "food": words})
    by_name = report(labels, frame, X=TWO_GROUPS, texts="food")
    given = report(labels, frame[["a"]], X=TWO_GROUPS, texts=words)
    for summary in (by_name, given):
        assert [{t for t, _ in card["terms"]} for card in summary["cards"]] == [
            {"apple", "pie"},
            {"cold", "beer"},
        ]
        assert summary["cards"][0]["examples"][0]["text"] == "apple pie"


def test_stability_is_that_of_the_model(blobs):
    X, _, model = blobs
    summary = report(model, X, stability=3)
    wanted = model.stability(X, n_resamples=3)
    for card, jaccard, shift in zip(summary["cards"], *wanted, strict=True):
        assert card["stability"] == {"jaccard": jaccard, "mode_shift": shift}
    assert report(model, X)["cards"][0]["stability"] is None


def test_one_cluster_and_one_feature():
    X = IRIS[["petal length (cm)"]]
    summary = report(KModes(1, random_state=0).fit(X), X)
    [card] = summary["cards"]
    assert (card["share"], card["nearest"], summary["heat"]) == (1.0, None, None)
    assert summary["histogram"] is not None
    assert summary["map"]["axes"] == ["petal length (cm)"]


def test_constant_columns_never_appear():
    frame = pd.DataFrame(TWO_GROUPS, columns=list("abc")).assign(
        same=1.0, empty=None, word="x", gaps=[np.nan, 3.0] * 20
    )
    summary = report(np.repeat([0, 1], 20), frame, X=TWO_GROUPS)
    assert [column["name"] for column in summary["columns"]] == list("abc")


def test_labels_that_were_added_to_the_table_are_left_out():
    """They would name every cluster "Low cluster" or "High cluster"."""
    table = customers()
    pipeline = customer_pipeline(table)
    table["cluster"] = pipeline[-1].labels_
    table["other"] = table["cluster"].replace({0: 1, 1: 0})
    summary = report(pipeline, table)
    columns = [column["name"] for column in summary["columns"]]
    assert "cluster" not in columns
    assert "other" in columns
    assert summary["notes"] == ["Column 'cluster' has the labels of the clusters and is left out."]
    labels = KModes(3, random_state=0).fit_predict(table[["Age"]])
    table = table[["Age"]].assign(cluster=labels)
    summary = report(labels, table, X=table[["Age"]])
    assert [column["name"] for column in summary["columns"]] == ["Age"]
    summary = report(labels, table)  # the modes have both columns
    assert [column["name"] for column in summary["columns"]] == ["Age", "cluster"]
    summary = report(labels, table.rename(columns={"cluster": "cluster_id"}), X=table[["Age"]])
    assert [column["name"] for column in summary["columns"]] == ["Age"]


def test_classes_are_counted(blobs):
    X, y, model = blobs
    summary = report(model, X, y=np.array(["p", "q", "r"])[y])
    for k, card in enumerate(summary["cards"]):
        counts = pd.Series(np.array(["p", "q", "r"])[y][model.labels_ == k]).value_counts()
        assert dict(card["classes"]) == counts.to_dict()
    assert summary["class_names"] == ["p", "q", "r"]


def test_rows_of_a_column_that_are_all_missing_in_a_cluster():
    frame = pd.DataFrame({"x": [np.nan] * 20 + list(range(20)), "d": [None] * 20 + ["p", "q"] * 10})
    summary = report(np.repeat([0, 1], 20), frame, X=TWO_GROUPS)
    card = summary["cards"][0]
    assert card["typical"] == {"x": None, "d": None}
    assert card["detail"]["x"] == {"range": None, "missing": 1.0}
    assert card["apart"] == []
    assert summary["cards"][1]["nearest"]["apart"] == []


@pytest.mark.parametrize(
    ("clustering", "data", "options", "message"),
    [
        ("model", IRIS[1:], {}, "fitted on, 150 rows, got 149"),
        ("model", IRIS[::-1], {}, "in the same order.*pass that as X"),
        ("model", IRIS[:100], {"X": IRIS}, "data must have the 150 rows that were clustered.*100"),
        ("model", IRIS, {"row_names": "absent"}, "no column 'absent', its columns are 'sepal"),
        ("model", IRIS, {"texts": "words"}, "texts must be a column of data or one value for each"),
        ("model", IRIS, {"row_names": ["a"]}, "row_names must have one value for each of the 150"),
        ("model", IRIS, {"texts": ["a", "b"]}, "texts must have one value for each of the 150"),
        ("model", IRIS, {"stability": -1}, "stability must be a number of resamples >= 0, got -1"),
        ("model", IRIS, {"stability": 2.5}, "stability must be a number of resamples"),
        ("model", IRIS, {"y": [0, 1]}, "one class for each of the 150 rows"),
        ("model", IRIS, {"y": "report.html"}, "name the file by path='report.html'"),
        ("model", IRIS, {"notes": 5}, "notes must be a list of sentences, got 5"),
        ("labels", IRIS, {"stability": 2}, "stability must be 0 for labels"),
        ("labels", IRIS[:10], {}, "one entry for each of the 10 rows"),
        ("labels", IRIS[:9].assign(kind="a"), {}, "one entry for each of the 9 rows"),
        ("labels", IRIS[[]].assign(kind="a"), {}, "no column to cluster by.*pass that as X"),
        ("labels", ["a text"] * 150, {}, "pass what was clustered as X"),
        ("labels", np.zeros((150, 2, 2)), {"X": IRIS}, "data must have rows and columns"),
        ("labels", np.zeros(150), {"X": IRIS}, "data must have rows and columns"),
        ("pipeline", customers(), {"X": IRIS}, "X must be None for a pipeline"),
        ("sklearn", IRIS[:9], {}, "one entry for each of the 9 rows"),
        ("ids", pd.concat([IRIS] * 6), {}, "900 of 900 labels are distinct; is this a column of"),
        ("table", np.repeat([0, 1, 2], 50), {}, "clustering and data seem to be swapped"),
    ],
)
def test_bad_arguments_are_named(clustering, data, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        modeclust.report(_clustering(clustering), data, **options)
    assert list(tmp_path.iterdir()) == []


def _clustering(kind):
    if kind == "labels":
        return np.repeat([0, 1, 2], 50)
    if kind in ("ids", "table"):
        return np.arange(900) if kind == "ids" else IRIS
    if kind == "pipeline":
        return customer_pipeline(customers())
    return (KMeans if kind == "sklearn" else KModes)(3, random_state=0).fit(IRIS)


def test_a_table_is_not_what_a_model_of_scaled_numbers_was_fitted_on():
    table = customers()
    model = KModes(3, random_state=0).fit(StandardScaler().fit_transform(table[["Age"]]))
    message = "X must be given.* column 'Plan' of data has text.* the fitted pipeline"
    for make in (modeclust.report, KModes.report):
        with pytest.raises(ValueError, match=message):
            make(model, table, path=None)


def test_models_must_be_fitted():
    with pytest.raises(NotFittedError):
        modeclust.report(KModes(3), IRIS)
    with pytest.raises(NotFittedError):
        modeclust.report(make_pipeline(StandardScaler(), KModes(3)), IRIS)


@pytest.mark.parametrize("kind", ["dask array", "frame beside"])
def test_a_sample_of_a_dask_collection(kind, monkeypatch):
    dask_array = pytest.importorskip("dask.array")
    monkeypatch.setattr("modeclust.reporting.sample.MAX_SAMPLE_ROWS", 100)
    X, _ = make_blobs(400, centers=3, random_state=0)
    array = dask_array.from_array(X, chunks=(100, 2))
    model = KModes(3, random_state=0).fit(array)
    if kind == "dask array":
        summary = report(model, array)
    else:
        frame = pl.DataFrame({"x": X[:, 0], "label": [f"L{k}" for k in np.asarray(model.labels_)]})
        summary = report(model, frame, X=array, row_names=[f"r{i}" for i in range(400)])
        assert typical(summary)["label"].tolist() == ["L0", "L1", "L2"]
    assert (summary["n_rows"], summary["is_sample"]) == (400, True)
    assert [card["rows"] for card in summary["cards"]] == model.counts_.tolist()
    assert any("a sample of 1" in note for note in summary["notes"])
    for card in summary["cards"]:
        for example in card["examples"]:
            value = example["values"].get("x", example["values"].get("feature 0"))
            assert value == X[example["row"], 0]
            if kind != "dask array":
                assert example["name"] == f"r{example['row']}"


def test_a_table_beside_images_is_no_image():
    X = np.random.default_rng(0).random((40, 2))
    table = pd.DataFrame({"a": np.arange(40.0) / 2, "b": list("pq") * 20})
    model = KModes(2, n_bandwidths=2, random_state=0).fit(X)
    summary = report(model, table, X=X, image_shape=(1, 2))
    assert summary["images"]["high"] == 1.0
    assert set(summary["cards"][0]["typical"]) == {"a", "b"}


@pytest.mark.parametrize("to_frame", [pd.DataFrame, pl.DataFrame])
def test_labels_of_a_table_with_every_kind_of_column(to_frame):
    """The table is prepared as `fit` does on the command line, and the page says so."""
    table = customers()
    labels = np.array(["a", "b", "c"])[customer_pipeline(table)[-1].labels_]
    gaps = table.astype(object).where(table.notna(), None)
    columns = {name: gaps[name].tolist() for name in table if name != "Since"}
    frame = to_frame({**columns, "own": labels})
    summary = report(labels, frame)
    preparation = TablePreparation().fit(frame[list(columns)])
    assert summary["method"]["details"][-1] == [
        "preparation",
        f"by TablePreparation: {'; '.join(preparation.describe())}",
    ]
    told = {column["name"]: column["clustered"] for column in summary["columns"]}
    assert {name for name in told if told[name]} == set(preparation.used_)
    assert not told["own"]
    found = cluster_modes(preparation.transform(frame[list(columns)]), labels)
    assert [card["rows_averaged"] for card in summary["cards"]] == pytest.approx(
        found.rows_averaged, abs=0.01
    )


def test_numbers_are_prepared_only_if_some_are_missing():
    labels = np.repeat([0, 1, 2], 50)
    details = report(labels, IRIS)["method"]["details"]
    assert "preparation" not in dict(details)
    details = report(labels, IRIS.assign(weight=np.r_[np.nan, np.arange(149.0)]))["method"]
    assert "numbers, scaled: sepal" in dict(details["details"])["preparation"]


@pytest.mark.parametrize(
    "other", [KMeans(3, random_state=0), HDBSCAN(min_cluster_size=10, copy=True)]
)
def test_other_estimators_with_labels(other):
    summary = report(other.fit(IRIS), IRIS)
    assert summary == report(other.labels_, IRIS)
    assert summary["method"]["class"] == "labels"
    assert report(make_pipeline(StandardScaler(), other).fit(IRIS), IRIS)["n_clusters"] > 1


def test_labels_may_be_whole_numbers_of_any_type():
    labels = np.repeat([0, 1, -1], 50)
    wanted = report(labels, IRIS)
    assert wanted["n_noise"] == 50
    for given in (labels.astype(float), pd.Series(labels, dtype="Int64"), labels.tolist()):
        assert report(given, IRIS) == wanted
