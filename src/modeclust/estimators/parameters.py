"""Parameters of estimators: their constraints, and the values that a fit used."""

from collections.abc import Callable
from numbers import Integral, Real
from types import MethodType
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from modeclust._sklearn import Decorator, Interval, StrOptions, is_array_like
from modeclust.data.reading import is_sparse
from modeclust.kernels import KERNELS
from modeclust.solvers.bandwidth import RULES, parse_rule


class BandwidthRule(StrOptions):
    """The names of the bandwidth rules, with a factor or a divisor: "0.4*knn", "knn/3"."""

    def __init__(self) -> None:
        super().__init__(set(RULES))

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether `val` is a rule, which may have a factor."""
        try:
            return isinstance(val, str) and bool(parse_rule(val))
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"{super().__str__()} or one of them with a factor, such as '0.4*knn' or 'knn/3'"


POSITIVE = Interval(Real, 0, None, closed="right")  # infinity included
FINITE = Interval(Real, 0, None, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
BANDWIDTH: list[Any] = [POSITIVE, StrOptions({"auto"}), BandwidthRule()]
ROWS_PER_MODE: list[Any] = [Interval(Real, 1, None, closed="both"), StrOptions({"auto"})]
# How often n_init="auto" calls a function that returns initial centers.
N_CALLS = 3
# Constraints of the number of clusters of estimators, which can choose it.
N_CLUSTERS: dict[str, list[Any]] = {
    "n_clusters": [COUNT, StrOptions({"auto"})],
    "max_clusters": [COUNT],
}
# Constraints of the parameters that estimators and functions share.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [COUNT],
    "kernel": [StrOptions(set(KERNELS))],
    "metric": [StrOptions({"euclidean", "cosine"})],
    "path_iter": [COUNT],
    "max_iter": [COUNT],
    "mean_shift_iter": [COUNT],
    "tol": [Interval(Real, 0, None, closed="left")],
    "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
    "n_init": [COUNT, StrOptions({"auto"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "store_labels": ["boolean", StrOptions({"auto"})],
}


def n_kmeans_runs(n_init: int | str, init: Any) -> int:
    """Return the number of K-means runs over all rows."""
    if is_array_like(init):
        return 1
    if n_init == "auto":
        return N_CALLS if callable(init) else 1
    return int(n_init)


def is_sparse_with_y(X: Any, y: Any) -> bool:
    """Return whether a model that is fitted to these has no `predict_proba`; see `OfClusters`."""
    return y is not None and is_sparse(X)


class OfClusters:
    """Decorates `predict_proba`: a fitted model has it, unless its rows were sparse and had a y.

    `check_estimator` of scikit-learn fits sparse rows with y. Then it expects a column for each
    class of y, from clusterers too.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, model: Any, owner: type | None = None) -> Callable[..., Any]:
        if model is None:
            return self._method
        check_is_fitted(model)  # its error is an AttributeError too
        if getattr(model, "_sparse_with_y", False):
            raise AttributeError(
                "predict_proba needs a model that was fitted without y if the rows are sparse: its "
                "columns are clusters, and scikit-learn's check_estimator expects the classes of y "
                "there. Call fit(X)."
            )
        return MethodType(self._method, model)


of_clusters: Decorator = OfClusters  # type: ignore[assignment]


class FittedParametersMixin:
    """Stores the parameters of a fit that a fitted model needs.

    A fitted model uses these values. If a parameter is changed later, the new value applies to the
    next fit.
    """

    _needed_after_fit: ClassVar[tuple[str, ...]]
    _fitted_with: dict[str, Any]

    def _parameters_needed(self) -> dict[str, Any]:
        """Return the current values of the parameters, for a fit to store."""
        return {name: getattr(self, name) for name in self._needed_after_fit}
