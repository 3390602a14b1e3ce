"""Tables with columns of every kind become rows of numbers, and models of them files."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

import modeclust
from modeclust import KModes
from modeclust.exceptions import UnknownCategoriesWarning
from properties.checking import is_refused, outcome
from properties.drawing import IGNORED, SEED, data, holds_for, of_rows

WORDS = ("late", "good", "parcel", "arrived", "again", "never", "price", "thanks")


def columns(rows, seed=0):
    """Return columns of every kind beside those of the rows, some of them with gaps."""
    rng, n_rows = np.random.default_rng(seed), len(rows.dense)
    table = {f"n{j}": values.astype(float) for j, values in enumerate(rows.dense.T)}
    table["plan"] = rng.choice(["basic", "pro", None, "?"], n_rows)
    table["paid"] = rng.choice([True, False], n_rows)
    table["price"] = [f"${value:,.2f}" for value in rng.lognormal(8, 1, n_rows)]
    table["day"] = [f"{day:02}.03.2030" for day in rng.integers(1, 31, n_rows)]
    table["customer_id"] = [f"c{i:03}" for i in range(n_rows)]
    table["note"] = [" ".join(rng.choice(WORDS, 6)) for _ in range(n_rows)]
    return table


def _frame(kind):
    return of_rows(
        f"a frame of {kind.__module__.split('.')[0]}",
        lambda rows, _: kind({name: list(values) for name, values in columns(rows).items()}),
    )


FRAME = st.one_of(_frame(pd.DataFrame), _frame(pl.DataFrame))
KINDS = st.sampled_from([None, {"price": "number", "day": "date"}, {"day": "category"}])
WEIGHT = of_rows("its weights", lambda rows, _: rows.weight)
UNITS = of_rows("rows of units", lambda rows, _: np.eye(3))


def _prepared(fitted, new):
    """Return rows of a table in which no plan is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        return fitted.transform(new)


def _refusal(rows, kinds, found):
    if len(rows.dense) < 2:
        return "must have at least 2 rows"
    if not rows.present.any():
        return "at least one non-zero"
    # Few rows may have one day, and many rows too many days.
    is_category = kinds == {"day": "category"} and isinstance(found, ValueError)
    return "'day' cannot be .* category: it has (constant|too many values)" if is_category else None


@holds_for(
    {
        "TablePreparation": {
            "kinds": KINDS,
            "scale": st.sampled_from(["auto", "robust", "standard", None]),
        },
        "TablePreparation.fit": {"X": FRAME, "y": IGNORED, "sample_weight": WEIGHT},
        "TablePreparation.transform": {"X": FRAME},
        "TablePreparation.fit_transform": {"X": FRAME, "y": IGNORED, "fit_params": st.just({})},
        "TablePreparation.inverse_transform": {
            "X": UNITS,
            "backend": st.sampled_from(["dict", "pandas", "polars", None]),
        },
        "TablePreparation.get_feature_names_out": {"input_features": IGNORED},
        "TablePreparation.describe": {},
        "TablePreparation.set_output": {"transform": st.just("default")},
        "save": {"model": st.none(), "path": st.just("table.npz")},
    },
    data(scales=False),
    SEED,
)
def a_table_becomes_rows_and_its_model_a_file(ask, rows, seed):
    made = ask("TablePreparation", rows)
    ask("TablePreparation.set_output", rows, made)
    fitted = outcome(ask, "TablePreparation.fit", rows, made)
    if is_refused(fitted, _refusal(rows, made.kinds, fitted)):
        return
    X = ask("TablePreparation.transform", rows, fitted)
    names = ask("TablePreparation.get_feature_names_out", rows, fitted)
    assert X.shape == (len(rows.dense), len(names))
    assert np.isfinite(X).all()
    assert len(set(names)) == len(names)
    told = " ".join(ask("TablePreparation.describe", rows, fitted))
    assert all(column.name in told for column in fitted.columns_[:2])
    # New rows, in another order of columns, with values that were never seen.
    new = columns(rows, seed) | {"plan": ["never seen"] * len(rows.dense)}
    new = pl.DataFrame(dict(reversed(new.items())), strict=False)
    assert np.isfinite(_prepared(fitted, new)).all()
    back = ask("TablePreparation.inverse_transform", rows, fitted, X=X)
    back = {name: np.asarray(back[name]) for name in getattr(back, "columns", back)}
    given = columns(rows)
    for column in fitted.columns_:
        if column.kind == "number" and column.name in given and column.name[0] == "n":
            values = np.clip(given[column.name], column.low, column.high)
            size = np.abs(values).max() + column.scale
            np.testing.assert_allclose(back[column.name], values, rtol=0, atol=1e-9 * size)
    again = ask("TablePreparation.fit_transform", rows, ask("TablePreparation", rows))
    assert again.shape[0] == len(X)
    pipeline = make_pipeline(fitted, KModes(1, random_state=0).fit(X))
    ask("save", rows, model=pipeline)
    loaded = modeclust.load(Path("table.npz"))
    np.testing.assert_array_equal(_prepared(loaded[0], new), _prepared(fitted, new))
    assert loaded[0].describe() == fitted.describe()
