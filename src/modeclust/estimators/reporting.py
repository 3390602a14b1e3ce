"""The report of a fitted model."""

import os
from collections.abc import Sequence
from typing import Any

from modeclust.reporting.page import Report, check_installed, check_target
from modeclust.reporting.summarize import summarize


class ReportMixin:
    """Adds `report` to an estimator with a path."""

    def report(
        self,
        X: Any,
        y: Any = None,
        path: str | os.PathLike[str] | None = "report.html",
        image_shape: Sequence[int] | None = None,
        feature_names: Sequence[str] | None = None,
        title: str | None = None,
        *,
        notes: Sequence[str] = (),
        sample_weight: Any = None,
        sample_scale: Any = None,
    ) -> Report:
        """Write a page on which one slides along the path, from K-means to the target.

        The page is one file that needs no network: a map of the rows, the centroids with
        the rows nearest to them, curves over the bandwidth, a table of the clusters. Of more than
        5,000 rows the map draws a sample. Needs the extra ``modeclust[report]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data that the model was fitted on. Of a Dask collection a sample is shown, and
            what the page estimates from it is said there.
        y : array-like of shape (n_samples,), default=None
            Classes of the rows, to compare the clusters with.
        path : str, path or None, default="report.html"
            Where to write the page, or all its numbers where the name ends in ``.json``. None
            writes nothing.
        image_shape : tuple of int, default=None
            (height, width) or (height, width, 3), where rows are images.
        feature_names : sequence of str, default=None
            Names of the features; by default those that the model was fitted with.
        title : str, default=None
            The heading of the page.
        notes : sequence of str, default=()
            Sentences to show below the heading.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that the model was fitted with.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales that the model was fitted with; made anew where it is adaptive.

        Returns
        -------
        Report
            With `summary`, `to_html`, `to_json` and `save`; a notebook shows it as the page.
        """
        check_installed()
        if path is not None:
            check_target(path)
        if isinstance(y, str | os.PathLike):
            raise ValueError(
                f"y must be the class of each row, got {y!r}; the path is the third argument: "
                f"report(X, path={y!r})."
            )
        report = Report(
            summarize(
                self,
                X,
                y,
                image_shape=image_shape,
                feature_names=feature_names,
                title=title,
                notes=notes,
                sample_weight=sample_weight,
                sample_scale=sample_scale,
            )
        )
        if path is not None:
            report.save(path)
        return report
