"""What is asked of a fit."""

import pickle
import re

import numpy as np
import pytest
from reference import LOG_PULLS, PROFILES
from same import assert_same
from scipy.spatial.distance import cdist
from sklearn.base import clone


def refusal(rows, n_clusters=1, n_neighbors=0, metric="euclidean"):
    """Return what the error for such rows says, or None if there is to be none."""
    found = _refusal(rows, n_clusters, n_neighbors)
    if metric == "cosine" and not rows.dense.any(axis=1).all() and len(rows.dense) > 1:
        return "not all zeros" + ("" if found is None else f"|{found}")
    return found


def _refusal(rows, n_clusters, n_neighbors):
    n_rows = len(rows.dense)
    if n_rows < 2:
        return "minimum of 2 is required"
    if not rows.present.any():
        return "at least one non-zero"
    if n_neighbors >= n_rows:
        return "n_neighbors=.* must be less than the number of rows"
    if n_clusters > n_rows:
        return "n_clusters=.* is more than the number of rows"
    return None


def soft_refusal(model, rows):
    """Return what the error of a fit of `LaplacianKModes` says, or None."""
    links = isinstance(model.init, str) and model.init == "linkage"
    needs_graph = (model.smoothing != 0 or links) and isinstance(model.affinity, str)
    is_given = needs_graph and not isinstance(model.n_neighbors, str)
    n_neighbors = model.n_neighbors if is_given else 0
    return refusal(rows, model.n_clusters, n_neighbors, metric=model.metric)


def outcome(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except ValueError as error:
        return error


def is_refused(found, expected):
    """Return whether it is an error, which must be the one expected."""
    if isinstance(found, ValueError):
        assert expected is not None, found
        assert re.search(expected, str(found)), found
    else:
        assert expected is None, f"should have been refused: {expected}"
    return expected is not None


def is_too_fine(found, rows):
    """Return whether mean-shift refused a bandwidth beside sparse rows, which it may."""
    is_so = isinstance(found, ValueError) and "too small for sparse rows" in str(found)
    assert not is_so or hasattr(rows.X, "tocsr")
    return is_so


def fitted_attributes(model):
    """Return what a fit has found, but for the names of features."""
    found = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name != "feature_names_in_"
    }
    if hasattr(model, "outlier_scores_"):  # a property
        found["outlier_scores_"] = model.outlier_scores_
    return found


def given_start(model, rows):
    """Return the initial centers that a model was given, or None if it draws them from the rows."""
    if callable(model.init):
        return rows.dense[-model.n_clusters :]  # by `drawing.last_rows`
    return model.init if isinstance(model.init, np.ndarray) else None


def check_inside(centers, rows, extra=None):
    """Assert that centers are finite, and in the box of the rows and of `extra` points."""
    assert np.isfinite(centers).all()
    if rows.on_sphere:
        np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1, rtol=0, atol=2 * rows.eps)
        return
    points = rows.dense[rows.present]
    points = points if extra is None else np.vstack([points, extra])
    slack = 4 * rows.rounding
    assert np.all(centers >= points.min(axis=0) - slack)
    assert np.all(centers <= points.max(axis=0) + slack)


def distances_to(centers, rows):
    return cdist(rows.dense, centers.astype(float))


def check_labels(labels, counts, rows, n_clusters):
    assert labels.shape == (len(rows.dense),)
    np.testing.assert_array_equal(counts, np.bincount(labels, minlength=n_clusters))


def check_nearest(labels, away, rows):
    own = away[np.arange(len(labels)), labels]
    assert np.all(own <= away.min(axis=1) * (1 + 1e-6) + 8 * rows.rounding)


def check_exemplars(model, away, rows):
    for k, exemplar in enumerate(model.exemplar_indices_):
        members = np.flatnonzero((model.labels_ == k) & rows.present)
        if len(members) == 0:
            assert exemplar == -1
            continue
        assert exemplar in members
        assert away[exemplar, k] <= away[members, k].min() * (1 + 1e-6) + 8 * rows.rounding


def check_rows_averaged(model, rows):
    """Assert that the rows averaged are (sum w)^2 / sum w^2 at the modes."""
    weight = np.ones(len(rows.dense)) if rows.weight is None else rows.weight
    is_integer = np.array_equal(weight, np.round(weight))
    n_counted = weight.sum() if is_integer else np.count_nonzero(weight)
    away = distances_to(model.modes_, rows)
    for k, bandwidth in enumerate(model.mode_bandwidths_):
        members = (model.labels_ == k) & rows.present
        if not members.any() or 8 * rows.rounding > 1e-7 * bandwidth:
            continue
        with np.errstate(divide="ignore"):
            logs = LOG_PULLS[model.kernel]((away[members, k] / bandwidth) ** 2)
        if np.isinf(logs.max()):
            continue  # the kernel reaches no row
        pull, q = np.exp(logs - logs.max()), weight[members] / weight.sum() * n_counted
        expected = np.sum(q * pull) ** 2 / np.sum(q * pull**2)
        assert model.rows_averaged_[k] == pytest.approx(expected, rel=1e-4)


def check_path(path, model, rows, n_bandwidths):
    assert len(path) == n_bandwidths + 1
    assert path.bandwidths[0] == np.inf
    check_schedule(path.bandwidths[1:], model)
    assert path.bandwidths[-1] == model.bandwidth_
    assert np.isfinite(path.centers).all()
    assert np.all(path.counts.sum(axis=1) == len(rows.dense))
    assert np.all(path.inertias >= 0)
    assert model.n_iter_ == path.n_iter.sum()
    np.testing.assert_array_equal(path.centers[-1], model.cluster_centers_)
    np.testing.assert_array_equal(path.counts[-1], model.counts_)
    if model.store_labels is False:
        assert path.labels is None
    else:
        np.testing.assert_array_equal(path.labels[-1], model.labels_)
        for labels, counts in zip(path.labels, path.counts, strict=True):
            check_labels(labels, counts, rows, path.counts.shape[1])
    check_frames(path, path.counts.size)
    for i, point in enumerate(path):
        assert path.at(point.bandwidth).bandwidth == point.bandwidth
        assert_same(path[i - len(path)], point)


def check_schedule(bandwidths, model):
    """Assert that bandwidths fall by one factor, from where they were to start."""
    assert np.all(np.diff(bandwidths) < 0)
    if len(bandwidths) < 2:
        return
    ratios = bandwidths[1:] / bandwidths[:-1]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)
    if model.start_bandwidth == "auto":
        assert bandwidths[0] >= 2 * model.bandwidth_ * (1 - 1e-12)
    else:
        assert bandwidths[0] == pytest.approx(model.start_bandwidth, rel=1e-12)


def check_history(model):
    """Assert that the objective never falls, and ends where it is said to."""
    history = model.objective_history_
    assert np.isfinite(history).all()
    assert np.all(np.diff(history) >= -1e-9 * np.maximum(np.abs(history[1:]), 1e-300))
    assert model.objective_ == history[-1]
    if model.smoothing_ != 0:
        assert len(history) <= model.max_iter
        assert max(model.path_.n_iter[1:-1], default=0) <= model.path_iter


def check_frames(result, length):
    """Assert that all kinds of tables of a result hold the same."""
    columns = result.to_frame("dict")
    assert {len(column) for column in columns.values()} == {length}
    for backend in ("polars", "pandas", None):
        frame = result.to_frame(backend)
        assert list(frame.columns) == list(columns)
        for name, column in columns.items():
            np.testing.assert_array_equal(frame[name].to_numpy(), column)


def check_copies(ask, model, rows, predict, refit):
    """Assert that saved, pickled and cloned models are the same."""
    if not callable(getattr(model, "init", None)):
        ask(f"{type(model).__name__}.save", rows, model)
        assert_same(vars(ask("load", rows)), vars(model))
    assert_same(vars(pickle.loads(pickle.dumps(model))), vars(model))
    again = refit(clone(model))
    assert_same(fitted_attributes(again), fitted_attributes(model))
    assert_same(predict(again), predict(model))


def kernel_mean(rows, t, kernel):
    weight = np.ones(len(t)) if rows.weight is None else rows.weight / rows.weight.max()
    return float(np.sum(weight * PROFILES[kernel](t)) / weight.sum())


def bandwidths_of_rows(rows, bandwidth):
    return bandwidth * (np.ones(len(rows.dense)) if rows.scale is None else rows.scale)


def check_stationary(model, rows):
    """Assert that mean-shift leaves modes where they are, and their densities."""
    scale = np.ones(len(rows.dense)) if rows.scale is None else rows.scale / rows.scale.mean()
    h = model.bandwidth_ * (1.0 if rows.scale is None else rows.scale.mean())
    blur = 8 * rows.rounding / (h * scale.min())
    if blur > 1e-7:
        return  # the coordinates are rounded by more than would be seen
    weight = np.ones(len(scale)) if rows.weight is None else rows.weight / rows.weight.max()
    away = distances_to(model.cluster_centers_, rows)
    for mode, distance, density in zip(model.cluster_centers_, away.T, model.density_, strict=True):
        t = (distance / (h * scale)) ** 2
        value = np.sum(weight * PROFILES[model.kernel](t)) / weight.sum()
        assert density == pytest.approx(value, rel=max(1e-6, model.tol), abs=1e-9)
        with np.errstate(divide="ignore"):
            logs = np.where(weight > 0, LOG_PULLS[model.kernel](t), -np.inf)
        if np.isinf(logs.max()):
            continue  # nothing pulls
        pull = weight / scale**2 * np.exp(logs - logs.max())
        moved = pull @ rows.dense / pull.sum()
        if rows.on_sphere:
            length = np.linalg.norm(moved)
            if length < 1e-6:
                continue  # the rows cancel
            moved /= length
        assert np.linalg.norm(moved - mode) <= 20 * model.tol * h + 8 * rows.rounding
