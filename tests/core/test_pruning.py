"""Removing the centers that rows miss least."""

import numpy as np
import pytest

from modeclust._core import prune_centers


def prune_slowly(losses, weight, n_kept):
    """Try to remove each center in turn, and remove the one with the smallest total loss."""
    kept = list(range(losses.shape[1]))
    while len(kept) > n_kept:
        totals = [weight @ losses[:, [j for j in kept if j != k]].min(axis=1) for k in kept]
        kept.pop(int(np.argmin(totals)))
    return kept


@pytest.mark.parametrize("n_kept", [1, 2, 5, 11, 12])
def test_it_agrees_with_trying_each_center(rng, n_kept):
    losses = np.square(rng.normal(size=(200, 1, 2)) - rng.normal(size=(12, 2))).sum(axis=2)
    weight = rng.uniform(0.5, 2.0, 200)
    assert prune_centers(losses, weight, n_kept).tolist() == prune_slowly(losses, weight, n_kept)


def test_a_copy_is_missed_least():
    losses = np.array([[0.0, 0.0, 9.0], [1.0, 1.0, 9.0], [9.0, 9.0, 0.0]])
    assert prune_centers(losses, np.ones(3), 2).tolist() == [1, 2]


def test_it_checks_sizes():
    with pytest.raises(ValueError, match="one number for each row"):
        prune_centers(np.zeros((3, 2)), np.ones(2), 1)
    for n_kept in (0, 3):
        with pytest.raises(ValueError, match="n_kept"):
            prune_centers(np.zeros((3, 2)), np.ones(3), n_kept)


@pytest.mark.parametrize(
    "change", [np.asfortranarray, np.int32, lambda X: np.repeat(X, 2, 1)[:, ::2]]
)
def test_losses_of_any_type_and_layout(change, rng):
    losses = rng.integers(0, 100, size=(200, 9)).astype(float)
    expected = prune_centers(losses, np.ones(200), 4)
    found = prune_centers(change(losses), np.ones(400, np.float32)[::2], 4)
    np.testing.assert_array_equal(found, expected)
