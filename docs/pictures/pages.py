"""Take the screenshots of report pages: that of the digits, and one card of a table.

    python docs/pictures/pages.py [--out FOLDER]

Needs Chromium, which `python tests/browser.py` installs.
"""

import argparse
import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import modeclust
from modeclust import KModes

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))
from tests.browser import OPTIONS, find_browser  # noqa: E402

N_COLORS = 256  # of a picture, which keeps its file small


def write_digits(path):
    """Write the page of the digits."""
    X = load_digits().data
    model = KModes(10, random_state=0).fit(X)
    modeclust.report(model, X, image_shape=(8, 8), title="Handwritten digits", path=path)


def write_wines(path):
    """Write the page of a table of wines."""
    wines = load_wine(as_frame=True).data.rename(
        columns=lambda name: name.removesuffix("_of_diluted_wines").replace("_", " ")
    )
    model = make_pipeline(StandardScaler(), KModes(3, random_state=0)).fit(wines)
    modeclust.report(model, wines, title="Wines", path=path)


def take(browser, page_file, width, part, scale):
    """Return a screenshot of a part of a page, or of the first screen if the part is None."""
    size = {"width": width, "height": 980}
    page = browser.new_page(viewport=size, device_scale_factor=scale)
    page.goto(page_file.as_uri())
    page.wait_for_selector("body[data-ready]")
    page.wait_for_timeout(500)
    shot = (page if part is None else page.locator(part).first).screenshot()
    page.close()
    return Image.open(io.BytesIO(shot)).convert("RGB").quantize(N_COLORS, dither=Image.Dither.NONE)


def main():
    """Take the screenshots."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=FOLDER)
    out = parser.parse_args().out
    pictures = {
        "explorer.png": (write_digits, 1400, None, 1),
        "card.png": (write_wines, 800, ".card", 2),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(OPTIONS))
        for name, (write, width, part, scale) in pictures.items():
            page_file = out.resolve() / f"{name}.html"
            write(page_file)
            take(browser, page_file, width, part, scale).save(out / name, optimize=True)
            page_file.unlink()
        browser.close()


if __name__ == "__main__":
    main()
