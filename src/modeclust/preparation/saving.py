"""Fitted preparations as plain values, which are part of the file of a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from modeclust._sklearn import OUTPUT_CONFIG, OUTPUTS
from modeclust.data.reading import Doubles
from modeclust.io.model_file import is_array
from modeclust.preparation.columns import COLUMN_TYPES, PREPARED_TYPES, are_texts
from modeclust.preparation.kinds import KINDS
from modeclust.preparation.table import SCALES, TablePreparation


def _output_of(fitted: Any) -> str | None:
    """Return in which type `set_output` asked for rows; None if it was not called."""
    output: str | None = vars(fitted).get(OUTPUT_CONFIG, {}).get("transform")
    return output


@dataclass(frozen=True)
class SavedTable:
    """A fitted `TablePreparation`."""

    kinds: dict[str, str] | None
    scale: str | None
    columns: list[Any]
    is_named: bool
    output: str | None = None  # of `set_output`

    def __post_init__(self) -> None:
        kinds: Any = {} if self.kinds is None else self.kinds
        columns: Any = self.columns
        is_right = isinstance(kinds, dict) and are_texts(list(kinds))
        is_right = is_right and all(kind in KINDS for kind in kinds.values())
        is_right = is_right and self.scale in (None, *SCALES) and type(self.is_named) is bool
        is_right = is_right and isinstance(columns, list) and self.output in (None, *OUTPUTS)
        is_right = is_right and all(isinstance(column, COLUMN_TYPES) for column in columns)
        if not is_right or not any(isinstance(column, PREPARED_TYPES) for column in columns):
            raise ValueError("the preparation must have columns of a table")
        if not are_texts([column.name for column in columns]):
            raise ValueError("the columns of the preparation must have different names")

    @classmethod
    def of(cls, fitted: TablePreparation) -> "SavedTable":
        """Return the values of a fitted preparation."""
        kinds = None if fitted.kinds is None else dict(fitted.kinds)
        is_named = hasattr(fitted, "feature_names_in_")
        return cls(kinds, fitted.scale, fitted.columns_, is_named, _output_of(fitted))

    def restore(self) -> TablePreparation:
        """Return the fitted preparation."""
        fitted = TablePreparation(self.kinds, scale=self.scale)
        fitted.set_output(transform=self.output)
        fitted.columns_ = self.columns
        fitted.n_features_in_ = len(self.columns)
        if self.is_named:
            names = [column.name for column in self.columns]
            fitted.feature_names_in_ = np.array(names, dtype=object)
        return fitted


@dataclass(frozen=True)
class SavedScaler:
    """A fitted `StandardScaler`."""

    mean: Doubles | None  # None if rows are not centered
    scale: Doubles
    names: npt.NDArray[np.object_] | None
    output: str | None = None  # of `set_output`

    def __post_init__(self) -> None:
        scale, names = self.scale, self.names
        is_right = is_array(scale, "f", None) and bool((np.isfinite(scale) & (scale > 0)).all())
        if is_right and (mean := self.mean) is not None:
            is_right = is_array(mean, "f", len(scale)) and bool(np.isfinite(mean).all())
        if is_right and names is not None:
            is_right = is_array(names, "O", len(scale)) and all(isinstance(n, str) for n in names)
        if not (is_right and self.output in (None, *OUTPUTS)):
            raise ValueError("a scaling must have one finite mean and one scale > 0 per feature")

    @classmethod
    def of(cls, fitted: StandardScaler) -> "SavedScaler":
        """Return the values of a fitted scaler."""
        scale = fitted.scale_ if fitted.with_std else np.ones(fitted.n_features_in_)
        names = getattr(fitted, "feature_names_in_", None)
        mean = fitted.mean_ if fitted.with_mean else None
        return cls(mean, scale, names, _output_of(fitted))

    def restore(self) -> StandardScaler:
        """Return the fitted scaler."""
        fitted = StandardScaler(with_mean=self.mean is not None).set_output(transform=self.output)
        fitted.mean_, fitted.scale_, fitted.var_ = self.mean, self.scale, self.scale**2
        fitted.n_features_in_ = len(self.scale)
        if self.names is not None:
            fitted.feature_names_in_ = self.names
        return fitted


Saved = SavedTable | SavedScaler
SAVED: Mapping[type, Any] = {TablePreparation: SavedTable, StandardScaler: SavedScaler}
# The dataclasses in a file.
SAVED_TYPES = (SavedTable, SavedScaler, *COLUMN_TYPES)


def to_saved(preparation: Any) -> Saved:
    """Return a fitted preparation as values, or raise an error that says which can be saved."""
    if type(preparation) not in SAVED:
        raise TypeError(
            "Before the model, a pipeline that is saved may have one TablePreparation or "
            f"StandardScaler, got {preparation!r}; use one of these, or save the model alone."
        )
    check_is_fitted(preparation)
    saved: Saved = SAVED[type(preparation)].of(preparation)
    return saved
