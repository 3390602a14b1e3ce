"""Streaming K-modes: the model is updated batch by batch."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modeclust._sklearn import available_if, fit_context, with_callbacks
from modeclust.data.memory import open_dataset, thread_count
from modeclust.data.mode_pass import to_unit_length
from modeclust.data.reading import is_dask
from modeclust.data.validation import (
    check_rows,
    check_scales,
    check_weights,
    relative_scales,
    rescaling_for_new,
)
from modeclust.estimators.checkpoint import Checkpoint
from modeclust.estimators.fit_path import PathEstimator
from modeclust.estimators.problem import Problem, Record
from modeclust.estimators.saving import SavingMixin
from modeclust.solvers.streaming import SufficientStatistics, update, update_modes


def _takes_batches(model: "PartialFitMixin") -> bool:
    """Raise an error if the model is adaptive."""
    if model.adaptive:
        raise AttributeError(
            "partial_fit needs adaptive=False: the scale of a row depends on its neighbours among "
            "all rows, which are not in the batch. Pass sample_scale instead."
        )
    return True


class PartialFitMixin(PathEstimator, SavingMixin):
    """Adds `partial_fit` to an estimator with a path."""

    adaptive: bool
    half_life: float
    n_steps_: int
    n_samples_seen_: int
    mode_bandwidths_: npt.NDArray[np.float64]
    _statistics: SufficientStatistics  # of all rows so far
    _mode_statistics: SufficientStatistics | None  # the same at the modes, if they differ

    @available_if(_takes_batches)
    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, sample_scale: Any = None
    ) -> Self:
        r"""Update the model with a batch of rows.

        The first batch is fitted as by `fit`. It must have `n_clusters` distinct rows, and it
        determines the bandwidth. A larger first batch gives a better start and a better bandwidth.
        After `fit`, the data of that fit are the first batch. Each further batch moves the modes.
        Its size hardly matters; one row is enough.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights q >= 0 of the rows, on the same scale in all batches.
        sample_scale : array-like of shape (n_samples,), default=None
            Scales s > 0 that multiply the bandwidth at each row, on the same scale in all batches.
            With ``adaptive=True`` there is no `partial_fit`: those scales depend on all rows.

        Returns
        -------
        self
            The estimator. The notes of the class describe its attributes after a batch.

        Notes
        -----
        Earlier rows are not stored. For each cluster, the model keeps the sums of the mode step
        :math:`M_k = \sum_n w_n` and :math:`S_k = \sum_n w_n x_n`, with the weight
        :math:`w_n = q_n g(\|x_n - c_k\|^2 / (\sigma s_n)^2) / s_n^2` of a row at the mode after its
        own batch. A new batch is fitted together with these sums, which are discounted by a factor
        f: up to `path_iter` times, its rows B are assigned to their nearest modes, and

        .. math:: c_k = \frac{f S_k + \sum_{n \in B_k} w_n x_n}{f M_k + \sum_{n \in B_k} w_n}

        with the weights w at the modes of the last iteration. Then the sums of the batch are added
        to :math:`f M_k` and :math:`f S_k`. The profiles of all kernels are convex. Therefore the
        sums give a lower bound on the objective of the earlier rows, and no iteration lowers the
        objective of the batch plus this bound. With ``bandwidth=np.inf`` it is on-line K-means.

        The bound belongs to earlier modes, so its influence must decrease. When m rows follow n
        rows, the factor is

        .. math:: f = \min\{(n / (n + m))^2, 2^{-m / \mathrm{half\_life}}\}

        The result hardly depends on the sizes of the batches, and a row of weight 2 counts as two
        rows. Without a half-life, row i of n has the weight :math:`(i / n)^2`: on a shuffled
        stream, the modes converge to those of `fit`. With a half-life, the modes follow clusters
        that move. They depend on about the last 1.44 half-lives, and are as uncertain as a fit of
        about twice as many rows. A cluster without new rows keeps its mode while its sums decrease.

        Accuracy, measured as the distance to the modes that K-modes on all rows reaches from those
        of the first batch, after one pass over a shuffled stream in 100 batches: at most 0.05
        bandwidths for iris repeated 100 times, the digits repeated 10 times, and 20,000 rows of
        blobs in 2 and in 16 dimensions, at the bandwidth of the first batch. For 20,000 images of
        MNIST, with a tenth of them in the first batch: at most 0.13, with a median of 0.03.

        The speed of convergence depends on the bandwidth: an error shrinks as
        :math:`n^{-3 (1 - r)}`, where r is the factor by which one mode step shrinks it. Modes are
        :math:`1 / (1 - r)` times 1.44 half-lives behind clusters that move. For a round cluster of
        standard deviation d and the gaussian kernel, :math:`r = d^2 / (d^2 + \sigma^2)`. If the
        bandwidth is much smaller than the clusters, convergence is slow: use a large first batch.
        The rule "knn" gives a smaller bandwidth for more rows: pass a number that suits the whole
        stream.

        References
        ----------
        Mairal, J. (2013). Stochastic majorization-minimization algorithms for large-scale
        optimization. Advances in Neural Information Processing Systems 26.

        Cappé, O. & Moulines, E. (2009). On-line expectation-maximization algorithm for latent
        data models. Journal of the Royal Statistical Society B 71, 593-613.

        Examples
        --------
        >>> import numpy as np
        >>> from modeclust import KModes
        >>> rng = np.random.default_rng(0)
        >>> model = KModes(2, bandwidth=1.0, half_life=100, random_state=0)
        >>> for step in range(100):
        ...     middles = np.array([[0.0, 0.0], [10.0, 0.05 * step]])  # the second one moves
        ...     batch = rng.normal(middles[rng.integers(2, size=50)])
        ...     model = model.partial_fit(batch)
        >>> model.n_samples_seen_
        5000
        >>> bool(abs(model.cluster_centers_[:, 1].max() - 4.95) < 1)
        True
        """
        if is_dask(X):
            raise TypeError(
                "partial_fit takes batches in memory, got a Dask collection; pass it to fit, or "
                "pass its chunks one by one."
            )
        if hasattr(self, "_statistics"):
            self._fit_batch(X, sample_weight, sample_scale)
        else:
            self._fit_path(X, y, sample_weight, sample_scale, Checkpoint.of(self))
        return self

    def _fit_batch(self, X: Any, sample_weight: Any, sample_scale: Any) -> None:
        """Fit a batch together with the statistics of the earlier rows."""
        self._check_unchanged()
        statistics, unit = self._statistics, self._statistics.scale
        X = check_rows(X, estimator=self, reset=False)
        weight = check_weights(sample_weight, X)
        scale = check_scales(sample_scale, X)
        if scale is not None or unit != 1.0:
            scale = relative_scales(scale, unit, X.shape[0])
        n_threads = thread_count(self.n_jobs)
        metric = self._fitted_with["metric"]
        rescaling = rescaling_for_new(X, self.cluster_centers_, self.bandwidth_, n_threads, metric)
        n_clusters = len(self.cluster_centers_)
        # New rows have no labels to keep.
        options = replace(self._solver_options(self._fitted_with["kernel"]), reassign=True)
        with open_dataset(
            X, rescaling, weight=weight, scale=scale, n_clusters=n_clusters, n_threads=n_threads
        ) as dataset:
            problem = Problem(
                X, dataset, rescaling, options, n_clusters, n_threads, mean_scale=unit
            )
            state, statistics = update(
                dataset,
                replace(statistics, centers=rescaling.to_internal(statistics.centers)),
                float(problem.bandwidth_to_internal(self.bandwidth_)),
                options,
                half_life=self.half_life,
                start=_directions(statistics, self.cluster_centers_, metric),
            )
            record = Record.begin(problem, self.store_labels, 2)
            record.add(state)
            record.round_labelled()
            modes = self._mode_statistics
            if modes is not None:
                state, modes = update_modes(
                    dataset,
                    replace(modes, centers=rescaling.to_internal(modes.centers)),
                    problem.bandwidth_to_internal(self.mode_bandwidths_),
                    options,
                    half_life=self.half_life,
                    start=_directions(modes, self.modes_, metric),
                )
                record.add(state)
            attributes = self._fitted_attributes(record)
        for name, found in {"_statistics": statistics, "_mode_statistics": modes}.items():
            if found is not None:
                found = replace(found, centers=rescaling.to_original(found.centers))
            attributes[name] = found
        # A bandwidth that was chosen from the data stays so, also if it is now given as a number.
        attributes["_fitted_with"] = self._fitted_with
        attributes["n_steps_"] = self.n_steps_ + 1
        attributes["n_samples_seen_"] = self.n_samples_seen_ + X.shape[0]
        self._store(attributes)

    def _loaded_checks(self) -> Iterator[tuple[str, bool, str]]:
        yield from super()._loaded_checks()
        for name in ("n_steps_", "n_samples_seen_"):
            value = vars(self)[name]
            yield name, type(value) is int and value > 0, "an integer > 0"
        size, width = self.cluster_centers_.shape
        for name in ("_statistics", "_mode_statistics"):
            statistics = vars(self)[name]
            is_right = isinstance(statistics, SufficientStatistics)
            is_right = is_right and statistics.centers.shape == (size, width)
            is_right |= statistics is None and name == "_mode_statistics"
            yield name, is_right, f"sums of {size} clusters in {width} features"

    def _check_unchanged(self) -> None:
        """Raise an error if a parameter that the first batch determined was changed."""
        for name, settled in self._fitted_with.items():
            value = getattr(self, name)
            if value != settled and not (name == "bandwidth" and value == self.bandwidth_):
                raise ValueError(
                    f"{name} must stay {settled!r}, as in the first batch, got {value!r}; set it "
                    "back, or call fit to start again."
                )


def _directions(
    statistics: SufficientStatistics, centers: npt.NDArray[Any], metric: str
) -> npt.NDArray[np.float64] | None:
    """Return where a batch starts with the metric "cosine"; None with others."""
    if metric != "cosine":
        return None
    return to_unit_length(statistics.centers, centers.astype(np.float64))
