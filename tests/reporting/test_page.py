"""The page of a report in a real browser: the cards, the table, the slider and the downloads."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs, make_moons

from modeclust import KModes, LaplacianKModes, MeanShift
from tests.reporting.reading import (
    downloaded,
    number,
    pixels,
    readout,
    slide,
    step_of,
    table_cells,
)


def shown_as(value, column):
    """Return what the page should show for a number, as a number."""
    return value if column["binary"] else round(value / column["unit"]) * column["unit"]


def test_cards_have_the_typical_values_of_the_summary(table, open_page):
    page, summary = open_page(table.path), table.summary
    columns = {column["name"]: column for column in summary["columns"]}
    for card in summary["cards"]:
        box = page.locator(f"#cluster-{card['cluster']}")
        lines = table_cells(box, "table.typical")[1:]
        assert {line[0] for line in lines} == card["typical"].keys()
        for name, text, _ in lines:
            value, detail = card["typical"][name], card["detail"][name]
            if columns[name]["kind"] == "number":
                shown = shown_as(value, columns[name])
                assert number(text) == pytest.approx(shown, abs=0.0051), name
            elif columns[name]["kind"] == "date":
                assert text == value
            else:
                word = {True: "yes", False: "no"}.get(value, value)
                assert text == f"{word} {detail['share']:.0%}"


def test_cards_have_size_reasons_and_nearest_cluster(table, open_page):
    page = open_page(table.path)
    for card in table.summary["cards"]:
        box = page.locator(f"#cluster-{card['cluster']}")
        assert box.locator("h3").inner_text() == card["name"]
        share, rows = box.locator(".shares").inner_text().split(" of all rows ")
        assert number(share) == pytest.approx(card["share"], abs=0.005)
        assert rows == f"({card['rows']})"
        reasons = box.locator(".apart li").all_inner_texts()
        assert reasons == [item["text"] for item in card["apart"]]
        facts = box.locator(".card-facts").inner_text()
        assert table.summary["cards"][card["nearest"]["cluster"]]["name"] in facts
        assert card["nearest"]["apart"][0]["text"] in facts


def test_a_table_with_a_column_of_texts_is_introduced_as_a_table(table, open_page):
    assert table.summary["cards"][0]["terms"]
    said = open_page(table.path).locator("#clusters-caption").inner_text()
    assert "rows around its mode, not of the whole cluster" in said
    assert "documents" not in said


def test_examples_have_all_fields(table, open_page):
    page = open_page(table.path)
    card = table.summary["cards"][1]
    box = page.locator("#cluster-1")
    box.locator("summary", has_text="Real examples").click()
    head, *lines = table_cells(box, "table.examples")
    assert head[1:] == [example["name"] for example in card["examples"]]
    row = table.data.iloc[card["examples"][0]["row"]]
    assert head[1] == str(row["CustomerID"])
    fields = {name: first for name, first, *_ in lines}
    assert fields["Plan"] == ("\N{EN DASH}" if row["Plan"] is None else row["Plan"])
    assert fields["Owner"] == ("yes" if row["Owner"] else "no")
    assert fields["Since"] == str(row["Since"].date())
    assert number(fields["Age"]) == row["Age"]


def test_texts_and_words(make_page, open_page):
    texts = ["cold rain and wind"] * 5 + ["warm sun and a beach"] * 5
    texts = [f"{text} <b>{i}</b>" for i, text in enumerate(texts)]
    shown = make_page(np.repeat([0, 1], 5), texts, X=np.eye(10)[:, :2] + np.arange(10)[:, None])
    page = open_page(shown.path)
    for card in shown.summary["cards"]:
        box = page.locator(f"#cluster-{card['cluster']}")
        words = box.locator(".terms li").all_inner_texts()
        assert [word.strip() for word in words] == [word for word, _ in card["terms"]][:12]
        documents = box.locator(".documents > li p").all_inner_texts()
        assert documents == [example["text"] for example in card["examples"][:3]]


@pytest.mark.parametrize("step", [0, 5, -1])
def test_the_slider_moves_cards_map_and_table(table, open_page, step):
    page, summary = open_page(table.path), table.summary
    n_steps = len(summary["steps"])
    slide(page, step % n_steps)
    at = summary["steps"][step]
    assert at["name"] in readout(page)
    income = next(
        i for i, c in enumerate(summary["step_columns"]) if c == _column(summary, "Income")
    )
    head, *lines = table_cells(page, "#table")
    names = [title.rstrip() for title in head]
    by_name = {line[0]: line for line in lines}
    unit = summary["columns"][_column(summary, "Income")]
    for k, card in enumerate(summary["cards"]):
        line = by_name[card["name"]]
        value = shown_as(at["typical"][k][income], unit)
        assert number(line[1]) == at["counts"][k]
        assert number(line[names.index("Rows averaged")]) == round(at["rows_averaged"][k])
        assert number(line[names.index("Income")]) == pytest.approx(value)
        box = page.locator(f"#cluster-{k}")
        assert f"({at['counts'][k]})" in box.locator(".shares").inner_text()
        assert number(box.locator("tr[data-column=Income] .value").first.inner_text()) == value
        listed = page.locator(f'#sizes [data-cluster="{k}"] .share').inner_text()
        assert number(listed) == pytest.approx(at["counts"][k] / summary["n_rows"], abs=0.005)


def _column(summary, name):
    return [column["name"] for column in summary["columns"]].index(name)


@pytest.mark.parametrize("step", [0, 8, -1])
def test_the_slider_moves_the_pictures(digits, open_page, step):
    page = open_page(digits.path)
    n_steps = len(digits.summary["steps"])
    slide(page, step % n_steps)
    if step != 8:  # at the first step the modes are means; at the last, those of the model
        labels = digits.clustering.path_.labels[0]
        modes = digits.clustering.modes_
        for k in (0, 9):
            mode = digits.data[labels == k].mean(axis=0) if step == 0 else modes[k]
            shown = pixels(page, f"#cluster-{k} canvas.mode")[..., 0].ravel()
            np.testing.assert_allclose(shown, 255 * mode, atol=1.01)  # 0 is dark


def test_pictures_of_rows_are_the_rows(digits, open_page):
    page = open_page(digits.path)
    for card in digits.summary["cards"][:3]:
        for place, example in enumerate(card["examples"]):
            selector = f"#cluster-{card['cluster']} .rows canvas >> nth={place}"
            shown = pixels(page, selector)[..., 0].ravel()
            np.testing.assert_allclose(shown, 255 * digits.data[example["row"]], atol=0.51)
    page.locator("#invert").check()
    picture = page.locator("#cluster-0 canvas.mode")
    assert picture.evaluate("canvas => getComputedStyle(canvas).filter") == "invert(1)"
    page.locator("#invert").uncheck()


def test_colours_are_shown(make_page, open_page):
    X = np.zeros((40, 4, 4, 3), np.uint8)
    X[:20, ..., 0], X[20:, ..., 2] = 200, 120
    shown = make_page(
        KModes(2, random_state=0).fit(X.reshape(40, -1) / 255),
        X.reshape(40, -1),
        X=X.reshape(40, -1) / 255,
        image_shape=(4, 4, 3),
    )
    page = open_page(shown.path)
    found = {tuple(pixels(page, f"#cluster-{k} canvas.mode")[0, 0]) for k in (0, 1)}
    assert found == {(200, 0, 0, 255), (0, 0, 120, 255)}
    assert page.locator("#invert").count() == 0


def test_play_runs_to_the_modes_and_stops(moons, open_page):
    page = open_page(moons.path)
    last = len(moons.summary["steps"]) - 1
    slide(page, last - 2)
    play = page.locator("#play")
    play.click()
    assert play.inner_text() == "Stop"
    page.wait_for_function(f"document.getElementById('slider').value === '{last}'")
    assert play.inner_text() == "Play"
    play.click()  # from the modes it begins again
    assert step_of(page) < last
    play.click()
    stopped = step_of(page)
    page.wait_for_timeout(700)
    assert step_of(page) == stopped


@pytest.mark.parametrize("step", [0, -1])
def test_downloads_have_the_numbers_of_the_step(moons, open_page, step):
    page, path = open_page(moons.path), moons.clustering.path_
    slide(page, step % len(path))
    name, (head, *lines) = downloaded(page, "#download-modes")
    assert name == ("modes.csv" if step else "modes-step-1.csv")
    assert head == ["cluster", "name", "count", "share", "rows_averaged", "feature 0", "feature 1"]
    values = np.array([[*line[:1], *line[2:]] for line in lines], dtype=float)
    np.testing.assert_array_equal(values[:, 0], [0, 1])
    np.testing.assert_array_equal(values[:, 1], path.counts[step])
    np.testing.assert_array_equal(values[:, 4:], moons.summary["steps"][step]["typical"])
    np.testing.assert_allclose(values[:, 4:], path.centers[step], atol=0.01)
    name, (head, *lines) = downloaded(page, "#download-labels")
    assert head == ["row", "label", "name"]
    np.testing.assert_array_equal([int(line[0]) for line in lines], np.arange(300))
    np.testing.assert_array_equal([int(line[1]) for line in lines], path.labels[step])


def test_a_new_name_is_everywhere_and_in_the_downloads(table, open_page):
    page = open_page(table.path, width=1281)
    old = table.summary["cards"][1]["name"]
    for name, key in [("never kept", "Escape"), ("Loyal, <b>old</b> hands", "Enter")]:
        page.locator("#cluster-1 .rename").click()
        page.locator("#cluster-1 input").fill(name)
        page.keyboard.press(key)
    shown = page.locator('[data-name="1"]').all_text_contents()
    assert len(shown) >= 6
    assert set(shown) == {"Loyal, <b>old</b> hands"}
    slide(page, len(table.summary["steps"]) - 1)
    for button, place in [("#download-modes", 1), ("#download-labels", -1)]:
        _, lines = downloaded(page, button)
        found = {line[place] for line in lines}
        assert "Loyal, <b>old</b> hands" in found
        assert old not in found
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#cluster-1 h3").inner_text() == "Loyal, <b>old</b> hands"
    page.locator("#cluster-1 .rename").click()
    page.locator("#cluster-1 input").fill(" ")
    page.keyboard.press("Enter")  # no name: the one that the cluster was given comes back
    assert page.locator("#cluster-1 h3").inner_text() == old


def test_the_table_is_sorted_and_searched(eighty, open_page):
    page = open_page(eighty.path)
    heading = page.locator("#table thead button", has_text="Measure").last
    column = page.locator("#table thead th").all_inner_texts().index(heading.inner_text())
    for order in ("descending", "ascending"):
        heading.click()
        values = [number(line[column]) for line in table_cells(page, "#table")[1:]]
        assert values == sorted(values, reverse=order == "descending")
        assert page.locator("#table th[aria-sort]").get_attribute("aria-sort") == order
    name = eighty.summary["cards"][7]["name"]
    page.locator("#table-find").fill(name)
    shown = [line for line in page.locator("#table tbody tr").all() if line.is_visible()]
    assert 1 <= len(shown) < 80
    assert any(name in line.inner_text() for line in shown)
    page.locator("#find").fill("no such words")
    assert page.locator("#no-cards").is_visible()
    page.locator("#find").fill("")
    assert page.locator(".card >> visible=true").count() == 80


def test_many_clusters_are_closed_and_low(eighty, open_page):
    for width in (1400, 360):
        page = open_page(eighty.path, width=width)
        assert page.evaluate("document.documentElement.scrollHeight") <= 9000
        assert page.locator(".card .body >> visible=true").count() == 0
    page = open_page(eighty.path, width=1400)
    page.locator("#sizes a").nth(3).click()
    assert page.locator(".card .body >> visible=true").count() == 1
    assert page.locator(".card.open .apart li").count() == 5
    page.locator("#card-tools button", has_text="Open all").click()
    assert page.locator(".card .body >> visible=true").count() == 80


def test_two_clusters_are_compared(table, open_page):
    page, cards = open_page(table.path), table.summary["cards"]
    page.locator("#cluster-2 button", has_text="Compare").click()
    first, second = page.locator("#compare-tools select").all()
    pair = [int(select.input_value()) for select in (first, second)]
    assert pair == [2, cards[2]["nearest"]["cluster"]]
    lines = table_cells(page, "#compare table")[1:]
    plans = next(line for line in lines if line[0] == "Plan")
    assert plans[1] == f"{cards[2]['typical']['Plan']} {cards[2]['detail']['Plan']['share']:.0%}"
    second.select_option("0" if pair[1] else "1")
    assert cards[0 if pair[1] else 1]["name"] in page.locator("#compare thead").inner_text()


def test_labels_of_others_have_no_slider(make_page, open_page):
    X, _ = make_blobs(90, n_features=3, random_state=0)
    labels = AgglomerativeClustering(3).fit_predict(X)
    labels[:5] = -1
    shown = make_page(labels, pd.DataFrame(X, columns=list("abc")))
    page = open_page(shown.path)
    assert page.locator("#steps").is_hidden()
    assert page.locator("#path-panel").is_hidden()
    assert "In no cluster" in page.locator("#sizes").inner_text()
    _, lines = downloaded(page, "#download-labels")
    np.testing.assert_array_equal([int(line[1]) for line in lines[1:]], labels)


@pytest.mark.parametrize("model", [MeanShift(0.4), LaplacianKModes(2)])
def test_other_estimators(model, make_page, open_page):
    X, _ = make_moons(120, noise=0.05, random_state=0)
    shown = make_page(model.fit(X), X)
    page = open_page(shown.path)
    assert page.locator(".card").count() == shown.summary["n_clusters"]
    assert type(model).__name__ in page.locator("#facts").inner_text()


def test_one_cluster(make_page, open_page):
    X, _ = make_blobs(60, n_features=3, random_state=0)
    page = open_page(make_page(KModes(1, random_state=0).fit(X), X).path)
    assert page.locator(".card").count() == 1
    assert page.locator("#compare-panel").is_hidden()
    assert page.locator("#heat-panel").is_hidden()
