"""Built-in datasets for trying out the library."""

import difflib
from collections.abc import Callable
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


def _blobs() -> ExampleData:
    from sklearn.datasets import make_blobs

    X, y = make_blobs(1000, 5, centers=6, random_state=0)
    return ExampleData(X, y, _numbered(5), None, "Six Gaussian blobs")


def _degrees() -> ExampleData:
    """Vertex degrees of an Erdős-Rényi graph and a power-law graph, as in Fig. 4 of the paper."""
    rng = np.random.RandomState(0)
    random = rng.binomial(999, 2 * 9918 / 1000 / 999, 1000)
    power_law = np.minimum(np.floor(131 * (1 + rng.pareto(1.5, 3000))), 2999)
    X = np.concatenate([random, power_law])[:, np.newaxis]
    y = np.repeat(["random", "power-law"], [1000, 3000])
    return ExampleData(X, y, ["degree"], None, "Vertex degrees of a graph")


def _digits() -> ExampleData:
    from sklearn.datasets import load_digits

    data = load_digits()
    names = [f"pixel_{i}_{j}" for i in range(8) for j in range(8)]
    return ExampleData(data.data / 16, data.target, names, (8, 8), "Handwritten digits")


def _gaussians() -> ExampleData:
    """Three Gaussians as in Fig. 2 of the paper, to be clustered with K = 2."""
    from sklearn.datasets import make_blobs

    centers = [[0.0, 0.0], [6.0, 0.0], [3.0, 9.0]]
    X, y = make_blobs(600, centers=centers, cluster_std=1.0, random_state=0)
    return ExampleData(X, y, _numbered(2), None, "Three Gaussians")


def _moons() -> ExampleData:
    from sklearn.datasets import make_moons

    X, y = make_moons(1000, noise=0.08, random_state=0)
    return ExampleData(X, y, _numbered(2), None, "Two moons")


def _of_sklearn(loader: str, title: str) -> Callable[[], ExampleData]:
    """Return a function that loads a dataset of scikit-learn, with class names as `y`."""

    def load() -> ExampleData:
        import sklearn.datasets

        data = getattr(sklearn.datasets, loader)()
        classes = np.asarray(data.target_names)[data.target]
        names = [str(name) for name in data.feature_names]
        return ExampleData(data.data, classes, names, None, title)

    return load


def _numbered(n_features: int) -> list[str]:
    return [f"x{j}" for j in range(n_features)]


DATASETS: dict[str, Callable[[], ExampleData]] = {
    "blobs": _blobs,
    "breast_cancer": _of_sklearn("load_breast_cancer", "Breast cancer"),
    "degrees": _degrees,
    "digits": _digits,
    "gaussians": _gaussians,
    "iris": _of_sklearn("load_iris", "Iris"),
    "moons": _moons,
    "wine": _of_sklearn("load_wine", "Wine"),
}
