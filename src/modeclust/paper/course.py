"""The course of K-modes in the paper: from the best of 20 K-means, down given bandwidths."""

from typing import Any, NamedTuple

from modeclust import KModes

N_INIT = 20


class Course(NamedTuple):
    """Bandwidths that fall geometrically, both ends included."""

    first: float
    last: float
    n_bandwidths: int

    def follow(self, X: Any, n_clusters: int, *, seed: int = 0, n_init: int = N_INIT) -> Any:
        """Return K-modes fitted along the course, with the labels at every bandwidth."""
        return KModes(
            n_clusters,
            start_bandwidth=self.first,
            bandwidth=self.last,
            n_bandwidths=self.n_bandwidths,
            n_init=n_init,
            random_state=seed,
            store_labels=True,
        ).fit(X)
