"""How many clusters there are: the public function, and the choice within a fit."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from modeclust._sklearn import is_array_like, validate_params
from modeclust.cluster_suggestion import ClusterSuggestion
from modeclust.data.memory import open_dataset, thread_count
from modeclust.data.validation import check_n_jobs, check_rows, check_weights, rescaling_for
from modeclust.estimators.parameters import CONSTRAINTS, COUNT
from modeclust.estimators.problem import CheckedInput
from modeclust.solvers.cluster_count import run_tests


@validate_params(
    {
        "max_clusters": [COUNT],
        "metric": CONSTRAINTS["metric"],
        "random_state": CONSTRAINTS["random_state"],
        "n_jobs": CONSTRAINTS["n_jobs"],
    },
    prefer_skip_nested_validation=True,
)
def suggest_clusters(
    X: Any,
    *,
    max_clusters: int = 40,
    metric: str = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
) -> ClusterSuggestion:
    """Suggest how many clusters there are.

    Two tests of different kinds look for clusters with gaps between them:

    - *Peaks*: how many peaks does the density have that are too high for chance? Clusters may have
      any shape. This gives the answer in few dimensions: if the intrinsic dimension of the rows is
      below 3.
    - *Dips*: K-means starts with `max_clusters` clusters. While there are two neighbours without a
      gap between them, they are merged. The gap is Hartigan's dip of their rows along the line
      through their centers. This works in any dimension, for convex clusters.

    If they agree, the answer is sure. Otherwise it says what both have found, and ``.plot()`` shows
    why.

    In up to 5 features, a third test, *shape*, counts clusters that touch. It answers only where
    all clusters look like those that stand alone: normal, round and of one width. Such an answer is
    never sure.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Of more than 5,000 rows, the tests see a random sample of 5,000.
    max_clusters : int, default=40
        The largest number of clusters. The dips also try at most one for every five rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" brings each row to length 1, as in `KModes`.
    random_state : int, RandomState instance or None, default=None
        Determines the rows that are sampled, and the seeds of K-means.
    n_jobs : int, default=None
        Number of threads, as in `KModes`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, of which only the ratios count. Up to 5,000 rows, an integer weight w
        is equivalent to repeating the row w times. Copies of a row add weight, but do not make an
        answer surer. Rows of weight 0 are ignored.

    Returns
    -------
    ClusterSuggestion
        The number of clusters, whether it is sure, labels, and what the tests have seen.

    See Also
    --------
    KModes : Does this with ``n_clusters="auto"``.

    Notes
    -----
    `labels` has every row, also those that were not sampled: by the dips and the shape, the label
    of the nearest center; by the peaks, that of the nearest sampled row. It is None for a Dask
    collection: fit `KModes` with the suggested number for its labels.

    Two normal clusters of equal size have a gap between them if they are about 3.5 standard
    deviations apart. Where clusters are nearer and have no shape in common, they are counted as
    one.

    The shape is that of a mixture of normal distributions with one variance; their number is the
    one with the lowest BIC. A score test says whether they have covariances of their own.

    References
    ----------
    Hartigan, J. A. & Hartigan, P. M. (1985). The dip test of unimodality. Annals of Statistics 13,
    70-84.

    Levina, E. & Bickel, P. J. (2004). Maximum likelihood estimation of intrinsic dimension.
    Advances in Neural Information Processing Systems 17.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from modeclust import suggest_clusters
    >>> X, _ = make_blobs(500, n_features=5, centers=6, random_state=0)
    >>> found = suggest_clusters(X, random_state=0)
    >>> found
    ClusterSuggestion(6 clusters)
    >>> found.n_clusters, found.is_sure, found.labels.shape
    (6, True, (500,))
    """
    check_n_jobs(n_jobs)
    X = check_rows(X, min_rows=2, chunked=True)
    checked = CheckedInput(X, check_weights(sample_weight, X))
    return suggest(checked, max_clusters, metric, random_state, n_jobs, labels=True)


def suggest_for_fit(
    model: Any, checked: CheckedInput, rng: np.random.RandomState
) -> ClusterSuggestion:
    """Return the suggestion for a model with ``n_clusters="auto"``, without labels."""
    if is_array_like(model.init):
        raise ValueError(
            f"n_clusters='auto' needs init='k-means++', 'random' or a function, got an array of "
            f"shape {np.shape(model.init)}; pass n_clusters={len(model.init)} with it."
        )
    check_n_jobs(model.n_jobs)
    # A seed samples the same rows as in `suggest_clusters`; a generator samples other rows.
    state = model.random_state if isinstance(model.random_state, Integral) else rng
    given = model.max_clusters, model.metric
    return suggest(checked, *given, state, model.n_jobs, labels=False)


def suggest(
    checked: CheckedInput,
    max_clusters: int,
    metric: str,
    random_state: Any,
    n_jobs: int | None,
    *,
    labels: bool,
) -> ClusterSuggestion:
    """Return the suggestion for checked rows, which may be in memory or on Dask workers."""
    n_threads, max_clusters = thread_count(n_jobs), int(max_clusters)
    rescaling = rescaling_for(checked.X, n_threads, metric)
    with open_dataset(
        checked.X, rescaling, weight=checked.weight, n_clusters=max_clusters, n_threads=n_threads
    ) as dataset:
        tests = run_tests(dataset, max_clusters, check_random_state(random_state), n_threads)
        can_label = labels and dataset.stores_labels
        return tests.suggestion(max_clusters, tests.label(dataset) if can_label else None)
