"""What `KModes(K)` gives as it comes, beside the bandwidths of the paper."""

from typing import Any, NamedTuple

import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from modeclust import KModes
from modeclust.data.validation import check_rows
from modeclust.plotting.exemplars import nearest_in_cluster
from reproduction.typicality import purity

N_NEIGHBORS = 20


class DefaultFit(NamedTuple):
    """A fit without parameters except K and the seed, and how well it agrees with the classes."""

    model: KModes
    scores: tuple[float, float]  # of the labels: both indices in percent
    purity: float  # of the rows nearest to the modes


def fit_default(X: Any, y: npt.NDArray[Any], n_clusters: int, seed: int) -> DefaultFit:
    """Fit `KModes(n_clusters)`, and compare its labels and modes with the classes."""
    model = KModes(n_clusters, random_state=seed).fit(X)
    return DefaultFit(
        model, agreement(y, model.labels_), purity_near(X, y, model.labels_, model.modes_)
    )


def agreement(classes: Any, labels: Any) -> tuple[float, float]:
    """Return the adjusted Rand index and the normalised mutual information, in percent."""
    return (
        100 * adjusted_rand_score(classes, labels),
        100 * normalized_mutual_info_score(classes, labels),
    )


def purity_near(X: Any, y: npt.NDArray[Any], labels: Any, centers: Any) -> float:
    """Return the purity of the rows of each cluster that are nearest to its center."""
    return purity(y, nearest_in_cluster(check_rows(X), labels, centers, N_NEIGHBORS))
