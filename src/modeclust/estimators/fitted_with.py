"""The parameters of a fit, which a fitted model goes by: other values wait for the next fit."""

from typing import Any, ClassVar


class FittedWithMixin:
    """Keeps the parameters of the fit that are needed after it, whatever `set_params` does."""

    _needed_after_fit: ClassVar[tuple[str, ...]]
    _fitted_with: dict[str, Any]

    def _parameters_needed(self) -> dict[str, Any]:
        """Return the parameters as they are now, for a fit to keep."""
        return {name: getattr(self, name) for name in self._needed_after_fit}
