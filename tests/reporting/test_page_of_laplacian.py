"""The page of a Laplacian K-modes fit, in a real browser."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from modeclust import LaplacianKModes


@pytest.fixture(scope="module")
def moons(tmp_path_factory):
    X, y = make_moons(300, noise=0.05, random_state=0)
    model, path = LaplacianKModes(2).fit(X), tmp_path_factory.mktemp("moons") / "report.html"
    model.report(X, y, path)
    return model, path


def at_step(page, step):
    page.keyboard.press("Home")
    for _ in range(step):
        page.keyboard.press("ArrowRight")
    return page.locator("#readout").inner_text()


def test_words(moons, open_page):
    model, page = moons[0], open_page(moons[1])
    facts = page.locator("#facts").inner_text()
    assert f"smoothing {model.smoothing_:.4g}, auto: labels at bandwidth" in facts
    assert "largest share" in page.locator("#facts .term").first.get_attribute("title")
    assert page.locator("#first").inner_text() == "linkage"
    assert at_step(page, 0).splitlines()[0] == "linkage (bandwidth ∞)"
    assert "objective" not in at_step(page, 0)
    assert f"objective {model.path_.objectives[1]:.4g}" in at_step(page, 1)
    assert "separate linkage, the bandwidths" in page.locator("#curves-caption").inner_text()
    assert "K-means" not in page.locator("body").inner_text()


def test_there_are_no_redundant_pairs_to_show(moons, open_page):
    page = open_page(moons[1])
    assert page.locator("#redundant-panel").is_hidden()
    names = page.locator("#clusters th").all_inner_texts()
    assert "redundant with" not in names
    assert "distance from the linkage mean" in names


def test_the_map_shows_means_centers_and_modes(moons, open_page):
    model, page = moons[0], open_page(moons[1])
    at_step(page, 16)
    read = "document.getElementById('map').data.map(({name, x, y}) => [name, x, y])"
    traces = page.evaluate(read)
    found = {name: np.array([x, y]).T for name, x, y in traces[2:]}
    np.testing.assert_array_equal(found["linkage mean"], model.path_.centers[0])
    np.testing.assert_array_equal(found["center"], model.cluster_centers_)
    np.testing.assert_array_equal(found["mode"], model.modes_)


def test_one_feature_has_no_boundaries(tmp_path, open_page):
    X = np.random.RandomState(0).normal(size=(60, 1)) + 9.0 * (np.arange(60)[:, None] // 30)
    LaplacianKModes(2).fit(X).report(X, path=tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    shapes = page.evaluate("document.getElementById('map').layout.shapes")
    assert [shape["line"]["dash"] for shape in shapes] == ["dot", "dot"]
    caption = page.locator("#map-caption").inner_text()
    assert "boundaries" not in caption
    assert "At the step “linkage” there is none." in caption
