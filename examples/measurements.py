"""
Typical rows of a table of measurements
=======================================

The columns of a table have different units, and a cluster should be described in these units: what
is a typical row? A mean averages all rows, including unusual ones. A medoid is one row, with all
its peculiarities. A mode averages rows that are similar.

The table is the wine data of scikit-learn: thirteen measurements of 178 wines from three growers.
The names of the growers are not used.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from modeclust import KModes
from modeclust.plotting.palette import COLORS

table = load_wine(as_frame=True).data.rename(
    columns={"od280/od315_of_diluted_wines": "od280/od315"}
)
print(table.describe().loc[["min", "50%", "max"]].T.round(2))

# %%
# The result must not depend on the units, so the columns are scaled first. With
# ``set_output(transform="pandas")``, each step returns a data frame with column names.

pipeline = make_pipeline(StandardScaler(), KModes(n_clusters=3, random_state=0))
pipeline.set_output(transform="pandas")
model = pipeline.fit(table)[-1]
scaled = pipeline[:-1].transform(table)
print(
    f"rows in each cluster: {model.counts_}, averaged by its mode: {model.rows_averaged_.round()}"
)

# %%
# Would other wines give the same clusters? ``stability`` fits the model to bootstrap samples of the
# rows. A similarity from 0.85 on is a stable cluster.

print(f"similarity: {model.stability(scaled).jaccard.round(2)}")

# %%
# ``transform`` returns the distance of each row to each center. The columns are named after the
# step.

print(pipeline.transform(table).round(2).head())

# %%
# There are three kinds of typical rows. The means are the start of the path. The medoid of a
# cluster is the row with the smallest sum of distances to the other rows.

medoids = []
for k in range(3):
    own = scaled[model.labels_ == k]
    medoids.append(own.iloc[pairwise_distances(own).sum(axis=0).argmin()])
typical = {
    "mean": model.path_[0].centers,
    "medoid": np.array(medoids),
    "mode": model.modes_,
}

# %%
# The scaler converts them back to the units of the table.

scaler = pipeline[0]
in_units = {
    (f"cluster {k}", name): row
    for k in range(3)
    for name, rows in typical.items()
    for row in scaler.inverse_transform(rows[[k]])
}
print(pd.DataFrame(in_units, index=table.columns).round(2).to_string())

# %%
# How typical are they? One measure is the mean distance to the ten nearest other rows, in standard
# deviations of the columns.

for name, rows in typical.items():
    distances = pairwise_distances(rows, scaled)
    distances[distances == 0] = np.inf  # a medoid to itself
    print(f"{name:>6}: {np.sort(distances)[:, :10].mean(axis=1).round(2)}")

# %%
# In the plot, grey dots are the rows of each cluster. If a column is skewed, the mean is shifted to
# the long tail, and the mode is where most dots are; otherwise they agree. Medoids are real rows,
# and have unusual values in some columns. On the right are the values of the mode.

fig, axes = plt.subplots(1, 3, figsize=(11, 5.2), sharex=True, sharey=True, layout="constrained")
looks = {"mean": ("s", COLORS[2]), "medoid": ("D", COLORS[1]), "mode": ("o", COLORS[0])}
places = np.arange(table.shape[1])
for k, ax in enumerate(axes):
    for place, column in enumerate(table.columns):
        own = scaled.loc[model.labels_ == k, column]
        ax.plot(own, np.full(len(own), place), "o", color="0.5", alpha=0.2, ms=4, mec="none")
        value = in_units[f"cluster {k}", "mode"][place]
        ax.text(4.9, place, f"{value:.{0 if value >= 100 else 2}f}", ha="right", va="center")
    for name, (marker, color) in looks.items():
        ax.plot(typical[name][k], places, marker, color=color, ms=8, mec="white", label=name)
    ax.set(title=f"cluster {k}: {model.counts_[k]} wines", xlim=(-3, 5))
    ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)
axes[0].set_yticks(places, [name.replace("_", " ") for name in table.columns])
axes[0].invert_yaxis()
axes[1].set_xlabel("value, in standard deviations from the mean of the table")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()
