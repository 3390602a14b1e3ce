"""The pictures of the documentation can be drawn again. `make docs` runs these."""

import re
import subprocess
import sys

import pytest
from pages import DOCS, DOCS_PAGES, README
from PIL import Image

from tests.browser import find_browser

PICTURES = DOCS / "pictures"
DRAWN_BY = {
    "guide.py": ["adaptive.png", "kernels.png", "paths.png", "which_algorithm.png"],
    "front.py": ["digits.png", "front_dark.svg", "front_light.svg"],
    "pages.py": ["card.png", "explorer.png"],
}

pytestmark = pytest.mark.docs


@pytest.mark.parametrize("script", DRAWN_BY)
@pytest.mark.timeout(600)
def test_a_script_draws_its_pictures(script, tmp_path):
    if script == "pages.py" and find_browser() is None:
        pytest.skip("no browser")
    subprocess.run([sys.executable, PICTURES / script, "--out", tmp_path], check=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == DRAWN_BY[script]
    for file in tmp_path.glob("*.png"):
        with Image.open(file) as drawn, Image.open(PICTURES / file.name) as shown:
            assert drawn.width == shown.width
            # That of a card depends on the fonts.
            assert drawn.height == shown.height or file.name == "card.png"


def test_every_picture_is_shown_and_drawn_by_something():
    files = sorted(file.name for file in PICTURES.iterdir() if file.suffix in (".png", ".svg"))
    assert files == sorted(name for names in DRAWN_BY.values() for name in names)
    text = "".join(page.read_text(encoding="utf-8") for page in (README, *DOCS_PAGES))
    assert sorted(set(re.findall(r"pictures/(\w+\.(?:png|svg))", text))) == files
