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
        row_names: str | Sequence[Any] | None = None,
        texts: str | Sequence[Any] | None = None,
        stability: int = 0,
        overwrite: bool = False,
        notes: Sequence[str] = (),
        sample_weight: Any = None,
        sample_scale: Any = None,
    ) -> "Report":
        """Write a page that shows each cluster in the language of your data.

        It is `modeclust.report` for this model. That function also takes the data as they were
        before you encoded or scaled them, and labels of other algorithms.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data that the model was fitted on. For a Dask collection, the page shows a sample, and
            says which numbers are computed from it.
        y : array-like of shape (n_samples,), default=None
            Class of each row, to compare the clusters with.
        path : str, path-like or None, default="report.html"
            File to write. If it ends in ``.json``, the summary is written instead of the page.
            None writes no file.
        image_shape : tuple of int, default=None
            Shape of the rows if they are images, (height, width) or (height, width, 3).
        feature_names : sequence of str, default=None
            Names of the features. By default, the names seen during fit.
        title : str, default=None
            Title of the page.
        row_names, texts : str or sequence, default=None
            Names and texts of the rows: a column of `X`, or one for each row.
        stability : int, default=0
            Number of resamples for the stability of the clusters; 0 leaves it out.
        overwrite : bool, default=False
            Whether to replace the file, if there is one.
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
        from modeclust.reporting.report import report

        return report(
            self,
            X,
            y=y,
            path=path,
            image_shape=image_shape,
            feature_names=feature_names,
            title=title,
            row_names=row_names,
            texts=texts,
            stability=stability,
            overwrite=overwrite,
            notes=notes,
            sample_weight=sample_weight,
            sample_scale=sample_scale,
        )
