"""Images of a report, as bytes."""

import base64
from typing import Any

import numpy as np

from modeclust.data.reading import Doubles, is_sparse
from modeclust.reporting.data import Source
from modeclust.reporting.rows import Rows

MAX_MODE_BYTES = 3_000_000  # in the images of the modes along the path


def summarize_images(
    source: Source, rows: Rows, cards: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the images of the examples and of the modes, and number the examples.

    The image of a mode is the mean of the images of its rows, with the weights of the mode.
    """
    if rows.images is None or rows.image_shape is None:
        return None
    examples = [item for card in cards for item in card["examples"]]
    numbers = [int(row) for item in examples for row in [item.pop("own_row")]]
    chosen = sorted(set(numbers))
    places = {row: place for place, row in enumerate(chosen)}
    for item, row in zip(examples, numbers, strict=True):
        item["image"] = places[row]
    low, high = _limits(rows.images)
    modes = np.stack([_mode_images(source, rows.images, step) for step in range(len(source.path))])
    return {
        "shape": rows.image_shape,
        "low": low,
        "high": high,
        "rows": _encode(_dense(rows.images[chosen]), low, high),
        "modes": _encode(modes, low, high),
    }


def _dense(values: Any) -> Doubles:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


def _limits(images: Any) -> tuple[float, float]:
    """Return the values of black and white: 0 and the largest value unless some are negative.

    White is 1 for values up to 1 and 255 for bytes.
    """
    low, high = float(images.min()), float(images.max())
    if low >= 0:
        low = 0.0
        if images.dtype == np.uint8:
            high = 255.0
        elif high <= 1:
            high = 1.0
    return low, high if high > low else low + 1.0


def _mode_images(source: Source, images: Any, step: int) -> Doubles:
    """Return the mean image of each cluster with the weights of its mode."""
    weights = source.weights(step)
    found = np.zeros((source.n_clusters, images.shape[1]))
    for k in range(source.n_clusters):
        own = np.flatnonzero(weights.labels == k)
        if len(own):
            values = weights.values[own]
            found[k] = np.asarray(images[own].T @ (values / values.sum())).ravel()
    return found


def _encode(images: Doubles, low: float, high: float) -> str:
    scaled = np.clip(np.round((images - low) * (255 / (high - low))), 0, 255)
    return base64.b64encode(scaled.astype(np.uint8).tobytes()).decode()
