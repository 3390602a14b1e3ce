"""The bandwidth rules as a function."""

from numbers import Integral
from typing import Any, Literal, overload

from sklearn.utils._param_validation import Interval, StrOptions

from modeclust.data.dask.dataset import DaskDataset
from modeclust.data.rescaling import Rescaling
from modeclust.estimators.decorators import validate_params
from modeclust.solvers.bandwidth import N_SAMPLES, RULES, choose_bandwidth, parse_rule
from modeclust.solvers.chunked_bandwidth import choose_chunked_bandwidth
from modeclust.validation import Doubles, check_n_jobs, check_rows, check_weights


@overload
def estimate_bandwidth(
    X: Any,
    rule: str = ...,
    n_neighbors: int = ...,
    local: Literal[False] = ...,
    n_samples: int = ...,
    *,
    sample_weight: Any = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> float: ...


@overload
def estimate_bandwidth(
    X: Any,
    rule: str = ...,
    n_neighbors: int = ...,
    *,
    local: Literal[True],
    n_samples: int = ...,
    sample_weight: Any = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> Doubles: ...


@overload
def estimate_bandwidth(
    X: Any,
    rule: str = ...,
    n_neighbors: int = ...,
    local: bool = ...,
    n_samples: int = ...,
    *,
    sample_weight: Any = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> float | Doubles: ...


@validate_params(
    {
        "rule": [StrOptions(set(RULES))],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "local": ["boolean"],
        "n_samples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    },
    prefer_skip_nested_validation=True,
)
def estimate_bandwidth(
    X: Any,
    rule: str = "knn",
    n_neighbors: int = 10,
    local: bool = False,
    n_samples: int = N_SAMPLES,
    *,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float | Doubles:
    """Estimate a bandwidth from the data.

    - "knn": the mean distance of a row to its `n_neighbors`-th nearest other row.
    - "scott": s N^(-1/(D+4)), with s^2 the variance averaged over the features.
    - "silverman": s (4 / ((D+2) N))^(1/(D+4)).
    - "likelihood": the bandwidth of the gaussian kernel density with the highest
      leave-one-out likelihood, compared on at most 2,000 rows; from a sample of many more, in
      many dimensions, it varies with the sample.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    rule : {"knn", "silverman", "scott", "likelihood"}, default="knn"
        The rule.
    n_neighbors : int, default=10
        Which neighbour "knn" and `local` measure the distance to; at most the number of other
        rows.
    local : bool, default=False
        Give one value for each row: the rule's value times the row's own neighbour distance
        over the mean one.
    n_samples : int, default=5000
        With more rows than this, "knn" averages over that many rows drawn at random, each
        with its true neighbours; with `local`, neighbours are sought among that many rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. Whole numbers count as repeated rows; other weights only
        weigh the averages. Rows of weight 0 count as missing.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows where they are sampled.
    n_jobs : int, default=None
        Number of threads of the neighbour search, as in `KModes`.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        The bandwidth, always positive; 1.0 where all rows are equal. With `local`, one for
        each row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from modeclust import estimate_bandwidth
    >>> X = load_iris().data
    >>> round(estimate_bandwidth(X), 3)
    0.558
    >>> estimate_bandwidth(X, local=True).shape
    (150,)
    """
    check_n_jobs(n_jobs)
    X = check_rows(X, min_rows=2)
    weight = check_weights(sample_weight, X)
    rescaling = Rescaling.of(X)
    bandwidth, scales = choose_bandwidth(
        rescaling.to_internal(X),
        weight,
        rule,
        local=local,
        n_neighbors=n_neighbors,
        n_samples=n_samples,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    bandwidth *= rescaling.scale
    return bandwidth if scales is None else bandwidth * scales


def resolve_bandwidth(
    rescaling: Rescaling,
    rows: Any,
    weight: Any,
    bandwidth: str | float,
    *,
    local: bool,
    random_state: Any,
    n_jobs: int | None,
) -> tuple[float, Any]:
    """Return an estimator's bandwidth, by a rule or as given, and the local scales if wanted.

    `rows` are an array or `DaskDataset`, in `units`; the bandwidth is in those of the user.
    """
    is_rule = isinstance(bandwidth, str)
    rule, divisor = parse_rule(bandwidth) if isinstance(bandwidth, str) else (1.0, 1.0)
    estimate: float
    scales: Any
    if isinstance(rows, DaskDataset):
        estimate, scales = choose_chunked_bandwidth(
            rows, rule, local=local, random_state=random_state
        )
    else:
        estimate, scales = choose_bandwidth(
            rows, weight, rule, local=local, random_state=random_state, n_jobs=n_jobs
        )
    return estimate * rescaling.scale / divisor if is_rule else float(bandwidth), scales
