"""The size of a benchmark run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """The size of a run: as published, or quick, to check that everything works."""

    repeats: int
    quick: bool = False

    @property
    def long_repeats(self):
        """Number of repeats of parts that take a minute or more."""
        return min(self.repeats, 3)

    @property
    def n_seeds(self):
        """Number of seeds over which the quality of a clustering is averaged."""
        return 2 if self.quick else 5

    @property
    def n_bandwidths(self):
        return 20 if self.quick else 100

    @property
    def n_init(self):
        return 2 if self.quick else 20

    @property
    def lloyd_iterations(self):
        """Number of K-means iterations to average over."""
        return 10 if self.quick else 30

    @property
    def shortest_timing(self):
        """Minimum total time in seconds of the fits that time an iteration of K-means."""
        return 0.1 if self.quick else 2.0

    @property
    def longest_path(self):
        """Time in seconds above which the path is divided among the repeats."""
        return 0.5 if self.quick else 15.0
