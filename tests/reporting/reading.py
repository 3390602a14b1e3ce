"""What the tests read from an open page of a report, and how they use it."""

import base64
import csv
import io
from pathlib import Path

import numpy as np
from PIL import Image

MINUS = "\N{MINUS SIGN}"


def slide(page, step):
    """Move the slider to a step."""
    page.locator("#slider").fill(str(step))


def readout(page):
    """Return what is said of the step."""
    return page.locator("#readout").inner_text()


def step_of(page):
    """Return the step of the slider."""
    return int(page.locator("#slider").input_value())


def number(text):
    """Return a number as it is written on the page."""
    if text in ("<1%", ">99%"):
        return {"<": 0.0025, ">": 0.9975}[text[0]]
    text = text.replace(",", "").replace(MINUS, "-")
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def table_cells(page, selector):
    """Return the texts of a table, line by line."""
    return page.locator(selector).evaluate(
        "table => [...table.rows].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"
    )


def downloaded(page, button):
    """Press a button, and return the name and the lines of the CSV file that it makes."""
    with page.expect_download() as download:
        page.locator(button).click()
    with Path(download.value.path()).open(newline="", encoding="utf-8") as file:
        return download.value.suggested_filename, list(csv.reader(file))


def pixels(page, selector):
    """Return the pixels of a canvas, (height, width, 4)."""
    address = page.locator(selector).evaluate("canvas => canvas.toDataURL()")
    return np.array(Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))))
