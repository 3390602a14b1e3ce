"""How much of everything a run does."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """The size of a run: as published, or a quick one that only shows that all works."""

    repeats: int
    quick: bool = False

    @property
    def long_repeats(self):
        """Repeats of what takes a minute or more."""
        return min(self.repeats, 3)

    @property
    def n_bandwidths(self):
        return 20 if self.quick else 100

    @property
    def n_init(self):
        return 2 if self.quick else 20

    @property
    def lloyd_iterations(self):
        """Iterations over which one of K-means is averaged."""
        return 10 if self.quick else 30

    @property
    def shortest_timing(self):
        """Seconds that the fits must take from which an iteration of K-means is timed."""
        return 0.1 if self.quick else 2.0

    @property
    def longest_path(self):
        """Seconds above which the path is spread over the repeats."""
        return 0.5 if self.quick else 15.0
