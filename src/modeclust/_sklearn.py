"""Every name of scikit-learn that is private or not in all supported versions.

scikit-learn has no type annotations: a decorator of its own would hide the type of what it
decorates, for users too. Hence the decorators have types here.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
import sklearn.base
from sklearn.utils import _param_validation, metaestimators
from sklearn.utils import validation as _validation

try:
    import sklearn.callback as _callback
except ImportError:  # before scikit-learn 1.9
    _callback = None

F = TypeVar("F", bound=Callable[..., Any])

# An estimator has one of these attributes if callbacks observe its fit: its own, or those of the
# meta-estimator that it is in.
CALLBACK_ATTRIBUTES = {"_skl_callbacks", "_parent_callback_ctx"}
# The attribute in which `set_output` is stored.
OUTPUT_CONFIG = "_sklearn_output_config"
OUTPUTS = ("default", "pandas", "polars")
# Attributes that scikit-learn sets for callbacks and metadata routing.
INTERNAL_ATTRIBUTES = CALLBACK_ATTRIBUTES | {
    "_metadata_request",
    "_callback_fit_ctx",
    "_skl_callbacks_to_teardown",
}


class Decorator(Protocol):
    """Returns a function of the same type as the one it is given."""

    def __call__(self, function: F, /) -> F:
        """Decorate a function."""


class _NoCallbacks:
    """Replaces scikit-learn's mixin in versions without callbacks."""


def _undecorated(function: F, /) -> F:
    return function


Interval = _param_validation.Interval
Options = _param_validation.Options
StrOptions = _param_validation.StrOptions
CallbackSupportMixin: Any = _callback.CallbackSupportMixin if _callback else _NoCallbacks
with_callbacks: Decorator = _callback.with_callbacks if _callback else _undecorated
fit_context: Callable[..., Decorator] = sklearn.base._fit_context
validate_params: Callable[..., Decorator] = _param_validation.validate_params
available_if: Callable[..., Decorator] = metaestimators.available_if
check_sample_weight = _validation._check_sample_weight
check_feature_names = _validation._check_feature_names
check_n_features = _validation._check_n_features
get_feature_names = _validation._get_feature_names
is_array_like = _validation._is_arraylike_not_scalar


class _NamedColumns:
    """A polars frame whose column names scikit-learn before 1.9 finds too."""

    def __init__(self, frame: Any) -> None:
        self.shape = frame.shape
        self._frame = frame

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._frame.to_numpy(), dtype=dtype)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._frame.columns)


def with_column_names(X: Any) -> Any:
    """Return rows in a form in which scikit-learn finds the column names of polars frames."""
    if not hasattr(X, "iter_columns") or get_feature_names(X) is not None:
        return X
    return _NamedColumns(X)


def check_parameters(estimator: Any) -> None:
    """Raise a `ValueError` if a parameter of an estimator is not valid."""
    estimator._validate_params()


def begin_callbacks(estimator: Any, n_tasks: int | None) -> Any:
    """Return the root context of the callbacks of a fit with this number of tasks."""
    return estimator._init_callback_context(max_subtasks=n_tasks)
