import numpy as np
import pytest

from modeclust.datasets import DATASETS, load_dataset


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_is_whole_and_always_the_same(name):
    data = load_dataset(name)
    n_rows, n_features = data.X.shape
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.y.shape == (n_rows,)
    assert len(set(data.feature_names)) == n_features
    assert data.image_shape is None or np.prod(data.image_shape) == n_features
    assert data.title
    np.testing.assert_array_equal(data.X, load_dataset(name).X)


def test_digits_are_images_between_0_and_1():
    data = load_dataset("digits")
    assert data.image_shape == (8, 8)
    assert (data.X.min(), data.X.max()) == (0, 1)


def test_degrees_are_like_the_papers():
    data = load_dataset("degrees")
    random, power_law = (data.X[data.y == name] for name in ("random", "power-law"))
    assert (len(random), len(power_law)) == (1000, 3000)
    assert random.mean() == pytest.approx(2 * 9918 / 1000, rel=0.02)
    assert power_law.mean() == pytest.approx(2 * 506489 / 3000, rel=0.05)
    assert random.max() < power_law.min()


def test_an_unknown_name_says_which_there_are():
    with pytest.raises(
        ValueError, match=r"No built-in dataset 'digit'; choose one of blobs.*'digits'\?"
    ):
        load_dataset("digit")
