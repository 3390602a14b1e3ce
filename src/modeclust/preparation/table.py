"""The transformer that makes rows of numbers of a table with columns of every kind."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from modeclust._sklearn import StrOptions, fit_context
from modeclust.data.reading import Doubles, Floats
from modeclust.data.validation import check_weights
from modeclust.path import Backend, make_frame, unused_column
from modeclust.preparation.columns import (
    CategoryColumn,
    ColumnError,
    LeftOut,
    NumberColumn,
    PreparedColumn,
    TextColumn,
)
from modeclust.preparation.hints import scale_ratio
from modeclust.preparation.kinds import AN_ID, AS_ASKED, KINDS, LEFT_OUT, Guess, judge_columns
from modeclust.preparation.values import (
    Values,
    find_booleans,
    find_categories,
    is_numeric,
    read_columns,
    to_texts,
    to_values,
)

SCALES = ("auto", "robust", "standard")
MAX_SCALE_RATIO = 10  # of columns that are of one scale
MAX_NAMES = 8  # that a line of the description names
OTHERWISE = "pass kinds={'name': 'number'} (or 'category', 'date', 'text') to use one otherwise"
IF_WRONG = "if that is wrong, convert them to numbers before"


class TablePreparation(TransformerMixin, BaseEstimator):
    """Turn a table with columns of every kind into rows of numbers.

    What each column is, is judged by its values and its name, unless `kinds` says it:

    - Ids, constant columns, columns of which more than 90% is missing, and columns with too many
      different values are left out.
    - Numbers are cut at Tukey's outer fences (three quartile distances from the quartiles), so that
      far outliers do not matter, and then scaled to zero mean and unit variance. Text such as
      "1,234.50", "$12" or "52.3 kg" is read as numbers, and "-" or "unknown" among them as missing
      values. Whether dots separate thousands is judged by whole columns, and by other columns that
      have decimal commas.
    - Dates and times become numbers of days.
    - Categories, and all columns with two values, become one feature for each value. Values that
      are rare (below 1%, fewer than 5 rows, or not among the 20 most common) share one feature.
    - Free text becomes tf-idf, reduced to ten features.

    Each column counts about as much as any other: two different categories are as far apart as two
    random rows in a scaled number, and the features of a text vary together as much as one number.
    A missing value is replaced by what changes distances least: the median of numbers, the shares
    of categories, the mean of texts.

    A table of numbers that have one scale, such as lengths in centimetres or pixels, is not
    changed, apart from ids that are left out.

    Parameters
    ----------
    kinds : dict of {str: {"number", "category", "date", "text", "left out"}}, default=None
        What columns are, by name, where it should not be judged. A column that is named here is
        used even if it looks like an id, unless it is "left out".
    scale : {"auto", "robust", "standard", None}, default="auto"
        How numbers and dates are scaled. "robust" cuts and scales them as above, and "standard"
        only scales them. With None they stay as they are. "auto" is None if the table has only
        numbers of one scale, none missing, and else "robust".

    Attributes
    ----------
    columns_ : list of columns
        What was done to each column of the table. Each has a `name` and a `kind`, which is None if
        the column is left out.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns. Only if the table has names.

    See Also
    --------
    KModes : Clusters the rows.

    Notes
    -----
    Columns are found by name: new tables may have more columns, in another order, and need no
    columns that were left out. Arrays have columns by position, whose names are x0, x1, ...

    Examples
    --------
    >>> import pandas as pd
    >>> from modeclust import TablePreparation
    >>> frame = pd.DataFrame({
    ...     "id": ["a1", "b2", "c3", "d4"],
    ...     "income": [31_000, 42_000, None, 2_500_000],
    ...     "plan": ["basic", "pro", "basic", "team"],
    ... })
    >>> preparation = TablePreparation(kinds={"plan": "category"}).fit(frame)
    >>> preparation.describe()
    ['left out: id (an id)', 'numbers, scaled: income (25% missing)', 'categories: plan']
    >>> preparation.get_feature_names_out().tolist()
    ['income', 'plan=basic', 'plan=pro', 'plan=team']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kinds": [Mapping, None],
        "scale": [StrOptions(set(SCALES)), None],
    }

    columns_: list[LeftOut | PreparedColumn]
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    def __init__(
        self, kinds: Mapping[str, str] | None = None, *, scale: str | None = "auto"
    ) -> None:
        self.kinds = kinds
        self.scale = scale

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Judge the columns, and find how each is prepared.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)
            The table: a frame of pandas or polars, or an array.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. They count for the scales of numbers and the shares of categories.

        Returns
        -------
        self
            The fitted transformer.
        """
        columns = self._read(X, reset=True)
        n_rows = len(next(iter(columns.values())))
        if n_rows < 2:
            raise ValueError(f"X must have at least 2 rows, got n_samples={n_rows}.")
        weight = np.ones(n_rows)
        if sample_weight is not None:
            weight = check_weights(sample_weight, np.empty((n_rows, 1)))
        given = _checked_kinds(self.kinds, columns)
        guesses = judge_columns(columns, given, find_categories(X))
        scale = "robust" if self.scale == "auto" else self.scale
        is_judged = set(given.values()) <= {LEFT_OUT}
        if self.scale == "auto" and is_judged and _is_plain(columns, guesses):
            guesses |= {name: Guess("number") for name, g in guesses.items() if _may_count(g)}
            scale = None
        prepared, booleans = [], find_booleans(X)
        for name, guess in guesses.items():
            is_boolean = name in booleans
            try:
                prepared.append(_fit_column(name, columns[name], guess, weight, scale, is_boolean))
            except ColumnError as error:
                if name in given:
                    raise ValueError(
                        f"Column {name!r} cannot be prepared as a {guess.kind}: it has {error}."
                    ) from None
                prepared.append(LeftOut(name, str(error)))
        if not any(column.features for column in prepared):
            (reasons,) = _describe_left_out(prepared)
            raise ValueError(f"X has no column to cluster by; {reasons}; {OTHERWISE}.")
        self.columns_ = prepared
        return self

    def transform(self, X: Any) -> Floats:
        """Make rows of numbers.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)
            A table with the columns that are used.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The rows: float32 if all columns that are used have it, else float64.
        """
        check_is_fitted(self)
        columns = self._read(X, reset=False)
        used = [column for column in self.columns_ if not isinstance(column, LeftOut)]
        parts = [column.transform(columns[column.name]) for column in used]
        is_single = {columns[column.name].dtype for column in used} == {np.dtype(np.float32)}
        rows: Floats = np.hstack(parts, dtype=np.float32 if is_single else np.float64)
        return rows

    def inverse_transform(self, X: Any, backend: Backend | None = None) -> Any:
        """Return rows in the units of the table, such as modes.

        A category is the one with the largest share. Text is left out. Frames have dates and
        booleans as such if the table has; a dict has them as text.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of numbers.
        backend : {"polars", "pandas", "dict"}, optional
            The type of the result. By default, a frame of polars or pandas, whichever is imported
            or else installed, and a dict of arrays if neither is.

        Returns
        -------
        polars.DataFrame, pandas.DataFrame or dict of ndarray
            The table.
        """
        check_is_fitted(self)
        rows: Doubles = np.asarray(X, dtype=np.float64)
        width = sum(len(column.features) for column in self.columns_)
        if rows.ndim != 2 or rows.shape[1] != width:
            raise ValueError(f"X must be rows of {width} features, got shape {rows.shape}.")
        start, table = 0, {}
        for column in self.columns_:
            if isinstance(column, LeftOut):
                continue
            values = column.inverse_transform(rows[:, start : start + len(column.features)])
            start += len(column.features)
            if values is not None:
                table[column.name] = values
        frame = make_frame(table, backend)
        if isinstance(frame, dict):  # as text, whatever is not a number
            is_plain = {name: values.dtype.kind in "fU" for name, values in table.items()}
            return {n: v if is_plain[n] else to_texts(v).astype(str) for n, v in table.items()}
        return frame

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the features, such as ``income`` and ``plan=basic``.

        Parameters
        ----------
        input_features : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        ndarray of shape (n_features,)
            The names.
        """
        check_is_fitted(self)
        names: dict[str, None] = {}
        for column in self.columns_:
            for name in column.features:
                names[unused_column(name, names)] = None
        return np.array(list(names), dtype=object)

    @property
    def is_identity(self) -> bool:
        """Whether rows of the table are not changed."""
        return all(isinstance(c, NumberColumn) and c.is_identity for c in self.columns_)

    @property
    def used_(self) -> list[str]:
        """The names of the columns that are used."""
        return [column.name for column in self.columns_ if not isinstance(column, LeftOut)]

    @property
    def ids_(self) -> list[str]:
        """The names of the columns that are left out as ids."""
        return [c.name for c in self.columns_ if isinstance(c, LeftOut) and c.reason == AN_ID]

    def describe(self) -> list[str]:
        """Say in a few lines what was done to which columns.

        Returns
        -------
        list of str
            The lines.
        """
        check_is_fitted(self)
        lines = _describe_left_out(self.columns_)
        numbers = [c for c in self.columns_ if isinstance(c, NumberColumn)]
        is_scaled = any((column.center, column.scale) != (0.0, 1.0) for column in numbers)
        for title, kind in (
            ("numbers, scaled" if is_scaled else "numbers, as they are", "number"),
            ("dates, as days", "date"),
            ("categories", "category"),
            ("texts, as topics", "text"),
        ):
            if named := [_describe_column(c) for c in self.columns_ if c.kind == kind]:
                lines.append(f"{title}: {_listed(named)}")
        for decimal, meaning in ((",", "thousands"), (".", "decimal points")):
            doubtful = [c for c in numbers if c.doubtful and c.decimal == decimal]
            if named := [f"{c.name} ({c.doubtful[:20]!r})" for c in doubtful]:
                lines.append(f"dots taken as {meaning}: {_listed(named)}; {IF_WRONG}")
        for order in ("day", "month"):
            other = "month" if order == "day" else "day"
            doubtful = [c for c in numbers if c.doubtful and c.begins_with == order]
            if named := [f"{c.name} ({c.doubtful[:20]!r})" for c in doubtful]:
                dates = f"dates read with the {order} before the {other}: {_listed(named)}"
                lines.append(f"{dates}; if that is wrong, convert them to dates before")
        return lines

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return sum(len(column.features) for column in self.columns_)

    def _read(self, X: Any, *, reset: bool) -> dict[str, Values]:
        """Return the columns of a table by name; if not `reset`, those that are used."""
        columns = read_columns(X)
        if columns and not len(next(iter(columns.values()))):
            raise ValueError("X must have at least one row, got none.")
        if columns is None:
            rows = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            fitted = getattr(self, "feature_names_in_", None)
            names = [f"x{j}" for j in range(rows.shape[1])] if fitted is None else fitted
            return dict(zip(names, map(to_values, rows.T), strict=True))
        if reset:
            if not columns:
                raise ValueError("X must have at least one column, got none.")
            self.n_features_in_ = len(columns)
            self.feature_names_in_ = np.array(list(columns), dtype=object)
            return columns
        if not hasattr(self, "feature_names_in_") and len(columns) == self.n_features_in_:
            return {f"x{j}": values for j, values in enumerate(columns.values())}
        if lacking := [name for name in self.used_ if name not in columns]:
            raise ValueError(
                f"X lacks columns that the preparation was fitted on: {_listed(lacking)}; its "
                f"columns are {_listed(columns)}."
            )
        return columns


def _checked_kinds(kinds: Mapping[str, str] | None, names: Iterable[str]) -> dict[str, str]:
    """Return the parameter `kinds`, or raise an error that names what is wrong in it."""
    given, known = {str(name): kind for name, kind in (kinds or {}).items()}, list(names)
    for name, kind in given.items():
        if name not in known:
            raise ValueError(f"kinds names {name!r}, but the columns are {_listed(known)}.")
        if kind not in KINDS:
            raise ValueError(f"kinds[{name!r}] must be one of {', '.join(KINDS)}, got {kind!r}.")
    return given


def _fit_column(
    name: str,
    values: Values,
    guess: Guess,
    weight: Doubles,
    scale: str | None,
    is_boolean: bool,
) -> LeftOut | PreparedColumn:
    if guess.reason:
        return LeftOut(name, guess.reason)
    if guess.kind == "category" or guess.is_binary:
        return CategoryColumn.fit(name, values, weight, is_boolean=is_boolean)
    if guess.kind == "text":
        return TextColumn.fit(name, values, weight)
    return NumberColumn.fit(
        name,
        values,
        weight,
        scale,
        decimal=guess.decimal,
        date_format=guess.date_format,
        unit=guess.unit,
        doubtful=guess.doubtful,
    )


def _may_count(guess: Guess) -> bool:
    """Return whether a column of numbers is clustered if all of them have one scale."""
    return guess.kind != "id" and guess.reason != AS_ASKED


def _is_plain(columns: dict[str, Values], guesses: dict[str, Guess]) -> bool:
    """Return whether a table has only numbers of one scale, apart from ids and constants."""
    used = [values for name, values in columns.items() if _may_count(guesses[name])]
    if not used or not all(
        is_numeric(v) and v.dtype.kind != "b" and np.isfinite(v).all() for v in used
    ):
        return False
    with np.errstate(over="ignore"):
        spreads = np.array([values.astype(np.float64).std() for values in used])
    found = scale_ratio(spreads)
    is_one_scale = found is None or found.ratio <= MAX_SCALE_RATIO
    is_anything = bool(spreads.any()) or len(used) == len(columns)
    has_codes = any(_may_count(g) and g.kind != "number" for g in guesses.values())
    return not has_codes and is_one_scale and is_anything


def _describe_left_out(columns: Iterable[Any]) -> list[str]:
    left = [f"{c.name} ({c.reason})" for c in columns if isinstance(c, LeftOut)]
    return [f"left out: {_listed(left)}"] if left else []


def _describe_column(column: Any) -> str:
    facts = [f"in {column.unit}"] if getattr(column, "unit", "") else []
    if column.missing > 0:
        facts.append(
            "below 1% missing" if column.missing < 0.005 else f"{column.missing:.0%} missing"
        )
    if n_unread := getattr(column, "n_unread", 0):
        facts.append(f"{n_unread:,} not a {column.kind}: {column.unread[:20]!r}")
    if n_rare := getattr(column, "n_rare", 0):
        facts.append(f"{n_rare} rare {'value' if n_rare == 1 else 'values together'}")
    return f"{column.name} ({', '.join(facts)})" if facts else column.name


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(str(name)[:60] for name in names[:MAX_NAMES]) + more
