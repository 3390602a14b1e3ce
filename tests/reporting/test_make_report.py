import json

import pytest

from modeclust.reporting.page import Report


def test_a_missing_folder_is_found_before_work(blobs, tmp_path, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr("modeclust.reporting.page.summarize", None)
    with pytest.raises(FileNotFoundError, match="the folder of the report does not exist"):
        model.report(X, path=tmp_path / "nowhere" / "report.html")


def test_reports_are_written_to_the_path(blobs, tmp_path, monkeypatch):
    X, y, model = blobs
    monkeypatch.chdir(tmp_path)
    report = model.report(X, y, title="Blobs")
    assert isinstance(report, Report)
    assert repr(report) == "Report('Blobs', 17 steps)"
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.to_html()
    report.save("numbers.json")
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == report.summary
    assert model.report(X, path=None).summary["title"] == "3 modes of 150 rows"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["numbers.json", "report.html"]
    assert report.to_html() == model.report(X, y, None, title="Blobs").to_html()


def test_missing_packages_are_named(blobs, monkeypatch):
    X, _, model = blobs
    monkeypatch.setattr("modeclust.reporting.page.find_spec", lambda name: None)
    with pytest.raises(
        ImportError, match=r"plotly and jinja2; install it with .*modeclust\[report\]"
    ):
        model.report(X, path=None)


def test_a_report_can_have_an_invalid_character(blobs, tmp_path):
    X, _, model = blobs
    for name in ("report.html", "report.json"):
        model.report(X, path=tmp_path / name, title="odd \ud800 title")
    assert len(list(tmp_path.iterdir())) == 2
