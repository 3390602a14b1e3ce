"""
A million rows on a Dask cluster
================================

:class:`modeclust.KModes` accepts a Dask array in place of an array in memory. The rows stay on the
workers. In each pass, the centers are sent to the workers, and they return a few sums. Here, the
workers are two processes on this machine. For a remote cluster, only the client is different.
"""

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster
from matplotlib.colors import LogNorm

from modeclust import KModes
from modeclust.plotting.palette import COLORS

N_CHUNKS, CHUNK_SIZE = 20, 50_000

# %%
# The rows are five comets on a ring. Each has a dense head, and a tail that points outwards. Chunks
# are drawn on the workers, just as they would be read from files there.


@dask.delayed
def draw_chunk(seed):
    rng = np.random.default_rng(seed)
    tail = rng.exponential(2.0, CHUNK_SIZE) * (rng.random(CHUNK_SIZE) < 0.6)
    along = 2 + tail + rng.normal(0, 0.15, CHUNK_SIZE)
    across = rng.normal(0, 0.15 + 0.1 * tail)
    angle = rng.integers(5, size=CHUNK_SIZE) * 2 * np.pi / 5
    x = along * np.cos(angle) - across * np.sin(angle)
    y = along * np.sin(angle) + across * np.cos(angle)
    return np.column_stack([x, y])


def rows_in_chunks():
    shape = (CHUNK_SIZE, 2)
    return da.concatenate(
        [da.from_delayed(draw_chunk(seed), shape, dtype=float) for seed in range(N_CHUNKS)]
    )


# %%
# The plot is made from counts, which the workers also compute chunk by chunk. So no step needs all
# rows in one process.


def draw(rows, model):
    sides = [np.linspace(-9, 9, 241)] * 2
    counts, *_ = da.histogram2d(rows[:, 0], rows[:, 1], bins=sides)
    fig, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
    image = ax.pcolormesh(*sides, counts.compute().T, norm=LogNorm(vmin=1), cmap="Greys")
    fig.colorbar(image, ax=ax, label="rows in a cell")
    looks = {"linestyle": "", "markersize": 9, "markeredgecolor": "white"}
    means, modes = model.path_[0].centers, model.modes_
    ax.plot(*means.T, marker="s", color=COLORS[2], label="K-means", **looks)
    ax.plot(*modes.T, marker="o", color=COLORS[0], label="K-modes", **looks)
    ax.set(xlabel="x", ylabel="y", aspect="equal", title=f"{len(rows):,} rows in chunks")
    ax.legend(loc="upper right")


# %%
# Each worker process imports this script. So the code that starts the workers must be under
# ``if __name__ == "__main__":``. Otherwise each worker would start more workers.
#
# ``fit`` keeps the chunks on the workers and returns the modes. ``labels_`` is a Dask array: it is
# computed only when it is needed, here to count the rows of each cluster on the workers. The last
# lines fit the same rows in memory, and find the same modes and labels.
#
# In the plot, the mean is between head and tail, where there are few rows. The mode is in the head.

if __name__ == "__main__":
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        rows = rows_in_chunks()
        model = KModes(n_clusters=5, random_state=0).fit(rows)
        print("labels:", model.labels_)
        print("rows in each cluster:", da.bincount(model.labels_, minlength=5).compute())
        draw(rows, model)
        labels, X = dask.compute(model.labels_, rows)

    in_memory = KModes(n_clusters=5, random_state=0).fit(X)
    gap = np.abs(model.modes_ - in_memory.modes_).max()
    print(f"modes differ by {gap:.1g}, and {np.sum(labels != in_memory.labels_)} labels differ")
    plt.show()
