"""Pictures and pages tell of a model what it is."""

import json
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from hypothesis import strategies as st
from same import assert_same

from modeclust.plotting import PathDisplay
from properties.checking import distances_to, is_refused, outcome
from properties.drawing import (
    KMODES,
    LAPLACIAN,
    MEAN_SHIFT,
    MODEL,
    ROWS,
    SCALE,
    SIZEABLE_WEIGHT,
    WEIGHT,
    OfRows,
    data,
    holds_for,
    of_rows,
    sizeable,
)
from properties.fits import soft_refusal
from properties.ways import refused

# What the fonts of matplotlib have, and signs that it or a page could read as its own.
LETTERS = st.characters(codec="latin-1", exclude_categories=["Cc"])
WORDS = st.text(st.one_of(LETTERS, st.sampled_from("$\\_^{}%#&<>\"'\n\t\0")), max_size=30)
ANYTHING = st.one_of(WORDS, st.text(max_size=20), st.just("</script><script>alert(1)</script>"))


def names_of(words):
    """Return what draws names for the features, or None for those that the model knows."""
    return st.one_of(
        st.none(),
        st.lists(words, min_size=5, max_size=5).map(
            lambda names: OfRows(repr(names), lambda rows, _: names[: rows.dense.shape[1]])
        ),
    )


def one_of_each_row(words):
    """Return what draws a class, a name or a text for each row, or None."""
    return st.one_of(
        st.none(),
        st.lists(words, min_size=1, max_size=4).map(
            lambda names: OfRows(
                repr(names), lambda rows, _: (names * len(rows.dense))[: len(rows.dense)]
            )
        ),
    )


def _image(rows, _):
    n_features = rows.dense.shape[1]
    return (1, n_features // 3, 3) if n_features % 3 == 0 else (n_features, 1)


IMAGE = st.sampled_from([None, OfRows("all features", _image)])
PLACE = st.sampled_from([None, OfRows("a part", lambda *_: plt.subplots(1, 2)[1][0])])
ON_THE_PATH = st.one_of(
    st.none(),
    st.integers(0, 4).map(
        lambda i: OfRows(f"that of point {i}", lambda rows, _: bandwidth_at(rows.model, i))
    ),
)


def bandwidth_at(model, i):
    return float(model.path_.bandwidths[i % len(model.path_)]) if hasattr(model, "path_") else None


def step_of(model, bandwidth):
    """Return the place on the path of what is drawn at a bandwidth."""
    if bandwidth is None:
        return len(model.path_) - 1
    return int(np.flatnonzero(model.path_.bandwidths == bandwidth)[0])


def draw(display):
    """Draw a picture for good: much of it is only made then."""
    display.figure_.canvas.draw()


PLOT_PATH = {
    "levels": st.lists(st.floats(0, 1), min_size=1, max_size=5),
    "bins": st.sampled_from(["auto", 5, "sturges"]),
    "legend": st.booleans(),
}


@holds_for(
    {
        "KModes": {**KMODES, "adaptive": st.just(False)},
        "PathDisplay.from_estimator": {
            "estimator": MODEL,
            "X": ROWS,
            "bandwidth": ON_THE_PATH,
            "feature_names": names_of(WORDS),
            "sample_weight": WEIGHT,
            "sample_scale": SCALE,
            "ax": PLACE,
            "kwargs": st.fixed_dictionaries(PLOT_PATH),
        },
        "PathDisplay.plot": {"ax": PLACE, **PLOT_PATH},
    },
    data(n_features=3),
    quick=10,
    thorough=100,
)
def pictures_of_a_path_show_the_path(ask, rows):
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    model = ask("KModes", rows)
    if refused(outcome(model.fit, rows.X, **told), model, rows):
        return
    rows = rows._replace(model=model)
    display = ask("PathDisplay.from_estimator", rows)
    step = step_of(model, ask.arguments("PathDisplay.from_estimator", rows)["bandwidth"])
    path = model.path_
    np.testing.assert_array_equal(display.bandwidths, path.bandwidths[: step + 1])
    if step == len(path) - 1:
        np.testing.assert_array_equal(display.labels, model.labels_)
    if rows.dense.shape[1] <= 2:
        np.testing.assert_array_equal(display.paths, path.centers[: step + 1])
        shown = rows.by(model.metric)
        np.testing.assert_allclose(
            display.points, shown.dense, rtol=0, atol=shown.on_sphere * shown.eps
        )
    else:
        assert display.paths.shape == (step + 1, model.n_clusters, 2)
    if display.densities is not None:
        assert np.isfinite(display.densities).all()
        assert np.min(display.densities) >= 0
    draw(display)
    again = ask("PathDisplay.plot", rows, display)
    assert isinstance(again, PathDisplay)
    draw(again)


@holds_for(
    {
        "KModes": KMODES,
        "MeanShift": MEAN_SHIFT,
        "LaplacianKModes": {**LAPLACIAN, "store_labels": st.just("auto")},
        "ModesDisplay.from_estimator": {
            "estimator": MODEL,
            "X": ROWS,
            "y": one_of_each_row(WORDS),
            "bandwidth": ON_THE_PATH,
            "n_exemplars": st.integers(1, 20),
            "image_shape": IMAGE,
            "feature_names": names_of(WORDS),
            "n_terms": st.integers(1, 10),
            "clusters": st.sampled_from([None, [0], OfRows("last", lambda rows, _: [last(rows)])]),
            "sample_weight": WEIGHT,
            "ax": PLACE,
            "kwargs": st.fixed_dictionaries({"cmap": st.sampled_from(["gray_r", "viridis"])}),
        },
        "ModesDisplay.plot": {"ax": PLACE, "cmap": st.sampled_from(["gray_r", "magma"])},
    },
    data(scales=False),
    st.sampled_from(["KModes", "LaplacianKModes", "MeanShift"]),
    quick=10,
    thorough=100,
)
def pictures_of_modes_show_the_modes(ask, rows, which):
    model = ask(which, rows)
    if refused(outcome(model.fit, rows.X, sample_weight=sizeable(rows.weight)), model, rows):
        return
    rows = rows._replace(model=model)
    given = ask.arguments("ModesDisplay.from_estimator", rows)
    display = ask("ModesDisplay.from_estimator", rows)
    centers, counts = model.cluster_centers_, model.counts_
    if given["bandwidth"] is not None:
        point = model.path_[step_of(model, given["bandwidth"])]
        centers, counts = point.centers, point.counts
    shown = given["clusters"] or range(min(len(centers), 20))
    assert [cluster.number for cluster in display.clusters] == list(shown)
    seen = rows.by(model.metric)
    away = distances_to(centers, seen)
    for cluster in display.clusters:
        np.testing.assert_array_equal(cluster.center, centers[cluster.number].astype(float))
        assert cluster.size == counts[cluster.number]
        assert len(cluster.rows) <= min(given["n_exemplars"], cluster.size)
        if len(cluster.rows):
            nearest = np.linalg.norm(cluster.rows - cluster.center, axis=1)
            assert np.all(np.diff(nearest) >= -16 * seen.rounding - 1e-6 * nearest.max())
            slack = 16 * seen.rounding + 1e-6 * away.max()
            assert nearest.min() >= away[:, cluster.number].min() - slack
    if given["y"] is not None:
        n_counted = display.classes.counts.sum(axis=1)
        assert n_counted.tolist() == [len(cluster.rows) for cluster in display.clusters]
    draw(display)
    draw(ask("ModesDisplay.plot", rows, display))


def last(rows):
    return len(rows.model.cluster_centers_) - 1


@holds_for(
    {
        "KModes": KMODES,
        "ScheduleDisplay.from_estimator": {"estimator": MODEL, "ax": PLACE},
        "ScheduleDisplay.from_path": {
            "path": of_rows("its path", lambda rows, _: rows.model.path_),
            "ax": PLACE,
        },
        "ScheduleDisplay.plot": {"ax": PLACE},
    },
    data(),
    quick=6,
    thorough=100,
)
def pictures_of_a_schedule_show_the_schedule(ask, rows):
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    model = ask("KModes", rows)
    if refused(outcome(model.fit, rows.X, **told), model, rows):
        return
    rows = rows._replace(model=model)
    display = ask("ScheduleDisplay.from_estimator", rows)
    path = model.path_
    assert_same(vars(ask("ScheduleDisplay.from_path", rows))["counts"], display.counts)
    np.testing.assert_array_equal(display.bandwidths, path.bandwidths)
    np.testing.assert_array_equal(display.objective_line_.get_ydata(), path.objectives)
    for line, sizes in zip(display.size_lines_, path.counts.T, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), sizes)
    for line, averaged in zip(display.averaged_lines_, path.rows_averaged.T, strict=True):
        np.testing.assert_array_equal(np.nan_to_num(line.get_ydata()), averaged)
    if path.labels is None:
        assert display.changed is None
    else:
        changed = [np.mean(one != other) for one, other in pairwise(path.labels)]
        np.testing.assert_allclose(display.changed, changed)
    draw(display)
    draw(ask("ScheduleDisplay.plot", rows, display))


class Page(HTMLParser):
    """The tags of a page, its title, and the numbers within."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.title, self.numbers = [], "", ""
        self._inside = (None, None)
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self._inside = tag, dict(attrs).get("id")
        self.tags.append((tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag):
        self._inside = (None, None)

    def handle_data(self, data):
        if self._inside == ("script", "report"):
            self.numbers += data
        elif self._inside[0] == "title":
            self.title += data


TAGS = {}  # of the first page, which those of all others must be
REPORT = {
    "X": ROWS,
    "y": one_of_each_row(ANYTHING),
    "path": st.sampled_from([None, "report.html", Path("report.json")]),
    "image_shape": IMAGE,
    "feature_names": names_of(ANYTHING),
    "title": st.one_of(st.none(), ANYTHING),
    "notes": st.lists(ANYTHING, max_size=2),
    "row_names": one_of_each_row(ANYTHING),
    "texts": one_of_each_row(ANYTHING),
    "stability": st.just(0),
    "overwrite": st.just(True),
    "sample_weight": WEIGHT,
    "sample_scale": SCALE,
}


@holds_for(
    {
        "KModes": KMODES,
        "LaplacianKModes": {**LAPLACIAN, "store_labels": st.just("auto")},
        "KModes.report": REPORT,
        "LaplacianKModes.report": {
            **REPORT,
            "sample_weight": SIZEABLE_WEIGHT,
            "sample_scale": st.none(),
        },
        "Report.to_html": {},
        "Report.to_json": {},
        "Report.save": {"path": st.sampled_from(["page.HTM", "page.html", "page.json"])},
    },
    data(),
    st.sampled_from(["KModes", "LaplacianKModes"]),
    quick=10,
    thorough=150,
)
def a_report_tells_what_the_model_is(ask, rows, which):
    model = ask(which, rows)
    if which == "KModes":
        told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
        if refused(outcome(model.fit, rows.X, **told), model, rows):
            return
    else:
        fitted = outcome(model.fit, rows.X, sample_weight=sizeable(rows.weight))
        if is_refused(fitted, soft_refusal(model, rows)):
            return
    method = f"{which}.report"
    report, given = ask(method, rows, model), ask.arguments(method, rows)
    check_summary(report.summary, model, rows, given)
    assert json.loads(ask("Report.to_json", rows, report)) == json.loads(json.dumps(report.summary))
    check_page(ask("Report.to_html", rows, report), report.summary)
    ask("Report.save", rows, report)
    for name in (given["path"], ask.arguments("Report.save", rows)["path"]):
        if name is not None:
            written = Path(name).read_bytes().decode()
            text = report.to_json() if Path(name).suffix == ".json" else report.to_html()
            assert written == text


@holds_for(
    {
        "KModes": KMODES,
        "report": {
            "clustering": st.just(None),
            "data": st.just(None),
            "X": ROWS,
            **{name: REPORT[name] for name in REPORT if name not in ("X", "sample_scale")},
            "sample_scale": SCALE,
        },
    },
    data(),
    quick=10,
    thorough=150,
)
def a_report_of_other_columns_tells_what_is_in_them(ask, rows):
    model = ask("KModes", rows)
    told = {"sample_weight": rows.weight, "sample_scale": rows.scale}
    if refused(outcome(model.fit, rows.X, **told), model, rows):
        return
    given = ask.arguments("report", rows)
    n_rows = len(rows.dense)
    group = (["a", "b"] * n_rows)[:n_rows]
    table = pl.DataFrame({"place": np.arange(n_rows) * 2.0, "group": group})
    report = ask("report", rows, clustering=model, data=table)
    check_summary(report.summary, model, rows, given)


def check_summary(summary, model, rows, given):
    """Assert that a summary has the numbers of the model, and what users call things."""
    path = model.path_
    assert summary["n_rows"] == len(rows.dense)
    assert [card["rows"] for card in summary["cards"]] == model.counts_.tolist()
    finite = [None if np.isinf(h) else h for h in path.bandwidths]
    assert [step["bandwidth"] for step in summary["steps"]] == finite
    assert [step["counts"] for step in summary["steps"]] == path.counts.tolist()
    is_whole = getattr(model, "smoothing_", 0) == 0 or path.stage == 1
    expected = np.where(is_whole, path.objectives, None)
    assert [step["objective"] for step in summary["steps"]] == expected.tolist()
    labels = np.array(summary["labels"]["first"])
    for changed, after in summary["labels"]["changes"]:
        labels[changed] = after
    np.testing.assert_array_equal(labels, model.labels_)
    for card in summary["cards"]:
        for example in card["examples"]:
            assert labels[example["row"]] == card["cluster"]
            if given["texts"] is not None:
                assert example["text"] == (given["texts"][example["row"]] or None)
    if given["y"] is not None:
        assert summary["class_names"] == np.unique(given["y"]).tolist()


def check_page(text, summary):
    """Assert that nothing of what users call things is read as a part of the page."""
    page = Page(text)
    assert page.tags == TAGS.setdefault("all", page.tags)
    assert len(page.tags) < 300
    numbers = json.loads(page.numbers)
    for name in ("title", "notes", "columns", "class_names", "cards", "steps"):
        assert numbers[name] == json.loads(json.dumps(summary[name]))
    as_read = summary["title"].replace("\r\n", "\n").replace("\r", "\n")
    assert page.title.replace("\r\n", "\n").replace("\r", "\n") == as_read
