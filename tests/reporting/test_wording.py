import numpy as np
import pytest

from modeclust.reporting.columns import Column, category_column
from modeclust.reporting.typical import AllRows
from modeclust.reporting.wording import ColumnWords, describe_cluster, name_clusters, shorten


def words(values, kind="number", name="x", *, is_integer=False):
    column = Column(name, kind, np.array(values, dtype=float), is_integer=is_integer)
    return ColumnWords(column, AllRows(column, None))


@pytest.mark.parametrize(
    ("values", "is_integer", "value", "wanted"),
    [
        (np.arange(20_000, 90_000, 100), True, 71599.99999, "71,600"),
        (np.arange(18, 80), True, 34.56, "34.6"),
        (np.arange(1940, 2005), True, 1974.3, "1974"),
        (np.arange(0, 3000), True, 1974.3, "1,970"),
        (np.arange(43, 79) / 10, False, 5.07249624, "5.07"),
        (np.arange(43, 79) / 10, False, 5.0, "5"),
        (np.linspace(-2, 2, 50), False, -0.5, "\N{MINUS SIGN}0.5"),
        (np.linspace(-2, 2, 50), False, -0.0001, "0"),
        ([0, 1, 1, 0, 0, 0], True, 0.884, "88%"),
        (np.linspace(1, 2, 50) * 1e-9, False, 1.5e-9, "1.5e-09"),
        (np.linspace(1, 2, 50) * 1e15, False, 1.5e15, "1.5e+15"),
        ([4.0, 4.0, 4.0], False, 4.0, "4"),
    ],
)
def test_numbers_are_written_as_people_do(values, is_integer, value, wanted):
    assert words(values, is_integer=is_integer).format.write(value) == wanted


def test_what_sets_a_cluster_apart_is_a_sentence():
    income = words(np.arange(20_000, 90_000, 100), name="Income", is_integer=True)
    assert (
        income.compare(71_600.4, 51_399.7, "all rows ", None) == "Income 71,600 (all rows 51,400)"
    )
    assert PLAN.compare(0.88, 0.41, "all rows ", "pro") == "Plan pro 88% (all rows 41%)"
    owner = words([0, 1, 1], "boolean", "Owner")
    assert owner.compare(0.88, 0.41, "there ", "True") == "Owner 88% (there 41%)"
    since = words(np.arange(19_000, 19_100), "date", "Since")
    assert since.is_daily
    assert since.compare("2022-01-08", "2022-02-01", "all rows ", None) == (
        "Since 2022-01-08 (all rows 2022-02-01)"
    )


plan_column = category_column("Plan", ["pro", "basic"] * 5)
PLAN = ColumnWords(plan_column, AllRows(plan_column, None))


@pytest.mark.parametrize(
    ("told", "effect", "value", "category", "wanted"),
    [
        (words([1, 2, 3], name="Income"), 1.0, 3.0, None, "High Income"),
        (words([1, 2, 3], name="Income"), -1.0, 1.0, None, "Low Income"),
        (words([0, 1, 1], name="Owner"), 1.0, 0.9, None, "Owner yes"),
        (words([0, 1, 1], name="Owner"), 1.0, 0.4, None, "More Owner"),
        (words([0, 1, 1], "boolean", "Owner"), -1.0, 0.02, "True", "Owner no"),
        (words([0, 1, 1], "boolean", "Owner"), -1.0, 0.3, "True", "Less Owner"),
        (PLAN, 1.0, 0.5, "pro", "Plan pro"),
        (PLAN, 1.0, 0.49, "pro", "More Plan pro"),
        (PLAN, -1.0, 0.1, "pro", "No Plan pro"),
        (
            words([1, 2, 3], name="גיל"),
            1.0,
            3.0,
            None,
            "High \N{FIRST STRONG ISOLATE}גיל\N{POP DIRECTIONAL ISOLATE}",
        ),
    ],
)
def test_parts_of_names(told, effect, value, category, wanted):
    assert told.adjective(effect, value, category) == wanted


def test_dates_are_as_exact_as_they_need_to_be():
    long = words(np.arange(15_000, 19_000, 10), "date", "Since")
    assert long.adjective(1.0, "2018-12-03", None) == "Since December 2018"
    assert long.compare("2018-12-03", "2016-05-01", "all rows ", None) == (
        "Since December 2018 (all rows May 2016)"
    )
    assert long.compare("2018-12-03", "2018-12-09", "there ", None) == (
        "Since 2018-12-03 (there 2018-12-09)"
    )
    year = words(np.arange(1940, 2005), name="Born", is_integer=True)
    assert year.adjective(-1.0, 1962.3, None) == "Born 1962"


def test_names_differ():
    parts = [["High A", "Low B", "High C"], ["High A", "Low B", "Low C"], ["High A"], [], []]
    assert name_clusters(parts, [f"Cluster {k}" for k in range(5)], 2) == [
        "High A, low B, high C",
        "High A, low B, low C",
        "High A",
        "Cluster 3",
        "Cluster 4",
    ]
    same = name_clusters([["High A"], ["High A"]], ["Cluster 0", "Cluster 1"], 2)
    assert same == ["High A (Cluster 0)", "High A (Cluster 1)"]


def test_long_texts_are_cut():
    assert shorten("a" * 200, 10) == "aaaaaaaaa…"
    assert shorten(" two\n lines ") == "two lines"


def test_a_cluster_in_a_sentence():
    assert describe_cluster(0.372, ["Income 71,600", "Plan pro 88%"]) == (
        "37% of rows. Typical: Income 71,600, Plan pro 88%."
    )
    assert describe_cluster(0.001, []) == "<1% of rows."
