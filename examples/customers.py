"""
Groups of customers in a messy table
====================================

Tables of customers have ids, dates, categories, amounts as text, missing values, and columns of
very different units. ``TablePreparation`` makes rows of numbers of them, and ``KModes`` finds the
groups.

The table is made up, and resembles a well-known one of a marketing campaign. So we
know the four groups that are to be found.
"""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from modeclust import KModes, TablePreparation, report

N = 2240
rng = np.random.default_rng(0)
group = rng.choice(4, N, p=[0.3, 0.3, 0.2, 0.2])


def of_group(values):
    """Return the value of each row's group."""
    return np.array(values)[group]


table = pd.DataFrame({"ID": rng.permutation(12_000)[:N]})
table["born"] = rng.normal(of_group([1974, 1955, 1962, 1988]), 6).round()
table.loc[:2, "born"] = 1893  # surely errors
income = rng.lognormal(np.log(of_group([45e3, 62e3, 78e3, 27e3])), 0.22)
table["income"] = [f"${value:,.2f}" for value in income]
table.loc[rng.random(N) < 0.011, "income"] = None
degrees = np.array(["graduate", "PhD", "master", "basic"])
table["education"] = degrees[(group + rng.choice([0, 0, 1, 2, 3], N)) % 4]
table["status"] = rng.choice(
    ["married", "single", "divorced", "YOLO"], N, p=[0.6, 0.3, 0.098, 0.002]
)
table["children"] = rng.poisson(of_group([1.8, 0.5, 0.1, 0.6]))
days = pd.to_timedelta(rng.integers(0, 700, N), "D")
table["customer since"] = (pd.Timestamp("2012-07-30") + days).strftime("%d-%m-%Y")
for name, means in {
    "wine": [120, 420, 650, 30],
    "fruit": [15, 30, 70, 8],
    "meat": [60, 160, 450, 25],
    "fish": [20, 40, 100, 10],
}.items():
    table[name] = rng.gamma(1.3, of_group(means) / 1.3).round()
for name, means in {
    "deals": [4, 2, 1, 2.5],
    "web": [4, 6, 5, 2],
    "store": [5, 8, 8, 3],
    "visits": [6, 4, 2.5, 7],
}.items():
    table[name] = rng.poisson(of_group(means))
table["accepted"] = rng.random(N) < of_group([0.1, 0.1, 0.3, 0.1])
table["cost of contact"] = 3
print(table.head())

# %%
# The pipeline says in a few lines what it did to the columns.

model = make_pipeline(TablePreparation(), KModes(n_clusters=4, random_state=0)).fit(table)
print("\n".join(model[0].describe()))

# %%
# The modes are the typical customers, in the units of the table.

typical = model[0].inverse_transform(model[-1].modes_, "pandas")
typical.insert(0, "customers", model[-1].counts_)
print(typical.T.to_string())

# %%
# How much does the preparation matter? The adjusted Rand index compares the clusters with the true
# groups; 1 is a perfect match. The usual way, to scale all numbers and to encode all text, takes
# incomes for thousands of categories. Of numbers as they are, only the one with the largest unit
# counts: the id. Given the frame itself, a fit warns about that column.

numbers = make_pipeline(SimpleImputer(), StandardScaler())
usual = make_column_transformer(
    (numbers, make_column_selector(dtype_include="number")),
    (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number")),
)
for name, rows in {
    "prepared": model[0].transform(table),
    "the usual way": usual.fit_transform(table),
    "only numbers, as they are": table.select_dtypes("number").to_numpy(),
}.items():
    labels = KModes(n_clusters=4, random_state=0).fit(rows).labels_
    print(f"{name}: {adjusted_rand_score(group, labels):.2f}")

# %%
# The report of the pipeline shows each group in the units of the table, with real customers as
# examples.

report(model, table, path=None, title="Customers")
