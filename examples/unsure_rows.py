"""
Which rows are unsure, and which are outliers
=============================================

Every row gets a label, also a row between two clusters and a row far from all of them. These are
two different questions: ``predict_proba`` finds rows between clusters, and ``outlier_scores_``
finds rows that are unlike their own cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import entropy
from sklearn.datasets import load_digits, load_sample_image, make_blobs

from modeclust import KModes

# %%
# In the plane
# ------------
#
# Three groups of different widths, and a few scattered rows. On the left, darker rows are less
# sure: those where clusters meet. On the right, darker rows have a higher outlier score. Rings mark
# scores above 3.

rng = np.random.default_rng(0)
groups, _ = make_blobs(
    [300] * 3, centers=[[0, 0], [5, 0], [3, 8]], cluster_std=[0.7, 1.2, 2], random_state=0
)
X = np.concatenate([groups, rng.uniform([-8, -8], [14, 18], (20, 2))])
model = KModes(3, random_state=0).fit(X)
unsure = entropy(model.predict_proba(X), axis=1)
scores = model.outlier_scores_
is_outlier = scores > 3
print(f"{is_outlier.sum()} of {len(X)} rows have a score above 3,")
print(f"{is_outlier[-20:].sum()} of the 20 scattered rows are among them")

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained", sharex=True, sharey=True)
for ax, values, title in (
    (axes[0], unsure, "entropy of predict_proba"),
    (axes[1], np.clip(scores, 0, 4), "outlier score"),
):
    order = np.argsort(values)
    drawn = ax.scatter(*X[order].T, c=values[order], cmap="viridis_r", s=12)
    figure.colorbar(drawn, ax=ax, shrink=0.8)
    ax.plot(*model.cluster_centers_.T, "kx", ms=9, mew=2)
    ax.set(title=title, aspect="equal")
axes[1].scatter(*X[is_outlier].T, s=70, facecolors="none", edgecolors="C3")
plt.show()

# %%
# Foreign images
# --------------
#
# Among images of handwritten digits are 20 pieces of a photo. They have the highest outlier scores.
# The digits that are least sure are between two digits.

digits = load_digits().data
photo = load_sample_image("flower.jpg").mean(axis=2)
corners = rng.integers(0, np.array(photo.shape) - 32, (20, 2))
pieces = [photo[i : i + 32, j : j + 32].reshape(8, 4, 8, 4).mean(axis=(1, 3)) for i, j in corners]
pieces = np.reshape([16 * (piece - piece.min()) / np.ptp(piece) for piece in pieces], (20, 64))
images = np.concatenate([digits, pieces])
model = KModes(10, random_state=0).fit(images)
farthest = np.argsort(-model.outlier_scores_)[:20]
print(f"{np.sum(farthest >= len(digits))} of the 20 highest scores are those of the photo")

unsure = entropy(model.predict_proba(digits), axis=1)
rows = {
    "highest outlier scores": images[farthest[:10]],
    "least sure digits": digits[np.argsort(-unsure)[:10]],
    "surest digits": digits[np.argsort(unsure)[:10]],
}
figure, axes = plt.subplots(3, 10, figsize=(9, 3.4), layout="constrained")
for line, (title, shown) in zip(axes, rows.items(), strict=True):
    for ax, image in zip(line, shown, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    line[0].set_title(title, loc="left", fontsize=10)
plt.show()
