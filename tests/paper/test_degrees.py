import numpy as np
import pytest

from modeclust.paper.claims import claims_of
from modeclust.paper.degrees import PANELS, reproduce


@pytest.fixture(scope="module")
def findings():
    return reproduce(quick=True)


def test_modes_separate_the_graphs_and_means_do_not(findings):
    assert claims_of("degrees").keys() == findings.measures.keys()
    values = {name: measure.value for name, measure in findings.measures.items()}
    assert np.isfinite(list(values.values())).all()
    assert values["bandwidths-on-the-schedule"] < 1e-4
    assert values["means-wrong"] < 0.5
    assert values["mean-in-low-density"] < 0.5
    assert values["head-with-the-gaussian"] > 0.5
    assert values["modes-perfect"] == 1
    assert 0 < values["principal-modes"] <= 1
    assert values["mean-shift-never-separates"] < 1
    assert values["small-modes-in-the-tail"] > 2


def test_pictures_and_table_have_their_parts(findings):
    panels, sweeps = findings.pictures
    assert len(panels.figure.axes) == 3 * len(PANELS)
    names = [ax.get_ylabel().split("\n")[0] for ax in panels.figure.axes[::3]]
    assert names == [
        "K-means",
        "bandwidth 29.86",
        "bandwidth 15.14",
        "bandwidth 3.89",
        "bandwidth 1",
    ]
    assert all(ax.get_xlim() == (0, 800) for ax in panels.figure.axes)
    assert len(sweeps.figure.axes) == 2
    (table,) = findings.tables
    assert all(len(row) == len(table.columns) for row in table.rows)
