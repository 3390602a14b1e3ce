import numpy as np

from reproduction.sweeps import Sweep, draw_sweeps

X, CLASSES = np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1])


def test_sweep_by_hand():
    sweep = Sweep.of(X, CLASSES, np.array([0.01, 1.0, 10.0]))
    np.testing.assert_array_equal(sweep.n_modes, [4, 2, 1])
    np.testing.assert_allclose(sweep.rand, [0, 1, 0])
    np.testing.assert_allclose(np.sort(sweep.modes[1].ravel()), [0.05, 5.05], atol=1e-3)
    assert sweep.best == 1
    assert sweep.best_with_two_modes == 1


def test_index_is_0_if_no_bandwidth_has_two_modes():
    assert Sweep.of(X, CLASSES, np.array([10.0])).best_with_two_modes == 0


def test_every_sweep_is_drawn():
    sweeps = [Sweep.of(X, CLASSES, np.array([0.01, 1.0, 10.0]))] * 2
    dotted = [sweep.n_modes == 2 for sweep in sweeps]
    left, right = draw_sweeps(sweeps, dotted, 1.0, {"K-modes": 0.5}).axes
    # The bold sweep is drawn last, and its dots after it.
    np.testing.assert_array_equal(left.lines[2].get_ydata(), [4, 2, 1])
    np.testing.assert_array_equal(left.lines[3].get_xdata(), [1.0])
    np.testing.assert_allclose(right.lines[2].get_ydata(), [0, 1, 0])
