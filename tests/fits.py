"""Fits that other processes can import."""

from sklearn.datasets import make_blobs

from modeclust import KModes

X, _ = make_blobs(40_000, 3, centers=5, random_state=0)


def centers(n_jobs=2):
    """Return the bits of the centers of a fit with some number of threads."""
    model = KModes(5, bandwidth=1.0, n_bandwidths=3, n_init=2, n_jobs=n_jobs, random_state=0)
    return model.fit(X).cluster_centers_.tobytes()


def fit_with_checkpoint(folder):
    """Fit for a few seconds, from a checkpoint if there is one, and save the model."""
    model = KModes(
        10,
        bandwidth=0.5,
        n_bandwidths=30,
        path_iter=3,
        n_init=30,
        random_state=0,
        checkpoint=folder / "checkpoint",
    )
    (folder / "begun").touch()
    model.fit(X).save(folder / "model.npz")
