"""A random sample of images, and what K-modes and mean-shift find in it."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist, squareform
from sklearn.model_selection import train_test_split

from modeclust import MeanShift, kmodes_path
from modeclust.paper.course import Course
from modeclust.paper.sources import Source
from modeclust.paper.typicality import densities_at, purity
from modeclust.plotting.exemplars import nearest_in_cluster

Doubles = npt.NDArray[np.float64]

N_CLUSTERS = 10
N_NEIGHBORS = 20
FIRST, LAST = 10.0, 1.0
START_OF_SEARCH = 1.8369  # where the paper has ten modes


class Size(NamedTuple):
    """How much is run."""

    n_each: int  # images of each digit
    n_bandwidths: int
    n_init: int
    n_samples: int
    n_trees: int  # samples whose modes are followed over bandwidths
    tree_bandwidths: Doubles


class Removal(NamedTuple):
    """What becomes of a mode when the one nearest to it is removed."""

    removed: int
    kept: int
    center: Doubles  # of the one kept, after the rerun
    taken: float  # share of the rows of the one removed
    moved: float  # over the median distance to the others


class Sample:
    """Images drawn at random, others held out, and what is found in them."""

    def __init__(self, source: Source, size: Size, seed: int) -> None:
        both = source.draw(2 * size.n_each, seed)
        self.X, self.held_out, self.y, _ = train_test_split(
            both.X, both.y, train_size=0.5, stratify=both.y, random_state=seed
        )
        course = Course(FIRST, LAST, size.n_bandwidths)
        self.model = course.follow(self.X, N_CLUSTERS, seed=seed, n_init=size.n_init)
        self.means: Doubles = self.model.path_.centers[0]
        self.modes: Doubles = self.model.cluster_centers_

    @cached_property
    def gms(self) -> MeanShift | None:
        """Mean-shift with ten modes, or None where no bandwidth has so many."""
        search = MeanShift(START_OF_SEARCH, n_clusters=N_CLUSTERS, random_state=0)
        try:
            model: MeanShift = search.fit(self.X)
        except ValueError:
            return None
        return model

    def purity(self, step: int) -> float:
        """Return how much of one class the neighbours of centroids are along the path."""
        point = self.model.path_[step]
        nearest = nearest_in_cluster(self.X, point.labels, point.centers, N_NEIGHBORS)
        return purity(self.y, nearest)

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The two nearest modes, that of higher density first."""
        i, j = nearest_pair(self.modes)
        at_i, at_j = densities_at(self.X, self.modes[[i, j]], LAST)
        return (i, j) if at_i >= at_j else (j, i)

    @property
    def is_redundant(self) -> bool:
        """Whether the density does not dip between the two nearest modes."""
        return tuple(sorted(self.pair)) in self.model.redundant_clusters()

    @cached_property
    def without_lower(self) -> Removal:
        """K = 9 without the lower of the pair, which the higher one makes redundant."""
        return self._remove(self.pair[1], self.pair[0])

    @cached_property
    def without_higher(self) -> Removal:
        """K = 9 without the higher of the pair."""
        return self._remove(*self.pair)

    def _remove(self, removed: int, kept: int) -> Removal:
        stay = np.delete(np.arange(N_CLUSTERS), removed)
        init = self.modes[stay]
        again = kmodes_path(self.X, len(stay), bandwidths=[LAST], init=init, store_labels=True)[-1]
        place = int(np.flatnonzero(stay == kept)[0])
        labels = np.asarray(again.labels)[self.model.labels_ == removed]
        others = np.delete(self.modes, [kept, removed], axis=0)
        apart = np.median(np.linalg.norm(others - self.modes[kept], axis=1))
        move = np.linalg.norm(again.centers[place] - self.modes[kept])
        taken = float(np.mean(labels == place))
        return Removal(removed, kept, again.centers[place], taken, float(move / apart))


def nearest_pair(centers: Doubles) -> tuple[int, int]:
    """Return the two centroids with the smallest distance between them."""
    apart = squareform(pdist(centers))
    np.fill_diagonal(apart, np.inf)
    i, j = np.unravel_index(apart.argmin(), apart.shape)
    return int(i), int(j)
