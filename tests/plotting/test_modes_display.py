import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from modeclust import KModes, LaplacianKModes, MeanShift
from modeclust.plotting import ModesDisplay

# Two clusters; their means are 1.5 and 11, and the classes of rows nearest to these are known.
LINE = np.array([[0.0], [1.0], [2.0], [3.0], [10.0], [11.0], [12.0]])
CLASSES = ["b", "a", "a", "b", "a", "c", "c"]


@pytest.fixture
def line_model():
    return cluster.KMeans(2, init=LINE[[0, 6]], n_init=1).fit(LINE)


@pytest.fixture
def images(rng):
    return rng.uniform(size=(60, 12))


def drawn(model, X, *args, **options):
    display = ModesDisplay.from_estimator(model, X, *args, **options)
    display.figure_.canvas.draw()
    return display


def test_classes_of_exemplars_by_hand(line_model):
    display = drawn(line_model, LINE, CLASSES, n_exemplars=2)
    assert display.classes.names == ("a", "b", "c")
    np.testing.assert_array_equal(display.classes.counts, [[2, 0, 0], [1, 0, 1]])
    heights = [[bar.get_height() for bar in ax.patches] for ax in display.axes_[:, -1]]
    np.testing.assert_array_equal(heights, display.classes.counts)
    assert display.axes_[0, -1].texts[0].get_text() == "2 of 2\nare a"
    ticks = [text.get_text() for text in display.axes_[-1, -1].get_xticklabels()]
    assert ticks == ["a", "b", "c"]


def test_exemplars_are_the_nearest_in_the_cluster(blobs):
    model = KModes(3, bandwidth=0.5, random_state=0).fit(blobs)
    for shown in drawn(model, blobs, n_exemplars=4).clusters:
        own = blobs[model.labels_ == shown.number]
        order = np.argsort(np.linalg.norm(own - model.cluster_centers_[shown.number], axis=1))
        np.testing.assert_array_equal(shown.exemplars, own[order[:4]])
        np.testing.assert_array_equal(shown.center, model.cluster_centers_[shown.number])
        assert shown.size == len(own)


def test_images_are_side_by_side(images):
    model = KModes(2, bandwidth=0.8, random_state=0).fit(images)
    display = drawn(model, images, image_shape=(3, 4), n_exemplars=5)
    assert display.axes_.shape == (2, 2)
    for (own, strip), shown in zip(display.axes_, display.clusters, strict=True):
        np.testing.assert_array_equal(own.images[0].get_array(), shown.center.reshape(3, 4))
        pixels = strip.images[0].get_array()
        for i, row in enumerate(shown.exemplars):
            np.testing.assert_array_equal(pixels[:, 5 * i : 5 * i + 4], row.reshape(3, 4))
        assert pixels[:, 4::5].mask.all()
        assert own.images[0].get_clim() == strip.images[0].get_clim()


@pytest.mark.parametrize("top", [1, 255, 1000])
def test_images_in_colour(images, top):
    model = KModes(2, bandwidth=0.8 * top, random_state=0).fit(images * top)
    display = drawn(model, images * top, image_shape=(2, 2, 3), n_exemplars=3)
    pixels = display.axes_[0, 1].images[0].get_array()
    first = display.clusters[0].exemplars[0].reshape(2, 2, 3)
    scale = {1: 1, 255: 255}.get(top) or max(c.rows.max() for c in display.clusters)
    np.testing.assert_allclose(pixels[:, :2], first / scale)


def test_a_small_cluster_shows_what_it_has(line_model):
    display = drawn(line_model, LINE, image_shape=(1, 1))
    assert [len(shown.exemplars) for shown in display.clusters] == [4, 3]


def test_profiles_hold_mode_and_exemplars(images):
    model = KModes(3, bandwidth=0.8, random_state=0).fit(images)
    display = drawn(model, images, n_exemplars=6)
    for ax, shown in zip(display.axes_[:, 0], display.clusters, strict=True):
        *thin, strong = [line.get_ydata() for line in ax.lines]
        np.testing.assert_array_equal(strong, shown.center)
        np.testing.assert_array_equal(thin, shown.exemplars)
    low, high = display.axes_[0, 0].get_ylim()
    assert all(low <= ax.lines[-1].get_ydata().min() for ax in display.axes_[:, 0])
    assert all(ax.lines[-1].get_ydata().max() <= high for ax in display.axes_[:, 0])


def test_named_features_are_dots_with_values(images):
    frame = pd.DataFrame(images, columns=[f"f{d}" for d in range(12)])
    model = KModes(3, bandwidth=0.8, random_state=0).fit(frame)
    display = drawn(model, frame, n_exemplars=6)
    assert display.kind == "features"
    for ax, shown in zip(display.axes_[:, 0], display.clusters, strict=True):
        *grey, mode = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) > 2]
        middle, spread = images.mean(axis=0), images.std(axis=0)
        np.testing.assert_allclose(mode, (shown.center - middle) / spread)
        np.testing.assert_allclose(grey, ((shown.exemplars - middle) / spread).T)
        assert [text.get_text() for text in ax.texts] == [f"{x:.3g}" for x in shown.center]
    names = [text.get_text() for text in display.axes_[0, 0].get_yticklabels()]
    assert names == list(frame.columns)


def test_a_pipeline_is_drawn_in_the_units_of_the_table(rng):
    frame = pd.DataFrame(
        {
            "income": np.r_[rng.normal(30e3, 2e3, 40), rng.normal(90e3, 5e3, 40)],
            "debt": rng.lognormal(5, 1, 80),
            "plan": rng.choice(["basic", "pro"], 80),
        }
    )
    frame.loc[3, "income"] = np.nan
    prepare = ColumnTransformer(
        [
            ("scaled", make_pipeline(SimpleImputer(), StandardScaler()), ["income"]),
            ("logs", FunctionTransformer(np.log, feature_names_out="one-to-one"), ["debt"]),
            ("plan", OneHotEncoder(), ["plan"]),
        ]
    )
    model = make_pipeline(prepare, KModes(2, random_state=0)).fit(frame)
    display = drawn(model, frame)
    assert display.kind == "features"
    modes, scaler = model[-1].modes_, model[0].named_transformers_["scaled"][-1]
    np.testing.assert_allclose(display.units[:, 0], modes[:, 0] * scaler.scale_ + scaler.mean_)
    np.testing.assert_allclose(display.units[:, 1], np.exp(modes[:, 1]), rtol=0.01)
    np.testing.assert_array_equal(display.units[:, 2:], modes[:, 2:])


def test_terms_are_the_largest_features(rng):
    X = sparse.random_array((60, 30), density=0.3, rng=rng, format="csr")
    names = [f"term {d}" for d in range(30)]
    model = KModes(4, n_bandwidths=3, random_state=0).fit(X)
    display = drawn(model, X, feature_names=names, n_terms=5)
    assert display.kind == "terms"
    for ax, shown in zip(display.axes_[:, 0], display.clusters, strict=True):
        largest = np.argsort(-shown.center)[:5]
        widths = [bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(widths, shown.center[largest])
        assert [t.get_text() for t in ax.get_yticklabels()] == [names[d] for d in largest]
        means = shown.rows[:, largest].mean(axis=0)
        np.testing.assert_allclose(ax.lines[0].get_xdata(), means)


def test_many_named_features_are_drawn_as_terms(rng):
    X = rng.normal(size=(40, 60))
    model = KModes(2, n_bandwidths=3, random_state=0).fit(X)
    assert drawn(model, X).kind == "profiles"
    assert drawn(model, X, feature_names=range(60)).kind == "terms"
    few = KModes(2, n_bandwidths=3, random_state=0).fit(X[:, :50])
    assert drawn(few, X[:, :50], feature_names=range(50)).kind == "features"


@pytest.mark.parametrize(
    ("bandwidth", "title"),
    [(None, "Modes at bandwidth 0.5"), (np.inf, "K-means centers")],
)
def test_the_bandwidth_chooses_the_modes(blobs, bandwidth, title):
    model = KModes(3, bandwidth=0.5, random_state=0).fit(blobs)
    display = drawn(model, blobs, bandwidth=bandwidth)
    assert display.title_.get_text() == title
    point = model.path_[-1 if bandwidth is None else 0]
    np.testing.assert_array_equal([c.center for c in display.clusters], point.centers)


def test_modes_of_soft_clusters(blobs):
    model = LaplacianKModes(3).fit(blobs)
    display = drawn(model, blobs, bandwidth=np.inf)
    assert display.title_.get_text() == "Linkage means"
    np.testing.assert_array_equal([c.center for c in display.clusters], model.path_.centers[0])
    assert [c.size for c in display.clusters] == model.path_.counts[0].tolist()
    display = drawn(model, blobs)
    assert display.title_.get_text().startswith("Modes that average ")
    np.testing.assert_array_equal([c.center for c in display.clusters], model.modes_)


def test_modes_with_their_own_bandwidths(blobs):
    model = KModes(3, rows_per_mode=20, random_state=0).fit(blobs)
    display = drawn(model, blobs)
    averaged = sorted({round(n) for n in model.rows_averaged_})
    words = f"{averaged[0]} to {averaged[-1]}" if len(averaged) > 1 else f"{averaged[0]}"
    assert display.title_.get_text() == f"Modes that average {words} rows"
    np.testing.assert_array_equal([c.center for c in display.clusters], model.modes_)
    assert [len(c.exemplars) for c in display.clusters] == [20, 20, 20]
    for k, shown in enumerate(display.clusters):
        np.testing.assert_array_equal(shown.exemplars[0], blobs[model.exemplar_indices_[k]])
    display = drawn(model, blobs, bandwidth=model.bandwidth_, image_shape=(1, 2))
    assert display.title_.get_text() == f"Modes at bandwidth {model.bandwidth_:.3g}"
    assert display.axes_[0, 0].get_title(loc="right") == "mode"
    np.testing.assert_array_equal([c.center for c in display.clusters], model.cluster_centers_)


def test_modes_that_are_means_are_called_modes(blobs):
    model = KModes(3, rows_per_mode=np.inf, reassign=False, random_state=0).fit(blobs)
    display = drawn(model, blobs, image_shape=(1, 2), clusters=[1])
    assert display.title_.get_text() == "Modes that average 60 rows (1 of 3 clusters)"
    assert display.axes_[0, 0].get_title(loc="right") == "mode"


@pytest.mark.parametrize(
    "model",
    [
        MeanShift(bandwidth=1.0),
        cluster.KMeans(3, n_init=1),
        cluster.MiniBatchKMeans(3, n_init=1),
        cluster.MeanShift(bandwidth=2.0, cluster_all=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_clusterers(blobs, model):
    display = drawn(model.fit(blobs), blobs)
    assert len(display.clusters) == len(model.cluster_centers_)
    with pytest.raises(ValueError, match="path_"):
        ModesDisplay.from_estimator(model, blobs, bandwidth=1.0)


def test_many_clusters_are_the_first_twenty(rng):
    X = rng.uniform(size=(200, 4))
    model = KModes(100, n_bandwidths=2, n_init=1, random_state=0).fit(X)
    display = drawn(model, X, image_shape=(2, 2))
    assert [shown.number for shown in display.clusters] == list(range(20))
    assert display.title_.get_text().endswith("(the first 20 of 100 clusters)")
    assert display.figure_.get_figheight() < 16
    display = drawn(model, X, clusters=[70, 3])
    assert [shown.number for shown in display.clusters] == [70, 3]
    assert display.title_.get_text().endswith("(2 of 100 clusters)")


@pytest.mark.parametrize("options", [{}, {"image_shape": (1, 2)}, {"feature_names": ["a", "b"]}])
@pytest.mark.parametrize("convert", [np.asarray, np.float32, sparse.csr_array])
def test_an_empty_cluster(blobs, emptied, options, convert):
    X = convert(blobs)
    display = drawn(emptied(X), X, [0] * 180, **options)
    assert [shown.size for shown in display.clusters] == [120, 60, 0]
    np.testing.assert_array_equal(display.classes.counts, [[20], [20], [0]])
    alone = drawn(emptied(X), X, clusters=[2], **options)
    assert [shown.size for shown in alone.clusters] == [0]


@pytest.mark.parametrize("options", [{}, {"image_shape": (1, 2)}])
def test_constant_rows(options):
    X = np.full((8, 2), 3.0)
    display = drawn(KModes(1).fit(X), X, **options)
    np.testing.assert_array_equal(display.clusters[0].exemplars, X)


def test_hostile_names_and_classes(blobs):
    names = ["$x^$", "a\nb" * 100]
    y = np.array(["$\\frac{", "c" * 200, "new\nline"])[np.arange(len(blobs)) % 3]
    model = KModes(1, bandwidth=0.5, random_state=0).fit(blobs)
    display = drawn(model, blobs, y, feature_names=names)
    ticks = [text.get_text() for text in display.axes_[0, 0].get_yticklabels()]
    assert ticks[0] == r"\$x^\$"
    assert max(len(tick) for tick in ticks) <= 24


@pytest.mark.parametrize("n_classes", [1, 2, 40])
def test_few_and_many_classes(blobs, n_classes):
    model = KModes(2, bandwidth=0.5, random_state=0).fit(blobs)
    display = drawn(model, blobs, np.arange(len(blobs)) % n_classes)
    assert display.classes.counts.shape == (2, n_classes)


def test_the_axes_given_are_divided(blobs):
    figure, axes = plt.subplots(1, 2, layout="constrained")
    model = KModes(2, bandwidth=0.5, random_state=0).fit(blobs)
    display = ModesDisplay.from_estimator(model, blobs, ax=axes[1])
    figure.canvas.draw()
    assert display.figure_ is figure
    assert all(ax.get_position().x0 > 0.5 for ax in display.axes_.ravel())
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [0, 1]}, "one class for each of the 7 rows of X, got 2"),
        ({"y": np.linspace(0, 1, 7)}, "y must be classes"),
        ({"y": [np.nan] * 7}, "7 are missing"),
        ({"image_shape": (2, 3)}, r"hold the 1 features, got \(2, 3\), which holds 6"),
        ({"image_shape": (1,)}, "height, width"),
        ({"image_shape": (1, 1, 4)}, "height, width"),
        ({"n_exemplars": 0}, "n_exemplars must be an integer > 0"),
        ({"n_terms": 1.5}, "n_terms must be an integer > 0"),
        ({"clusters": [2]}, "integers from 0 to 1"),
        ({"clusters": []}, "integers from 0 to 1"),
        ({"feature_names": ["a", "b"]}, "one name for each of the 1 features, got 2"),
        ({"feature_names": "a"}, "feature_names must be a list of names"),
    ],
)
def test_wrong_options_are_refused_before_drawing(line_model, options, message):
    with pytest.raises(ValueError, match=message):
        ModesDisplay.from_estimator(line_model, LINE, **options)
    assert plt.get_fignums() == []


def test_wrong_models_and_data_are_refused(line_model):
    with pytest.raises(NotFittedError):
        ModesDisplay.from_estimator(KModes(), LINE)
    with pytest.raises(ValueError, match="fitted on, 7 rows, got 6"):
        ModesDisplay.from_estimator(line_model, LINE[1:])
    with pytest.raises(ValueError, match="X has 2 features"):
        ModesDisplay.from_estimator(line_model, np.zeros((7, 2)))
    with pytest.raises(ValueError, match="DBSCAN has not; pass"):
        ModesDisplay.from_estimator(cluster.DBSCAN().fit(LINE), LINE)
