"""scikit-learn's decorators with types, so that type checkers see through them.

scikit-learn has no types of its own: what it decorates would be of any type, for users too.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import sklearn.base
import sklearn.callback
from sklearn.utils import _param_validation, metaestimators

F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """Returns a function of the type of the one it is given."""

    def __call__(self, function: F, /) -> F:
        """Decorate a function."""


with_callbacks: Decorator = sklearn.callback.with_callbacks
fit_context: Callable[..., Decorator] = sklearn.base._fit_context
validate_params: Callable[..., Decorator] = _param_validation.validate_params
available_if: Callable[..., Decorator] = metaestimators.available_if
