import numpy as np
import pytest
from sklearn.datasets import make_blobs

from modeclust import KModes, LaplacianKModes, MeanShift, load
from modeclust.plotting import PathDisplay

X, _ = make_blobs(120, 2, centers=4, random_state=0)
THRESHOLD = 0.5  # at which some clusters are redundant, and not most of them
QUICK = {"bandwidth": 1.0, "n_bandwidths": 3, "random_state": 0}


def kmodes(**options):
    return KModes(4, **QUICK | options).fit(X)


def changed(model, folder, **parameters):
    """Return a fitted model with other parameters, and the same from a file."""
    model.set_params(**parameters).save(folder / "model.npz")
    return model, load(folder / "model.npz")


def test_a_fitted_model_uses_the_parameters_of_its_fit(tmp_path):
    expected = kmodes()
    told = expected.report(X, path=None).summary
    contours = PathDisplay.from_estimator(expected, X).densities
    merged = expected.merge_redundant(X, threshold=THRESHOLD)
    others = {"kernel": "epanechnikov", "adaptive": True, "bandwidth": "scott", "n_clusters": 2}
    for model in changed(kmodes(), tmp_path, **others):
        assert model.score(X) == expected.score(X) == expected.objective_
        assert model.redundant_clusters(THRESHOLD) == expected.redundant_clusters(THRESHOLD)
        assert model.report(X, path=None).summary == told
        np.testing.assert_array_equal(PathDisplay.from_estimator(model, X).densities, contours)
        same = model.merge_redundant(X, threshold=THRESHOLD)
        np.testing.assert_array_equal(same.cluster_centers_, merged.cluster_centers_)
        assert (same.kernel, same.adaptive) == ("gaussian", False)
        assert model.get_params()["kernel"] == "epanechnikov"
        model.fit(X)
        assert len(model.cluster_centers_) == 2
        assert model.report(X, path=None).summary["model"]["kernel"] == "epanechnikov"


def test_invalid_parameters_are_found_only_by_fit():
    model = kmodes().set_params(kernel="foo")
    assert model.score(X) == model.objective_
    with pytest.raises(ValueError, match="'kernel' parameter"):
        model.fit(X)


def test_an_adaptive_fit_stays_adaptive():
    told = kmodes(adaptive=True).report(X, path=None).summary
    model = kmodes(adaptive=True).set_params(adaptive=False)
    assert model.report(X, path=None).summary == told
    with pytest.raises(ValueError, match="with adaptive=True"):
        model.report(X, path=None, sample_scale=np.ones(len(X)))


def test_rows_find_their_mode_as_in_the_fit(tmp_path):
    expected = MeanShift(bandwidth=1.0).fit(X)
    others = {"kernel": "biweight", "merge_radius": 10.0, "max_iter": 1, "tol": 1.0}
    for model in changed(MeanShift(bandwidth=1.0).fit(X), tmp_path, **others):
        np.testing.assert_array_equal(model.predict(X), expected.labels_)


@pytest.mark.parametrize("solver", ["gradient", "bound"])
def test_memberships_of_new_rows_are_found_as_in_the_fit(solver, tmp_path):
    expected = LaplacianKModes(4, solver=solver, **QUICK).fit(X).predict_proba(X + 0.1)
    others = {"kernel": "cauchy", "solver": {"gradient": "bound"}.get(solver, "gradient")}
    for model in changed(LaplacianKModes(4, solver=solver, **QUICK).fit(X), tmp_path, **others):
        np.testing.assert_array_equal(model.predict_proba(X + 0.1), expected)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"n_clusters": 5}, "n_clusters must stay 4, as in the first batch, got 5; set it back"),
        ({"bandwidth": 0.1}, "bandwidth must stay 1.0, as in the first batch, got 0.1"),
        ({"bandwidth": "knn"}, "bandwidth must stay 1.0, as in the first batch, got 'knn'"),
        ({"kernel": "cauchy"}, "kernel must stay 'gaussian', as in the first batch, got 'cauchy'"),
    ],
)
def test_parameters_that_the_first_batch_fixes_cannot_change(parameter, message, tmp_path):
    for model in changed(kmodes(), tmp_path, **parameter):
        before = model.cluster_centers_
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X)
        assert model.cluster_centers_ is before
        assert model.n_steps_ == 1


def test_scales_of_an_adaptive_fit_are_not_used_by_partial_fit():
    model = kmodes(adaptive=True).set_params(adaptive=False)
    with pytest.raises(ValueError, match="adaptive must stay True"):
        model.partial_fit(X)


def test_other_parameters_may_change_between_batches():
    model = kmodes(bandwidth="knn")
    model.set_params(bandwidth=model.bandwidth_, tol=1e-3, half_life=50.0, path_iter=2, n_jobs=1)
    assert model.partial_fit(X).partial_fit(X).n_steps_ == 3
