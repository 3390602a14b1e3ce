"""
How many clusters?
==================

:func:`modeclust.suggest_clusters` answers by two tests of different kinds. If they agree, the
answer is sure. If not, it says what both have found, and you look at the picture and decide.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from modeclust import KModes, suggest_clusters

# %%
# Six clusters in five dimensions. Both tests find six.

X, _ = make_blobs(600, n_features=5, centers=6, random_state=0)
found = suggest_clusters(X, random_state=0)
print("blobs:", found)

# %%
# The picture shows why. Above: five peaks of the density are higher than chance explains, and with
# the highest one they are six; and from seven clusters on, there is a pair without a dip between
# them. Below: the last two clusters that were merged have one hump, so they were one cluster. The
# closest two of those that are left have two humps.

found.plot()
plt.show()

# %%
# Clusters that are not convex have the right number of peaks, but K-means cuts each of them into
# several convex ones, which have dips between them. In two dimensions, the peaks give the answer.
# It is not called sure.

X, y = make_moons(1000, noise=0.06, random_state=0)
found = suggest_clusters(X, random_state=0)
print("moons:", found)
print(f"agreement with the moons: {adjusted_rand_score(y, found.labels):.2f}")

fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.scatter(*X.T, c=found.labels, cmap="coolwarm", s=8)
ax.set_title(f"{found.n_clusters} clusters by peaks")
plt.show()

# %%
# A single cluster is found to be one, in any number of dimensions.

rng = np.random.default_rng(0)
for n_features in (2, 20, 200):
    print(f"normal, {n_features} dimensions:", suggest_clusters(rng.normal(size=(500, n_features))))

# %%
# Handwritten digits: some of the ten digits are written in several ways, and others run into each
# other. So there is no number that is plainly right, and it says so.

X, y = load_digits(return_X_y=True)
found = suggest_clusters(X, random_state=0)
print("digits:", found)
found.plot()
plt.show()

# %%
# ``KModes("auto")`` takes the suggested number, and warns if it is not sure. Here it is.

X, _ = make_blobs(600, n_features=5, centers=6, random_state=0)
model = KModes("auto", random_state=0).fit(X)
print("KModes:", model.n_clusters_, "clusters of", model.counts_, "rows")
