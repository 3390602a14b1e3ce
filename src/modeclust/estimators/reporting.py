"""The method `report` of the estimators."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeclust.reporting.page import Report


class ReportMixin:
    """Mixin that adds the method `report` to an estimator with a path."""

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
    ) -> "Report":
        """Write a page that shows the path from the initial clusters to the modes.

        The page is one HTML file that works offline. A slider selects the bandwidth. The page has
        a map of the rows, the modes with their nearest rows, the objective and the cluster sizes
        along the path, and a table of the clusters. The map shows a sample of at most about 5,000
        rows. Requires ``pip install 'modeclust[report]'``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data that the model was fitted on. For a Dask collection, the page shows a sample, and
            says which numbers are computed from it.
        y : array-like of shape (n_samples,), default=None
            Class of each row, to compare the clusters with. The map shows it if you point at a
            row, each mode has a bar chart of the classes of its nearest rows, and the table has the
            most frequent class of each cluster.
        path : str, path-like or None, default="report.html"
            File to write. If it ends in ``.json``, the summary is written instead of the page.
            None writes no file.
        image_shape : tuple of int, default=None
            Shape of the rows if they are images, (height, width) or (height, width, 3).
        feature_names : sequence of str, default=None
            Names of the features. By default, the names seen during fit.
        title : str, default=None
            Title of the page.
        notes : sequence of str, default=()
            Notes shown below the title.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that the model was fitted with.
        sample_scale : array-like of shape (n_samples,), default=None
            Local scales that the model was fitted with. They are computed for an adaptive model.
            `LaplacianKModes` has none.

        Returns
        -------
        Report
            Report with the attribute `summary` and the methods `to_html`, `to_json` and `save`.
            A notebook shows it as the page.
        """
        from modeclust.reporting.page import make_report

        return make_report(
            self,
            X,
            y,
            path,
            image_shape=image_shape,
            feature_names=feature_names,
            title=title,
            notes=notes,
            sample_weight=sample_weight,
            sample_scale=sample_scale,
        )
