"""The function `report`: cards of clusters in the language of the user's data."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from modeclust.io.atomic import StrPath
from modeclust.reporting.page import Report, check_target
from modeclust.reporting.summarize import summarize


def report(
    clustering: Any,
    data: Any,
    *,
    X: Any = None,
    y: Any = None,
    path: StrPath | None = "report.html",
    title: str | None = None,
    row_names: str | Sequence[Any] | None = None,
    texts: str | Sequence[Any] | None = None,
    image_shape: Sequence[int] | None = None,
    stability: int = 0,
    overwrite: bool = False,
    feature_names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    sample_weight: Any = None,
    sample_scale: Any = None,
) -> Report:
    """Write a page that shows each cluster in the language of your data.

    Each cluster has a card: its size, the typical row, what sets it apart from all rows, real
    examples, and the nearest other cluster. A map, a heat map and a table show all clusters, and a
    slider follows the modes along the path. The page is one HTML file that works offline.

    The mode of a cluster is a weighted mean of its rows. The same weights, applied to any column of
    `data`, say what is typical in it: a mean of numbers, in their units; the commonest category,
    with its share; the middle of dates. Missing values are left out. So pass the data as they were
    before you encoded or scaled them, with the columns that you did not cluster on.

    Parameters
    ----------
    clustering : estimator, Pipeline or array-like of shape (n_samples,)
        A fitted `KModes`, `LaplacianKModes` or `MeanShift`; a fitted scikit-learn `Pipeline` that
        ends in one; or labels of any algorithm, whole numbers or strings, in which -1 is noise. For
        any other fitted estimator, such as `KMeans`, its `labels_` are used. The modes of labels
        are found by `cluster_modes`.
    data : frame, array-like or sparse matrix of shape (n_samples, n_columns)
        The rows, as you have them, in the order of the fit: a pandas, polars or other frame that
        narwhals knows, an array, a sparse matrix, or a list of texts. For a Dask collection, the
        page shows a sample.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        What was clustered, if it is something else than `data`. By default, `data`; for an
        estimator that knows names of features, these columns of `data`. A pipeline computes it. For
        labels of a table that has text, dates or missing values, it is what `TablePreparation`
        makes of `data`, and the page says so.
    y : array-like of shape (n_samples,), default=None
        Class of each row, to compare the clusters with.
    path : str, path-like or None, default="report.html"
        File to write. If it ends in ``.json``, the summary is written instead of the page. None
        writes no file.
    title : str, default=None
        Title of the page.
    row_names : str or sequence, default=None
        Names of the rows: a column of `data`, or a name for each row. By default, a column of
        distinct ids, the index of a pandas frame if it has strings, or "row 12".
    texts : str or sequence, default=None
        Texts of the rows: a column of `data`, or a text for each row. By default, the longest
        column of texts. The words that are special to a cluster are its terms.
    image_shape : tuple of int, default=None
        Shape of the rows if they are images, (height, width) or (height, width, 3). The images are
        the rows of `data` if they have this many columns, or those of `X`. Pixels have no typical
        values: the modes are shown as images.
    stability : int, default=0
        Number of resamples for the stability of the clusters, as in `KModes.stability`, which takes
        about as long as this many fits. 0 leaves it out.
    overwrite : bool, default=False
        Whether to replace the file, if there is one.
    feature_names : sequence of str, default=None
        Names of the features that were clustered, if these are an array or a sparse matrix.
    notes : sequence of str, default=()
        Notes shown below the title.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that the model was fitted with.
    sample_scale : array-like of shape (n_samples,), default=None
        Local scales that the model was fitted with. They are computed for an adaptive model.

    Returns
    -------
    Report
        Report with the attribute `summary` and the methods `to_html`, `to_json` and `save`. A
        notebook shows it as the page.

    See Also
    --------
    KModes.report : The same for one estimator and the data that it was fitted on.
    cluster_modes : The modes of any labels.

    Notes
    -----
    Numbers are compared with a mean of all rows that one absurd value cannot move: the lowest and
    the highest 1% of the values, and at least one value each, are moved to the next value. The
    effect of a column is the difference to this mean, divided by the standard deviation of the same
    values. For a category, it is the difference of the shares, divided by the standard deviation of
    being in it. Left out are constant columns, and a column of numbers that has the labels of the
    clusters.

    The name of a cluster has only columns in which the whole cluster, and not just the rows around
    its mode, differs from all rows: by at least a tenth of a standard deviation, and by three
    standard errors.

    With more than 1,024 features, or sparse ones, only the features that tell clusters apart have
    typical values, and none if they have no names.

    Examples
    --------
    >>> import modeclust
    >>> from sklearn.datasets import load_iris
    >>> flowers = load_iris(as_frame=True).data
    >>> model = modeclust.KModes(3, random_state=0).fit(flowers)
    >>> page = modeclust.report(model, flowers, path=None)
    >>> for card in page.summary["cards"]:
    ...     print(f"{card['share']:.0%} {card['name']}")
    33% Low petal length (cm), low petal width (cm)
    41% High petal length (cm)
    26% High petal width (cm), high sepal length (cm)
    """
    if not isinstance(overwrite, bool):
        raise ValueError(f"overwrite must be True or False, got {overwrite!r}.")
    if path is not None:
        _check_file(path, overwrite=overwrite)
    if isinstance(y, str | os.PathLike):
        raise ValueError(
            f"y must be the class of each row, got {y!r}; name the file by path={str(y)!r}."
        )
    made = Report(
        summarize(
            clustering,
            data,
            X=X,
            y=y,
            title=title,
            row_names=row_names,
            texts=texts,
            image_shape=image_shape,
            stability=stability,
            feature_names=feature_names,
            notes=notes,
            sample_weight=sample_weight,
            sample_scale=sample_scale,
        )
    )
    if path is not None:
        made.save(path)
    return made


def _check_file(path: StrPath, *, overwrite: bool) -> None:
    check_target(path)
    if not overwrite and Path(path).exists():
        raise FileExistsError(
            errno.EEXIST,
            "the file of the report exists; choose another path, or pass overwrite=True",
            os.fspath(path),
        )
