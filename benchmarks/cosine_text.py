"""Text by both metrics: the labels at each bandwidth, against those of K-means.

For each set, K-modes follows a path by each metric, from the best of ten K-means runs down to modes
that average 30 rows in the median. K-means by the metric "cosine" is spherical K-means.
"""

import inspect
from importlib import import_module
from typing import Any

import numpy as np
from effort import Effort
from environment import data_file
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from workloads import read_tdt2

from modeclust import kmodes_path

METRICS = ("euclidean", "cosine")
SUBPACKAGES = ("fft", "interpolate", "linalg", "ndimage", "optimize", "sparse")
N_BANDWIDTHS = 24
N_SEEDS = 3
FEWEST_AVERAGED = 30
N_COMPONENTS = 100
BANDWIDTHS = np.geomspace(2.0, 0.2, N_BANDWIDTHS)


def docstrings() -> tuple[Any, Any]:
    """Return tf-idf rows of the documentation of SciPy, and the subpackage of each."""
    found = {}
    for name in SUBPACKAGES:
        module = import_module(f"scipy.{name}")
        for member in (getattr(module, member) for member in module.__all__):
            text = inspect.getdoc(member) if callable(member) else None
            if text and len(text) > 500:
                found.setdefault(text, name)
    vectorizer = TfidfVectorizer(
        stop_words="english", min_df=3, max_df=0.5, sublinear_tf=True, token_pattern="[a-z]{3,}"
    )
    return vectorizer.fit_transform(list(found)), np.array(list(found.values()))


def embedded(X: Any) -> Any:
    """Return dense rows of a hundred features, as embeddings are."""
    return TruncatedSVD(N_COMPONENTS, random_state=0).fit_transform(X)


def read_sets(quick) -> dict[str, tuple[Any, Any]]:
    """Return the sets that are available, with their classes."""
    X, y = docstrings()
    sets = {"SciPy, tf-idf": (X, y), "SciPy, 100 components": (embedded(X), y)}
    file = data_file("tdt2.npz")
    if file is None or quick:
        return sets
    X, y = read_tdt2(file)
    return sets | {"TDT2, tf-idf": (X, y), "TDT2, 100 components": (embedded(X), y)}


def follow(X: Any, y: Any, metric: str, seed: int) -> Any:
    """Return, at each bandwidth, the index of the labels, the rows averaged and the lengths."""
    path = kmodes_path(
        X, len(np.unique(y)), bandwidths=[np.inf, *BANDWIDTHS], metric=metric, random_state=seed,
        store_labels=True,
    )  # fmt: skip
    lengths = np.linalg.norm(path.centers, axis=2)
    indices = [adjusted_rand_score(y, labels) for labels in path.labels]
    averaged = np.median(path.rows_averaged, axis=1)
    return np.array([indices, averaged, lengths.min(axis=1), lengths.max(axis=1)])


def measure_text(effort: Effort):
    """Return the adjusted Rand index along the path of each set, by each metric."""
    n_seeds = 1 if effort.quick else N_SEEDS
    found = {
        name: {
            "shape": list(X.shape),
            "n_clusters": len(np.unique(y)),
            "metrics": {metric: _summarize(X, y, metric, n_seeds) for metric in METRICS},
        }
        for name, (X, y) in read_sets(effort.quick).items()
    }
    return {"seeds": n_seeds, "fewest_averaged": FEWEST_AVERAGED, "sets": found}


def _summarize(X, y, metric, n_seeds):
    """Return the means over seeds down to the last bandwidth that averages enough rows."""
    found = np.mean([follow(X, y, metric, seed) for seed in range(n_seeds)], axis=0)
    averages_enough = np.logical_and.accumulate(found[1] >= FEWEST_AVERAGED)
    indices, _, shortest, longest = found[:, averages_enough]
    return {
        "kmeans": float(indices[0]),
        "lowest": float(indices.min()),
        "highest": float(indices.max()),
        "last_bandwidth": float(BANDWIDTHS[len(indices) - 2]),
        "lengths": [float(shortest[-1]), float(longest[-1])],
    }
