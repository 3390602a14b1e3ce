"""The metric "cosine": rows, centers and modes of length 1."""

import warnings

import numpy as np
import pytest
import reference
from chunks import in_chunks
from same import assert_same
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from modeclust import (
    KModes,
    LaplacianKModes,
    MeanShift,
    cluster_modes,
    estimate_bandwidth,
    kmodes_path,
    load,
    modes_by_bandwidth,
)
from modeclust.estimators.fit_path import BandwidthMixin
from modeclust.exceptions import CenterLengthWarning
from modeclust.kernels import KERNELS


def cones(n_rows=300, n_features=6, n_clusters=4, spread=0.2, seed=0):
    """Return rows of any length around a few axes, and the cluster of each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_clusters, size=n_rows)
    middles = np.eye(n_features)
    X = middles[y] + spread * rng.normal(size=(n_rows, n_features))
    return X * rng.lognormal(0, 3, size=(n_rows, 1)), y


X, Y = cones()
UNIT = reference.to_sphere(X)
COSINES = {
    "auto": KModes(4, metric="cosine", random_state=0),
    "number": KModes(4, bandwidth=0.3, metric="cosine", random_state=0),
    "rule": KModes(4, bandwidth="knn", adaptive=True, metric="cosine", random_state=0),
    "K-means": KModes(4, bandwidth=np.inf, metric="cosine", random_state=0),
    "frozen": KModes(4, reassign=False, metric="cosine", random_state=0),
}


def lengths(points):
    return np.linalg.norm(np.asarray(points, dtype=float), axis=-1)


# By hand.


def test_mode_of_two_rows_is_the_direction_between_them():
    rows = np.array([[3.0, 0.0], [0.0, 0.1]])
    model = KModes(1, bandwidth=1.0, metric="cosine").fit(rows)
    np.testing.assert_allclose(model.modes_, [[0.5**0.5, 0.5**0.5]], rtol=1e-15)
    # |x - c|^2 = 2 (1 - cos 45 degrees)
    squared = 2 - 2**0.5
    np.testing.assert_allclose(model.transform(rows) ** 2, [[squared], [squared]], rtol=1e-14)
    assert model.inertia_ == pytest.approx(2 * squared)
    assert model.objective_ == pytest.approx(np.exp(-squared / 2))


def test_a_longer_row_counts_as_much():
    rows = np.array([[1.0, 0.0], [0.0, 1000.0], [0.0, 1e-5]])
    mean = KModes(1, bandwidth=np.inf, metric="cosine").fit(rows).cluster_centers_[0]
    np.testing.assert_allclose(mean, np.array([1.0, 2.0]) / 5**0.5, rtol=1e-14)


def test_opposite_rows_leave_the_center_where_it_is():
    rows = np.array([[2.0, 0.0], [-5.0, 0.0]])
    start = np.array([[0.0, 3.0]])
    model = KModes(1, bandwidth=1.0, init=start, metric="cosine").fit(rows)
    np.testing.assert_array_equal(model.modes_, [[0.0, 1.0]])
    np.testing.assert_allclose(model.transform(rows), 2**0.5)
    found = cluster_modes(rows, [7, 7], metric="cosine")  # from its first row
    np.testing.assert_array_equal(found.modes, [[1.0, 0.0]])
    # It is a saddle, from which mean-shift is nudged to one of the rows.
    shifted = MeanShift(1.0, metric="cosine", seeds=start).fit(rows)
    np.testing.assert_allclose(np.abs(shifted.cluster_centers_), [[1.0, 0.0]], atol=1e-9)


def test_one_feature_has_two_directions():
    rows = np.array([[1.0], [49.0], [-0.3], [-7.0], [-1e-9]])
    model = KModes(2, metric="cosine", random_state=0).fit(rows)
    np.testing.assert_allclose(np.sort(model.modes_.ravel()), [-1.0, 1.0], rtol=1e-15)
    assert len(set(model.labels_[:2])) == len(set(model.labels_[2:])) == 1


@pytest.mark.parametrize("size", [1e-200, 1e-305, 1e200, 1e305])
def test_rows_of_extreme_length(size):
    plain = KModes(4, metric="cosine", random_state=0).fit(UNIT)
    extreme = KModes(4, metric="cosine", random_state=0).fit(UNIT * size)
    np.testing.assert_array_equal(extreme.labels_, plain.labels_)
    np.testing.assert_allclose(extreme.modes_, plain.modes_, atol=1e-9)
    mixed = UNIT * np.where(np.arange(len(UNIT)) % 2, size, 1.0)[:, None]
    np.testing.assert_array_equal(plain.predict(mixed), plain.labels_)


def test_single_precision_rows_of_extreme_length():
    tiny = (UNIT * 1e-30).astype(np.float32)
    plain = KModes(4, metric="cosine", random_state=0).fit(UNIT)
    model = KModes(4, metric="cosine", random_state=0).fit(tiny)
    assert model.modes_.dtype == np.float32
    np.testing.assert_allclose(model.modes_, plain.modes_, atol=1e-4)


# Against the reference.


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("bandwidth", [0.5, 1.0])
def test_modes_are_those_of_the_reference(kernel, bandwidth):
    rng = np.random.default_rng(1)
    weight, scale = rng.uniform(0, 2, size=len(X)), rng.uniform(0.8, 1.2, size=len(X))
    start = UNIT[:4]
    path = kmodes_path(
        X, 4, bandwidths=[bandwidth], kernel=kernel, metric="cosine", init=2.5 * start,
        tol=1e-9, sample_weight=weight, sample_scale=scale,
    )  # fmt: skip
    options = {"kernel": kernel, "weight": weight, "scale": scale}
    expected = reference.spherical_kmodes(UNIT, start, bandwidth, 2000, **options)
    np.testing.assert_allclose(path[-1].centers, expected, atol=1e-6)
    value = reference.objective(UNIT, expected, bandwidth, **options)
    assert path[-1].objective == pytest.approx(value, rel=1e-9)


def test_infinite_bandwidth_is_spherical_kmeans():
    start = UNIT[[3, 5, 8, 13]]
    path = kmodes_path(X, 4, bandwidths=[np.inf], metric="cosine", init=start, tol=0)
    expected = reference.spherical_kmodes(UNIT, start, 1e9, 300)
    np.testing.assert_allclose(path[0].centers, expected, atol=1e-9)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_the_objective_never_falls(kernel):
    # Close to 90 degrees apart, where a mean is much shorter than 1, and with lengthened steps.
    rows = cones(200, 5, 2, spread=0.8, seed=3)[0]
    options = {"kernel": kernel, "metric": "cosine", "init": rows[:3], "tol": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        objectives = [
            kmodes_path(rows, 3, bandwidths=[0.8], max_iter=n, **options)[0].objective
            for n in range(1, 40)
        ]
    assert np.all(np.diff(objectives) >= -1e-14)
    assert objectives[-1] > objectives[0]


@pytest.mark.parametrize("seeds", ["all", "bin", 50])
def test_mean_shift_ends_where_plain_steps_end(seeds):
    model = MeanShift(0.5, metric="cosine", seeds=seeds, random_state=0).fit(X)
    points = model.cluster_centers_
    moved = reference.to_sphere(reference.shift(UNIT, points, 0.5))
    np.testing.assert_allclose(moved, points, atol=1e-4)
    np.testing.assert_allclose(
        model.density_, reference.weighted_density(UNIT, points, 0.5), rtol=1e-6
    )
    assert adjusted_rand_score(Y, model.labels_) > 0.95


# What holds for all.


@pytest.mark.parametrize("name", COSINES)
def test_lengths_are_1_and_labels_are_those_of_predict(name):
    model = clone(COSINES[name]).fit(X)
    for points in (model.modes_, model.cluster_centers_, model.path_.centers):
        np.testing.assert_allclose(lengths(points), 1, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(UNIT), model.labels_)
    np.testing.assert_allclose(
        model.transform(X) ** 2 / 2, 1 - UNIT @ model.cluster_centers_.T, atol=1e-14
    )
    assert adjusted_rand_score(Y, model.labels_) > 0.95


@pytest.mark.parametrize("name", COSINES)
def test_every_form_of_the_rows_agrees(name, tmp_path):
    model = clone(COSINES[name]).fit(X)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert_same(clone(model).fit(mapped).modes_, model.modes_)
    forms = {"CSR": sparse.csr_array(X), "reversed": X.astype(">f8"), "single": X.astype("f4")}
    for form, rows in forms.items():
        other = clone(model).fit(rows)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        atol = 1e-4 if form == "single" else 1e-12
        np.testing.assert_allclose(other.modes_, model.modes_, atol=atol)
        np.testing.assert_array_equal(other.predict(rows), other.labels_)
    for rows in (in_chunks(X, 70), in_chunks(sparse.csr_array(X), 70)):
        other = clone(model).fit(rows)
        np.testing.assert_array_equal(other.labels_.compute(), model.labels_)
        np.testing.assert_allclose(other.modes_, model.modes_, atol=1e-12)
        np.testing.assert_allclose(other.transform(rows).compute(), model.transform(X), atol=1e-12)


@pytest.mark.parametrize("rows", [UNIT, sparse.csr_array(UNIT)], ids=["dense", "CSR"])
def test_rows_of_length_1_are_as_in_the_euclidean_fit(rows):
    """With frozen labels and one cluster, the modes have the same directions."""
    spherical = cluster_modes(rows, Y, bandwidth=0.2, metric="cosine").modes
    plain = cluster_modes(rows, Y, bandwidth=0.2).modes
    assert np.all(np.sum(spherical * reference.to_sphere(plain), axis=1) > 0.995)


def test_a_saved_model_predicts_the_same(tmp_path):
    for model in (*COSINES.values(), MeanShift(0.5, metric="cosine"), LaplacianKModes(4)):
        model = clone(model).set_params(metric="cosine").fit(X)
        model.save(tmp_path / "model.npz")
        np.testing.assert_array_equal(load(tmp_path / "model.npz").predict(X), model.predict(X))


def test_batches_converge_to_the_fit():
    rows, _ = cones(4000, spread=0.3, seed=2)
    whole = KModes(4, bandwidth=0.5, metric="cosine", random_state=0).fit(rows)
    batches = KModes(4, bandwidth=0.5, metric="cosine", random_state=0)
    for part in np.split(rows, 20):
        batches.partial_fit(part)
        np.testing.assert_allclose(lengths(batches.modes_), 1, atol=1e-14)
    order = np.argmin(whole.transform(batches.cluster_centers_), axis=1)
    assert sorted(order) == [0, 1, 2, 3]
    away = lengths(batches.cluster_centers_ - whole.cluster_centers_[order])
    assert away.max() < 0.05 * 0.5


def test_batches_of_the_default_keep_modes_on_the_sphere():
    model = KModes(4, metric="cosine", random_state=0)
    for part in np.split(X, 3):
        model.partial_fit(part)
    np.testing.assert_allclose(lengths(model.modes_), 1, atol=1e-14)
    assert adjusted_rand_score(Y, model.predict(X)) > 0.95


def test_sums_of_batches_keep_their_length():
    """The statistics of a batch have the weighted means, which are shorter than 1."""
    model = KModes(1, bandwidth=np.inf, metric="cosine")
    first, second = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 5.0], [0.0, 2.0]])
    model.partial_fit(first).partial_fit(second)
    # (1, 1) counts (2 / 4)^2 of what it did, (0, 2) in full.
    expected = np.array([0.25, 2.25])
    np.testing.assert_allclose(
        model.cluster_centers_[0], expected / np.linalg.norm(expected), rtol=1e-12
    )


def test_two_halves_of_a_cone_are_redundant():
    rows, y = cones(900, 3, 3, spread=0.15, seed=4)
    model = KModes(4, metric="cosine", random_state=0).fit(rows)
    merged = model.merge_redundant(rows)
    assert len(merged.modes_) == 3
    assert adjusted_rand_score(y, merged.labels_) > 0.95
    np.testing.assert_allclose(lengths(merged.modes_), 1, atol=1e-14)


def test_the_dip_is_measured_on_the_sphere():
    """Halfway between two directions, the density is that on the arc, not on the chord."""
    rng = np.random.default_rng(5)
    angles = np.concatenate([rng.normal(0, 0.1, 100), rng.normal(np.pi / 2, 0.1, 100)])
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    model = KModes(2, bandwidth=0.5, metric="cosine", random_state=0).fit(rows)
    first, second = np.sort(np.arctan2(*model.modes_.T[::-1]))
    arc = np.linspace(first, second, 2001)
    points = np.column_stack([np.cos(arc), np.sin(arc)])
    density = reference.density(rows, points, 0.5)
    expected = density.min() / min(density[0], density[-1])
    assert model.redundancy_.toarray()[0, 1] == pytest.approx(expected, rel=0.02)


def test_stability_is_that_of_the_directions():
    found = KModes(4, metric="cosine", random_state=0).fit(X).stability(X, n_resamples=3)
    assert found.jaccard.min() > 0.9
    unit = KModes(4, metric="cosine", random_state=0).fit(UNIT).stability(UNIT, n_resamples=3)
    np.testing.assert_allclose(unit.jaccard, found.jaccard, atol=1e-9)


def test_bandwidths_are_those_of_unit_rows():
    for rule in ("knn", "scott", "silverman", "likelihood"):
        found = estimate_bandwidth(X, rule, metric="cosine")
        assert found == pytest.approx(estimate_bandwidth(UNIT, rule, metric="cosine"), rel=1e-9)
        assert 0 < found <= 2
    knn = reference.knn_bandwidth(UNIT)
    assert estimate_bandwidth(X, metric="cosine") == pytest.approx(knn, rel=1e-9)
    assert estimate_bandwidth(sparse.csr_array(X), metric="cosine") == pytest.approx(knn, rel=1e-7)


def test_trees_of_modes_are_on_the_sphere():
    tree = modes_by_bandwidth(X, [0.05, 0.3, 0.6], metric="cosine")
    assert tree.n_modes[-1] <= 4 < tree.n_modes[0]
    for level in tree:
        np.testing.assert_allclose(lengths(level.modes), 1, atol=1e-14)


@pytest.mark.parametrize("init", ["linkage", "k-means++"])
@pytest.mark.parametrize("solver", ["bound", "gradient"])
def test_laplacian_kmodes(init, solver):
    model = LaplacianKModes(4, metric="cosine", init=init, solver=solver, random_state=0).fit(X)
    for points in (model.modes_, model.cluster_centers_):
        np.testing.assert_allclose(lengths(points), 1, atol=1e-14)
    assert adjusted_rand_score(Y, model.labels_) > 0.95
    assert np.all(np.diff(model.objective_history_) >= -1e-9 * np.abs(model.objective_history_[0]))
    assert np.mean(model.predict(5 * X) == model.labels_) > 0.99
    other = clone(model).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(other.labels_, model.labels_)


def test_a_checkpoint_of_another_metric_is_refused(tmp_path):
    file = tmp_path / "fit.checkpoint"
    KModes(4, checkpoint=file, keep_checkpoint=True, random_state=0).fit(UNIT)
    with pytest.raises(ValueError, match="metric"):
        KModes(4, metric="cosine", checkpoint=file, random_state=0).fit(UNIT)


def test_rows_are_not_copied(monkeypatch):
    opened = []
    original = BandwidthMixin._plan_path

    def spied(self, progress, rng):
        opened.append(progress.problem.dataset)
        original(self, progress, rng)

    monkeypatch.setattr(BandwidthMixin, "_plan_path", spied)
    KModes(4, metric="cosine", random_state=0).fit(X)
    assert opened[0].X.X is X
    assert opened[0].rows.unit_length


# Bad input.


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda rows: in_chunks(rows, 50)])
def test_rows_of_zeros_are_named(form):
    rows = X.copy()
    rows[[7, 120]] = 0
    for call in (KModes(4, metric="cosine").fit, clone(COSINES["auto"]).fit(X).score):
        with pytest.raises(ValueError, match=r"rows that are not all zeros.*: 7, 120; leave"):
            call(form(rows))
    rows[:20] = 0
    with pytest.raises(ValueError, match=r": 0, 1, 2, 3, 4 and 16 others; leave them out"):
        KModes(4, metric="cosine").fit(form(rows))


def test_everything_names_rows_of_zeros():
    rows = X.copy()
    rows[7] = 0
    for call in (
        MeanShift(1.0, metric="cosine").fit,
        LaplacianKModes(4, metric="cosine").fit,
        lambda rows: estimate_bandwidth(rows, metric="cosine"),
        lambda rows: cluster_modes(rows, Y, metric="cosine"),
        lambda rows: kmodes_path(rows, 4, bandwidths=[1.0], metric="cosine"),
        lambda rows: modes_by_bandwidth(rows, [1.0], metric="cosine"),
        clone(COSINES["number"]).fit(X).score,
        clone(COSINES["number"]).fit(X).transform,
        clone(COSINES["number"]).fit(X).partial_fit,
    ):
        with pytest.raises(ValueError, match=r"not all zeros.*: 7; leave"):
            call(rows)


def test_starts_of_zeros_are_refused():
    start = UNIT[:4].copy()
    start[2] = 0
    with pytest.raises(ValueError, match=r"init must have rows that are not all zeros .* row 2 is"):
        KModes(4, init=start, metric="cosine").fit(X)
    with pytest.raises(ValueError, match=r"seeds must have rows that are not all zeros .* row 2"):
        MeanShift(1.0, seeds=start, metric="cosine").fit(X)


# The warning.


def two_topics(coherence):
    """Return sparse rows of length 1 in two clusters, the second of which is less coherent."""
    rng = np.random.default_rng(0)
    rows = np.zeros((200, 400))
    rows[:100, 0] = 1.0
    rows[100:, 1] = coherence
    for row in rows:
        row[rng.choice(np.arange(2, 400), 20, replace=False)] = 0.1
    return sparse.csr_array(reference.to_sphere(rows))


def test_centers_of_different_lengths_are_told():
    rows, start = two_topics(coherence=0.15), np.eye(2, 400)
    with pytest.warns(CenterLengthWarning, match=r"Use metric='cosine'") as caught:
        KModes(2, bandwidth=np.inf, init=start).fit(rows)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("rows", "metric"),
    [
        (two_topics(coherence=1.0), "euclidean"),  # equal lengths
        (two_topics(coherence=0.15), "cosine"),
        (2 * two_topics(coherence=0.15), "euclidean"),  # rows of another length
        (two_topics(coherence=0.15).toarray(), "euclidean"),  # dense rows
    ],
)
def test_others_are_not(rows, metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error", CenterLengthWarning)
        KModes(2, bandwidth=np.inf, init=np.eye(2, 400), metric=metric).fit(rows)


def test_resamples_do_not_repeat_it():
    rows = two_topics(coherence=0.15)
    with pytest.warns(CenterLengthWarning):
        model = KModes(2, bandwidth=np.inf, init=np.eye(2, 400)).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CenterLengthWarning)
        model.stability(rows, n_resamples=2)
