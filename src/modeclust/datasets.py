"""Built-in datasets for trying out the library."""

import difflib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class ExampleData(NamedTuple):
    """A built-in dataset, a named tuple.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Class of each row.
    feature_names : list of str
        Names of the features.
    image_shape : tuple of int or None
        Height and width if the rows are images, else None.
    title : str
        Title of the dataset.
    """

    X: npt.NDArray[np.float64]
    y: npt.NDArray[Any]
    feature_names: list[str]
    image_shape: tuple[int, int] | None
    title: str


def load_dataset(name: str) -> ExampleData:
    """Load a built-in dataset.

    Parameters
    ----------
    name : {"blobs", "breast_cancer", "degrees", "digits", "gaussians", "iris", "moons", "wine"}
        Name of the dataset.

    Returns
    -------
    ExampleData
        The dataset. Every call returns the same values.

    Examples
    --------
    >>> from modeclust.datasets import load_dataset
    >>> load_dataset("digits").X.shape
    (1797, 64)
    """
    if name not in list(DATASETS):  # a list, because the name may not be hashable
        near = difflib.get_close_matches(str(name), DATASETS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"No built-in dataset {name!r}; choose one of {', '.join(DATASETS)}{hint}")
    return DATASETS[name]()


def _degrees() -> ExampleData:
    """Vertex degrees of an Erdős-Rényi graph and a power-law graph, as in Fig. 4 of the paper."""
    rng = np.random.RandomState(0)
    random = rng.binomial(999, 2 * 9918 / 1000 / 999, 1000)
    power_law = np.minimum(np.floor(131 * (1 + rng.pareto(1.5, 3000))), 2999)
    X = np.concatenate([random, power_law])[:, np.newaxis]
    y = np.repeat(["random", "power-law"], [1000, 3000])
    return ExampleData(X, y, ["degree"], None, "Vertex degrees of a graph")


def _generated(function: str, title: str, **options: Any) -> ExampleData:
    """Generate a dataset by a function of scikit-learn."""
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, function)(random_state=0, **options)
    return ExampleData(X, y, [f"x{j}" for j in range(X.shape[1])], None, title)


def _stored(
    function: str, title: str, image_shape: tuple[int, int] | None = None, highest: float = 1.0
) -> ExampleData:
    """Load a dataset of scikit-learn, with class names as `y`, and divide it by `highest`."""
    import sklearn.datasets

    data = getattr(sklearn.datasets, function)()
    classes = np.asarray(data.target_names)[data.target]
    names = [str(name) for name in data.feature_names]
    return ExampleData(data.data / highest, classes, names, image_shape, title)


# Means of three Gaussians as in Fig. 2 of the paper, to be clustered with K = 2.
MEANS = [[0.0, 0.0], [6.0, 0.0], [3.0, 9.0]]
DATASETS: dict[str, Callable[[], ExampleData]] = {
    "blobs": partial(
        _generated, "make_blobs", "Six Gaussian blobs", n_samples=1000, n_features=5, centers=6
    ),
    "breast_cancer": partial(_stored, "load_breast_cancer", "Breast cancer"),
    "degrees": _degrees,
    "digits": partial(_stored, "load_digits", "Handwritten digits", (8, 8), highest=16.0),
    "gaussians": partial(_generated, "make_blobs", "Three Gaussians", n_samples=600, centers=MEANS),
    "iris": partial(_stored, "load_iris", "Iris"),
    "moons": partial(_generated, "make_moons", "Two moons", n_samples=1000, noise=0.08),
    "wine": partial(_stored, "load_wine", "Wine"),
}
