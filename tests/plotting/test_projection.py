import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA

from modeclust.plotting import projection
from modeclust.plotting.projection import Projection


@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_few_features_are_drawn_as_they_are(rng, n_features, convert):
    X = rng.normal(size=(5, n_features))
    view = Projection.of(convert(X))
    assert view.axis_labels == tuple(f"x{d}" for d in range(n_features))
    assert view.n_axes == n_features
    np.testing.assert_array_equal(view.transform(convert(X)), X)


def test_names_label_the_axes():
    assert Projection.of(np.zeros((3, 2)), ("a", "b")).axis_labels == ("a", "b")


def test_many_features_are_projected_on_principal_components(rng):
    X = rng.normal(size=(50, 4)) * [9, 3, 1, 1]
    view = Projection.of(X, ("a", "b", "c", "d"))
    expected = PCA(2, random_state=0).fit(X)
    np.testing.assert_allclose(view.transform(X), expected.transform(X))
    share = expected.explained_variance_ratio_[0]
    assert view.axis_labels[0] == f"principal component 1 ({share:.0%} of variance)"


@pytest.mark.parametrize("n_rows", [1, 2, 30])
def test_sparse_rows_have_the_principal_components_of_dense_ones(rng, n_rows):
    X = sparse.random_array((n_rows, 8), density=0.4, rng=rng, format="csr")
    view, dense = Projection.of(X), Projection.of(X.toarray())
    assert view.axis_labels == dense.axis_labels
    wanted = dense.transform(X.toarray())
    np.testing.assert_allclose(np.abs(view.transform(X)), np.abs(wanted), atol=1e-2)


def test_components_are_found_in_a_sample_of_many_rows(rng, monkeypatch):
    monkeypatch.setattr(projection, "MAX_ROWS", 100)
    X = rng.normal(size=(1000, 3)) * [9, 3, 1]
    view = Projection.of(X)
    assert view.transform(X).shape == (1000, 2)
    np.testing.assert_allclose(np.abs(view.components.components_[0]), [1, 0, 0], atol=0.1)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_constant_rows_lie_in_one_place(convert):
    X = convert(np.ones((5, 3)))
    view = Projection.of(X)
    np.testing.assert_allclose(np.ptp(view.transform(X), axis=0), 0, atol=1e-12)
    assert "nan" not in "".join(view.axis_labels)
