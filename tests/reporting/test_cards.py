import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

from modeclust import KModes
from modeclust.reporting.summarize import summarize
from tests.reporting.tables import WORDS, customer_pipeline, customers

NUMBERS = ["Income", "Age", "Accepted"]


@pytest.fixture(scope="module")
def fitted():
    table = customers()
    pipeline = customer_pipeline(table)
    return table, pipeline, summarize(pipeline, table)


@pytest.fixture(scope="module")
def weighted(fitted):
    """Return the rows of each cluster with their weights in the mode, computed here."""
    table, pipeline, _ = fitted
    X, model = pipeline[:-1].transform(table), pipeline[-1]
    squares = ((X - model.modes_[model.labels_]) ** 2).sum(axis=1)
    weight = np.exp(-0.5 * squares / model.mode_bandwidths_[model.labels_] ** 2)
    table = table.assign(weight=weight, cluster=model.labels_)
    return [rows for _, rows in table.groupby("cluster")]


def mean(rows, column):
    known = rows[rows[column].notna()]
    return np.average(known[column].astype(float), weights=known["weight"])


def shares(rows, column):
    weight = rows[rows[column].notna()].groupby(column)["weight"].sum()
    return (weight / weight.sum()).sort_values(ascending=False)


@pytest.mark.parametrize("column", NUMBERS)
def test_typical_numbers_are_weighted_means_in_original_units(fitted, weighted, column):
    for card, rows in zip(fitted[2]["cards"], weighted, strict=True):
        assert card["typical"][column] == pytest.approx(mean(rows, column), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("column", NUMBERS)
def test_ranges_are_weighted_quantiles(fitted, weighted, column):
    for card, rows in zip(fitted[2]["cards"], weighted, strict=True):
        known = rows[rows[column].notna()]
        wanted = np.quantile(
            known[column], [0.1, 0.9], weights=known["weight"], method="inverted_cdf"
        )
        np.testing.assert_allclose(card["detail"][column]["range"], wanted, rtol=1e-6)


def test_typical_categories_and_booleans_have_shares(fitted, weighted):
    for card, rows in zip(fitted[2]["cards"], weighted, strict=True):
        for column in ("Plan", "Owner"):
            wanted = shares(rows, column)
            detail = card["detail"][column]
            assert card["typical"][column] == wanted.index[0]
            assert detail["share"] == pytest.approx(wanted.iloc[0], abs=1e-4)
            found = {value: share for value, share in detail["shares"] if share}
            assert found == pytest.approx(wanted[wanted > 5e-5].to_dict(), abs=1e-4)
        missing = rows["weight"][rows["Plan"].isna()].sum() / rows["weight"].sum()
        assert card["detail"]["Plan"].get("missing", 0) == pytest.approx(missing, abs=1e-4)


def test_typical_dates_are_weighted_middles(fitted, weighted):
    for card, rows in zip(fitted[2]["cards"], weighted, strict=True):
        rows = rows.sort_values("Since")
        total = rows["weight"].cumsum() / rows["weight"].sum()
        middle = rows["Since"][total >= 0.5].iloc[0]
        assert card["typical"]["Since"] == str(middle.date())


def test_sizes_and_missing_values_are_counted(fitted):
    table, pipeline, summary = fitted
    counts = pd.Series(pipeline[-1].labels_).value_counts().sort_index()
    assert [card["rows"] for card in summary["cards"]] == counts.tolist()
    assert [card["share"] for card in summary["cards"]] == (counts / len(table)).tolist()
    missing = {column["name"]: column["missing"] for column in summary["columns"]}
    assert missing == table.drop(columns="Country").isna().sum().to_dict()
    np.testing.assert_allclose(
        [card["rows_averaged"] for card in summary["cards"]],
        pipeline[-1].rows_averaged_,
        atol=0.01,
    )


def test_the_kinds_of_columns_and_which_were_clustered(fitted):
    told = {
        column["name"]: (column["kind"], column["clustered"]) for column in fitted[2]["columns"]
    }
    assert told == {
        "Income": ("number", True),
        "Age": ("number", True),
        "Plan": ("category", True),
        "Owner": ("boolean", False),
        "Since": ("date", False),
        "Accepted": ("number", False),
        "CustomerID": ("id", False),
        "Comment": ("text", False),
    }
    assert "found by KModes on 3 of 9 columns" in fitted[2]["facts"][0]


def test_what_sets_a_cluster_apart(fitted, weighted):
    table, _, summary = fitted
    low, high = np.sort(table["Income"].dropna())[[2, -3]]  # 1% of 266 values
    income = table["Income"].clip(low, high)
    for card, rows in zip(summary["cards"], weighted, strict=True):
        assert len(card["apart"]) == 5
        sizes = [abs(item["effect"]) for item in card["apart"]]
        assert sizes == sorted(sizes, reverse=True)
        items = {item["column"]: item for item in card["apart"]}
        if item := items.get("Plan"):
            share = shares(rows, "Plan")[item["category"]]
            overall = (table["Plan"].dropna() == item["category"]).mean()
            wanted = share, overall, (share - overall) / np.sqrt(overall * (1 - overall))
            found = item["value"], item["overall"], item["effect"]
            assert found == pytest.approx(wanted, abs=1e-3)
            text = f"Plan {item['category']} {share:.0%} (all rows {overall:.0%})"
            assert item["text"].replace("<1%", "0%").replace(">99%", "100%") == text
        if item := items.get("Income"):
            assert item["overall"] == pytest.approx(income.mean())
            own = mean(rows.assign(Income=rows["Income"].clip(low, high)), "Income")
            assert item["effect"] == pytest.approx(
                (own - income.mean()) / income.std(ddof=0), abs=1e-3
            )
    told = " ".join(card["sentence"] for card in summary["cards"])
    assert "Income" in told
    assert "Plan" in told


def test_nearest_clusters_and_what_tells_them_apart(fitted):
    _, pipeline, summary = fitted
    modes = pipeline[-1].modes_
    distances = np.linalg.norm(modes[:, None] - modes, axis=2) + np.diag([np.inf] * 3)
    for k, card in enumerate(summary["cards"]):
        nearest = card["nearest"]
        assert nearest["cluster"] == distances[k].argmin()
        assert nearest["distance"] == pytest.approx(distances[k].min())
        assert len(nearest["apart"]) == 3
        item = nearest["apart"][0]
        if "category" not in item:
            other = summary["cards"][nearest["cluster"]]
            assert item["value"] == card["typical"][item["column"]]
            assert item["other"] == other["typical"][item["column"]]


def test_examples_are_the_nearest_rows_with_all_fields(fitted):
    table, pipeline, summary = fitted
    X, model = pipeline[:-1].transform(table), pipeline[-1]
    for k, card in enumerate(summary["cards"]):
        own = np.flatnonzero(model.labels_ == k)
        distances = np.linalg.norm(X[own] - model.modes_[k], axis=1)
        rows = own[np.argsort(distances, kind="stable")][:5]
        assert [example["row"] for example in card["examples"]] == rows.tolist()
        for example in card["examples"]:
            row = table.iloc[example["row"]]
            assert example["name"] == str(row["CustomerID"])
            assert example["text"] == row["Comment"]
            values = example["values"]
            assert values["Age"] == row["Age"]
            assert values["Plan"] == row["Plan"]
            assert values["Since"] == str(row["Since"].date())
            assert values["Income"] == (None if np.isnan(row["Income"]) else row["Income"])
            assert set(values) == set(table.columns) - {"Country", "Comment"}


def test_terms_are_words_of_the_texts(fitted):
    summary = fitted[2]
    found = [{term for term, _ in card["terms"][:4]} for card in summary["cards"]]
    assert sorted(max(range(3), key=lambda g: len(own & set(WORDS[g]))) for own in found) == [
        0,
        1,
        2,
    ]


def test_the_frame_may_be_of_polars(fitted):
    table, pipeline, summary = fitted
    X = pipeline[:-1].transform(table)
    other = summarize(pipeline[-1], pl.from_pandas(table), X=X)
    assert [card["typical"] for card in other["cards"]] == [
        card["typical"] for card in summary["cards"]
    ]
    assert [card["apart"] for card in other["cards"]] == [
        card["apart"] for card in summary["cards"]
    ]


def test_the_last_step_has_the_values_of_the_cards(fitted):
    summary = fitted[2]
    names = [summary["columns"][c]["name"] for c in summary["step_columns"]]
    for card, values in zip(summary["cards"], summary["steps"][-1]["typical"], strict=True):
        assert dict(zip(names, values, strict=True)) == card["typical"]


def test_the_first_step_has_plain_means(fitted):
    table, pipeline, summary = fitted
    first = pipeline[-1].path_.labels[0]
    place = [summary["columns"][c]["name"] for c in summary["step_columns"]].index("Age")
    found = [values[place] for values in summary["steps"][0]["typical"]]
    np.testing.assert_allclose(found, table.groupby(first)["Age"].mean(), rtol=1e-6)


def test_weights_count():
    table = customers().drop(columns=["Comment", "Plan"])
    X = table[["Age", "Accepted"]].to_numpy(float)
    weight = np.random.default_rng(0).integers(0, 3, len(table))
    model = KModes(2, bandwidth=np.inf, random_state=0).fit(X, sample_weight=weight)
    summary = summarize(model, table, X=X, sample_weight=weight)
    for k, card in enumerate(summary["cards"]):
        own = model.labels_ == k
        wanted = np.average(table["Age"][own], weights=weight[own])
        assert card["typical"]["Age"] == pytest.approx(wanted)
        assert all(weight[example["row"]] > 0 for example in card["examples"])


def test_names_of_clusters_differ_and_say_what_they_are(fitted):
    names = [card["name"] for card in fitted[2]["cards"]]
    assert len(set(names)) == 3
    assert all("Income" in name or "Plan" in name or "Age" in name for name in names)


HOSTILE = ["</script><img src=x onerror=alert(1)>", "a" * 200, "שלום", "__proto__", "", "a\nb\tc"]


def test_hostile_names_are_kept_as_they_are():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (50, 6)), rng.normal(9, 1, (50, 6))]
    table = pd.DataFrame(X, columns=HOSTILE)
    summary = summarize(KModes(2, random_state=0).fit(X), table)
    assert [column["name"] for column in summary["columns"]] == HOSTILE
    assert set(summary["cards"][0]["typical"]) == set(HOSTILE)
    assert all(len(card["name"]) <= 100 for card in summary["cards"])
    json.dumps(summary, allow_nan=False)


def test_clusters_without_rows():
    X = np.zeros((4, 1))
    with pytest.warns(ConvergenceWarning, match="some clusters are empty"):
        model = KModes(2, bandwidth=1.0).fit(X)
    assert model.counts_.tolist() == [4, 0]
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "kind": list("aabb")})
    summary = summarize(model, table, X=X)
    empty = summary["cards"][1]
    assert empty["typical"] == {"x": None, "kind": None}
    assert (empty["examples"], empty["apart"], empty["nearest"]) == ([], [], None)
    assert (empty["name"], empty["rows"], empty["share"]) == ("Cluster 1", 0, 0.0)
    assert summary["cards"][0]["nearest"] is None
    json.dumps(summary, allow_nan=False)


def test_the_time_of_day_is_shown_only_among_few_days():
    X = np.r_[np.zeros(20), np.ones(20)][:, None]
    for days, wanted in ((100.0, 10), (2.0, 16)):
        start = pd.Timestamp("2020-03-01 09:30")
        when = start + pd.to_timedelta(np.linspace(0, days, 40), "D")
        summary = summarize(np.repeat([0, 1], 20), pd.DataFrame({"when": when}), X=X)
        card = summary["cards"][0]
        assert {len(value) for value in card["detail"]["when"]["range"]} == {wanted}
        assert len(card["typical"]["when"]) == wanted
        assert len(card["examples"][0]["values"]["when"]) == 16


def test_names_use_only_what_holds_in_the_whole_cluster():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 200), rng.normal(50, 1, 200)])
    plans = np.where(np.abs(x) < 0.7, "basic", "pro")  # half of the first cluster each
    plans[200:] = rng.permutation(plans[:200])
    table = pd.DataFrame({"x": x, "plan": plans})
    cards = summarize(np.repeat([0, 1], 200), table, X=table[["x"]])["cards"]
    items = {item["column"]: item for item in cards[0]["apart"]}
    assert items["plan"]["value"] > 0.9
    assert items["plan"]["overall"] == pytest.approx(0.5, abs=0.05)
    assert cards[0]["name"] == "Low x"
    assert "plan" not in cards[0]["sentence"]


def test_columns_of_noise_are_hardly_ever_in_names():
    """The rows around a mode are few, so columns that mean nothing differ by chance."""
    n_names = n_sentences = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 4, 300)
        days = pd.to_timedelta(rng.integers(0, 2000, 300), "D")
        table = pd.DataFrame(
            {
                "income": np.array([30.0, 60.0, 90.0, 45.0])[group] + rng.normal(0, 5, 300),
                "noise 1": rng.normal(size=300),
                "noise 2": rng.exponential(size=300),
                "noise 3": pd.Timestamp("2020-01-01") + days,
                "noise 4": rng.choice(["red", "green", "blue"], 300),
                "noise 5": rng.choice([True, False], 300),
            }
        )
        cards = summarize(group, table, X=table[["income"]])["cards"]
        n_names += sum("noise" in card["name"] for card in cards)
        n_sentences += sum("noise" in card["sentence"] for card in cards)
    assert n_names <= 4
    assert n_sentences <= 6


def test_a_name_has_no_value_that_is_far_from_the_cluster():
    """The rows around the modes have another year, day and plan than most rows of the cluster."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 300)
    at_mode = np.arange(600) < 60
    x = np.where(at_mode, 0.01, 3) * rng.uniform(-1, 1, 600) + 20 * group
    table = pd.DataFrame(
        {
            "built": np.where(at_mode, 2020, 1990) + rng.integers(-20, 20, 600) - 5 * group,
            "seen": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(2000 * at_mode + rng.integers(0, 2000, 600) - 300 * group, "D"),
            "plan": np.where(at_mode | (rng.random(600) < 0.1), "pro", "basic"),
        }
    )
    card = summarize(group, table, X=x[:, None])["cards"][0]
    assert {item["column"] for item in card["apart"]} == {"built", "seen", "plan"}
    assert card["name"] == "More plan pro"
    assert "built" in card["sentence"]
