"""
Typical rows of a table of measurements
=======================================

A table has columns in different units, and a cluster of its rows should be told in those units:
what does a typical row measure? A mean is an average over all rows, odd ones too. A medoid is one
row, with all that is odd about it. A mode is an average over rows that are much alike.

The table is the wine data of scikit-learn: thirteen measurements of each of 178 wines from three
growers, of which the names are not used.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from modeclust import KModes, estimate_bandwidth
from modeclust.plotting.palette import COLORS

table = load_wine(as_frame=True).data.rename(
    columns={"od280/od315_of_diluted_wines": "od280/od315"}
)
print(table.describe().loc[["min", "50%", "max"]].T.round(2))

# %%
# Units must not decide which rows are alike, so that the columns are scaled first. With
# ``set_output(transform="pandas")`` each step hands on a frame, with names.

pipeline = make_pipeline(StandardScaler(), KModes(n_clusters=3, random_state=0))
pipeline.set_output(transform="pandas")
scaled = pipeline[:-1].fit_transform(table)

# %%
# In thirteen dimensions the estimated bandwidth smooths a lot: the density has one peak for all
# clusters, and they count as redundant. It is lowered until each has a peak of its own.

for share in (1.0, 0.8, 0.6, 0.4):
    bandwidth = share * estimate_bandwidth(scaled)
    model = pipeline.set_params(kmodes__bandwidth=bandwidth).fit(table)[-1]
    print(f"bandwidth {bandwidth:.2f}: redundant pairs {model.redundant_clusters()}")

# %%
# ``transform`` gives the distance of each row to each mode, named after the step.

print(pipeline.transform(table).round(2).head())

# %%
# Now the three kinds of typical rows. The means are the start of the path. The medoid of a cluster
# is the row with the least sum of distances to the others.

medoids = []
for k in range(3):
    own = scaled[model.labels_ == k]
    medoids.append(own.iloc[pairwise_distances(own).sum(axis=0).argmin()])
typical = {
    "mean": model.path_[0].centers,
    "medoid": np.array(medoids),
    "mode": model.cluster_centers_,
}

# %%
# The scaler takes them back to the units of the table.

scaler = pipeline[0]
in_units = {
    (f"cluster {k}", name): row
    for k in range(3)
    for name, rows in typical.items()
    for row in scaler.inverse_transform(rows[[k]])
}
print(pd.DataFrame(in_units, index=table.columns).round(2).to_string())

# %%
# How typical is typical? A number for it is the mean distance to the ten nearest other rows, in
# standard deviations of the columns.

for name, rows in typical.items():
    distances = pairwise_distances(rows, scaled)
    distances[distances == 0] = np.inf  # a medoid to itself
    print(f"{name:>6}: {np.sort(distances)[:, :10].mean(axis=1).round(2)}")

# %%
# In the picture, grey dots are the rows of each cluster. Where a column is skewed, the mean is
# drawn to the long side and the mode is where the dots are thick; elsewhere they agree. Medoids
# are true rows, and in some columns odd ones. On the right are the values of the mode.

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
