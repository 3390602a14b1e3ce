import networkx as nx
import numpy as np
import pytest

from reproduction.claims import claims_of
from reproduction.degrees import (
    N_LINKS,
    PANELS,
    Sizes,
    build_graph,
    power_law_graph,
    reproduce,
    scale_for,
)

SIZES = Sizes(50, 300, 200, 3_000)


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


def test_graphs_have_their_vertices_and_edges():
    graph = build_graph(SIZES, 0)
    random, power = graph.subgraph(range(50)), graph.subgraph(range(50, 250))
    assert (random.number_of_nodes(), random.number_of_edges()) == (50, 300)
    assert (power.number_of_nodes(), power.number_of_edges()) == (200, 3_000)
    between = graph.number_of_edges() - 300 - 3_000
    assert 1 <= between <= N_LINKS
    assert nx.is_connected(graph)
    assert nx.number_of_selfloops(graph) == 0
    assert not graph.is_multigraph()


def test_a_seed_gives_one_graph():
    edges = set(build_graph(SIZES, 0).edges)
    assert edges == set(build_graph(SIZES, 0).edges)
    assert edges != set(build_graph(SIZES, 1).edges)


def test_a_graph_in_pieces_is_refused():
    with pytest.raises(ValueError, match="not connected"):
        build_graph(SIZES._replace(m_random=5), 0)


def test_degrees_have_a_long_tail():
    degrees = np.array([degree for _, degree in power_law_graph(1_000, 20_000, 0).degree])
    assert degrees.sum() == 40_000
    assert np.median(degrees) < degrees.mean() < degrees.max() / 5


def test_scale_by_hand():
    # Three pairs, each joined with probability 1 / 3 before it is scaled.
    assert scale_for(np.ones(3), 2) == pytest.approx(2)
