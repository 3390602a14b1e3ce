import numpy as np
import pandas as pd
import pytest

from modeclust import KModes
from modeclust.reporting.summarize import summarize


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [0, 1]}, "one class for each of the 150 rows"),
        ({"y": np.linspace(0, 1, 150)}, "must be classes"),
        ({"image_shape": (3, 3)}, "image_shape must hold the 4 features"),
        ({"image_shape": (4,)}, "image_shape must be"),
        ({"image_shape": 4}, "image_shape must be"),
        ({"image_shape": "2x2"}, "image_shape must be"),
        ({"feature_names": "abcd"}, "feature_names must be a list"),
        ({"image_shape": (1, 2, 2)}, "image_shape must be"),
        ({"feature_names": ["a"]}, "feature_names must have one name for each of the 4"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"sample_scale": np.zeros(150)}, "sample_scale must be > 0"),
        ({"path": "report.pdf"}, "must end in .html or .json"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(blobs, options, message, tmp_path, monkeypatch):
    X, _, model = blobs
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        model.report(X, **options)
    assert list(tmp_path.iterdir()) == []


def test_names_of_a_frame_are_used_in_any_order(blobs):
    X, _, _ = blobs
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = KModes(3, n_bandwidths=2, random_state=0).fit(frame)
    summary = summarize(model, frame)
    assert [column["name"] for column in summary["columns"]] == list("abcd")
    turned = summarize(model, frame[list("dcba")])
    assert turned["map"] == summary["map"]


@pytest.mark.parametrize(
    "missing",
    [
        np.r_[np.nan, np.zeros(149)],
        pd.Series([None] + ["a"] * 149),
        pd.Series([pd.NA] + ["a"] * 149),
        pd.Series([pd.NA] + [1] * 149, dtype="Int64"),
    ],
)
def test_missing_classes_are_named(blobs, missing):
    X, _, model = blobs
    with pytest.raises(ValueError, match="1 are missing, the first in row 0"):
        summarize(model, X, y=missing)
