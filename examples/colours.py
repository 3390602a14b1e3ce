"""
Colours: a palette of colours that are common
=============================================

A small palette for a photograph is a clustering of its pixels. The mean of a cluster is the colour
with the smallest error, but it may hardly occur in the photograph: the mean of blue and grey is
neither. A mode is a colour that many pixels almost have.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import KDTree
from sklearn.datasets import load_sample_image
from sklearn.decomposition import PCA

from modeclust import KModes
from modeclust.plotting.palette import COLORS

# %%
# Six colours
# -----------
#
# We cluster a sample of the pixels, and give each pixel the nearest colour of the palette.

photo = load_sample_image("china.jpg")
pixels = photo.reshape(-1, 3).astype(float)
sample = np.random.RandomState(0).choice(len(pixels), 20_000, replace=False)

model = KModes(6, random_state=0).fit(pixels[sample])
palettes = {"K-means": model.path_[0].centers, "K-modes": model.modes_}

figure, axes = plt.subplot_mosaic(
    [["photograph", "K-means", "K-modes"], [".", "means", "modes"]],
    figsize=(11, 3.2),
    height_ratios=[8, 1],
    layout="constrained",
)
axes["photograph"].imshow(photo)
axes["photograph"].set_title("The photograph")
for name, palette in palettes.items():
    _, nearest = KDTree(palette).query(pixels)
    axes[name].imshow(palette[nearest].reshape(photo.shape).astype(np.uint8))
    axes[name].set_title(f"{len(palette)} colours by {name}")
    by_lightness = palette[np.argsort(palette.sum(axis=1))]
    axes[name.removeprefix("K-")].imshow([by_lightness.astype(np.uint8)], aspect="auto")
for ax in axes.values():
    ax.set_axis_off()
plt.show()

# %%
# The sky is blue in the photograph and in the palette of modes, but grey in the palette of means:
# K-means averages it with haze, water and stone. But the tan of the wood is missing among the
# modes: it has many shades, and none of them is common.
#
# How common are the colours?
# ---------------------------
#
# Nearly every colour has a pixel near it, so the distance to the nearest pixel says little. The
# share of pixels within 10 levels says more: modes have many pixels around them, and some means
# have almost none. The error, which K-means minimises, is smaller with the means.

pixel_tree = KDTree(pixels[sample])
print("         nearest pixel,     pixels within 10 levels      error,")
print("         in levels, mean    least   median   most        root mean square")
for name, palette in palettes.items():
    near = np.array([len(rows) for rows in pixel_tree.query_ball_point(palette, 10)]) / len(sample)
    distance, _ = KDTree(palette).query(pixels)
    print(
        f"{name}  {pixel_tree.query(palette)[0].mean():15.1f}    {near.min():5.2%}    "
        f"{np.median(near):5.2%}    {near.max():5.2%}  {np.sqrt(np.mean(distance**2)):15.1f}"
    )

# %%
# Where the pixels are
# --------------------
#
# The plot shows the pixels in the plane of their first two principal components. Darker areas have
# more pixels. An arrow leads from each mean to its mode, where there are more pixels.

plane = PCA(2).fit(pixels[sample])
figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
hexagons = ax.hexbin(
    *plane.transform(pixels[sample]).T, bins="log", gridsize=70, cmap="Greys", mincnt=1
)
figure.colorbar(hexagons, label="pixels in a hexagon", shrink=0.8)
for (name, palette), marker in zip(palettes.items(), "so", strict=True):
    ax.scatter(
        *plane.transform(palette).T,
        s=110,
        c=palette / 255,
        marker=marker,
        edgecolor=COLORS[6],
        linewidth=1.8,
        label=name,
        zorder=3,
    )
for mean, mode in zip(*map(plane.transform, palettes.values()), strict=True):
    ax.annotate("", mode, mean, arrowprops={"arrowstyle": "->", "color": COLORS[6]}, zorder=2)
ax.set(xlabel="first principal component, in levels", ylabel="second, in levels", aspect="equal")
ax.legend()
plt.show()
