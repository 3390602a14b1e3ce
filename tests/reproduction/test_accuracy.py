import numpy as np
import pytest

from reproduction.accuracy import (
    INDICES,
    PLANS,
    Run,
    reproduce,
    run_kmodes,
    run_mean_shift,
)
from reproduction.claims import claims_of, judge
from reproduction.sources import load_source


@pytest.fixture(scope="module")
def findings():
    return reproduce(quick=True)


def test_every_claim_is_measured(findings):
    assert findings.measures.keys() == claims_of("accuracy").keys()
    assert len(judge("accuracy", findings.measures)) == 5 * len(PLANS) * len(INDICES)
    for name, measure in findings.measures.items():
        assert measure.low <= measure.value <= measure.high, name
        assert -100 <= measure.value <= 100, name


def test_the_best_bandwidth_is_no_worse_than_any(findings):
    for key in PLANS:
        for index in INDICES:
            gain, best = (
                findings.measures[f"{key}-{what}-{index.lower()}"].value
                for what in ("gain", "best")
            )
            assert best >= max(gain, 0)


def test_the_table_has_the_numbers_of_the_paper(findings):
    table, purity, modes = findings.tables
    assert [row[0] for row in table.rows[:2]] == ["COIL-20, ARI", "COIL-20, NMI"]
    printed = [[cell.partition(" → ")[0] for cell in row[1:-1]] for row in table.rows]
    assert printed[2] == ["32.9", "34.4", "35.5", "1.37"]
    assert printed[4] == ["55.8", "56.1", "56.1", "N/A"]
    assert {row[0] for row in modes.rows} == {plan.title for plan in PLANS.values()}
    for own in (table, purity):
        assert {len(row) for row in own.rows} == {len(own.columns)}


def test_purity_is_shown_in_percent(findings):
    for row in findings.tables[1].rows:
        assert all(0 < float(cell.partition(" ± ")[0]) <= 100 for cell in row[1:-1])


def test_a_path_goes_from_kmeans_to_a_fifth_of_the_estimated_bandwidth():
    data = load_source("mnist", fetch=False).draw(10, 0)
    run = run_kmodes(data, 0, n_init=2)
    assert run.bandwidths[0] == np.inf
    assert run.bandwidths[run.at_target] == 1
    assert run.bandwidths[-1] == pytest.approx(1 / 5)
    assert np.all(np.diff(run.bandwidths) < 0)
    assert run.scores.shape == (len(run.bandwidths), 2)
    found = run_mean_shift(data)
    assert 10 <= found.n_modes <= 12
    assert 0 < found.share < 1


def test_a_run_by_hand():
    scores = np.array([[10.0, 20.0], [12.0, 19.0], [11.0, 25.0]])
    run = Run(np.array([np.inf, 1.0, 0.5]), scores, 1, (0.8, 0.9), default=None)
    np.testing.assert_array_equal(run.kmeans, [10, 20])
    np.testing.assert_array_equal(run.kmodes, [12, 19])
    np.testing.assert_array_equal(run.best, [12, 25])
