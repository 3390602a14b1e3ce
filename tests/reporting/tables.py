"""A table of customers with every kind of column, and a pipeline that clusters some of them."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from modeclust import KModes

WORDS = [
    ["cheap", "price", "discount", "coupon", "bargain"],
    ["support", "answer", "helpful", "friendly", "phone"],
    ["quality", "design", "material", "durable", "finish"],
]


def customers(n_rows=300):
    """Return a table with numbers, categories, booleans, dates, texts, ids and missing values."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n_rows)
    day = pd.Timestamp("2019-01-01")
    plan = np.where(rng.random(n_rows) < 0.9, group, rng.integers(0, 3, n_rows))
    table = pd.DataFrame(
        {
            "CustomerID": 10_000 + rng.permutation(n_rows),
            "Income": np.array([30e3, 60e3, 90e3])[group] + rng.normal(0, 4e3, n_rows),
            "Age": rng.integers(20, 80, n_rows),
            "Plan": np.array(["basic", "pro", "team"])[plan],
            "Owner": rng.random(n_rows) < np.array([0.1, 0.5, 0.9])[group],
            "Since": day + pd.to_timedelta(group * 400 + rng.integers(0, 200, n_rows), "D"),
            "Accepted": (rng.random(n_rows) < 0.1 + 0.3 * group).astype(int),
            "Country": "NL",
            "Comment": [
                " ".join(["the", *rng.choice(WORDS[g], 4), "of", "order", "was", "good"])
                for g in group
            ],
        }
    )
    table.loc[::9, "Income"] = np.nan
    table.loc[::7, "Plan"] = None
    return table


def customer_pipeline(table, **options):
    """Return a fitted pipeline that imputes, scales and encodes two numbers and a category."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    plan = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    prepare = ColumnTransformer([("n", numbers, ["Income", "Age"]), ("c", plan, ["Plan"])])
    model = KModes(**{"n_clusters": 3, "random_state": 0} | options)
    return make_pipeline(prepare, model).fit(table)
