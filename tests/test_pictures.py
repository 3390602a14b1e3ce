"""The pictures of the documentation can be drawn again. `make docs` runs these."""

import re
import subprocess
import sys

import pytest
from pages import DOCS, DOCS_PAGES, README
from PIL import Image

PICTURES = DOCS / "pictures"
DRAWN_BY = {
    "guide.py": ["adaptive.png", "kernels.png", "paths.png", "which_algorithm.png"],
    "front.py": ["digits.png", "front_dark.svg", "front_light.svg"],
}
# A screenshot of the explorer.
OTHERS = ["explorer.png"]

pytestmark = pytest.mark.docs


@pytest.mark.parametrize("script", DRAWN_BY)
@pytest.mark.timeout(600)
def test_a_script_draws_its_pictures(script, tmp_path):
    subprocess.run([sys.executable, PICTURES / script, "--out", tmp_path], check=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == DRAWN_BY[script]
    for file in tmp_path.glob("*.png"):
        with Image.open(file) as drawn, Image.open(PICTURES / file.name) as shown:
            assert drawn.size == shown.size


def test_every_picture_is_shown_and_drawn_by_something():
    files = sorted(file.name for file in PICTURES.iterdir() if file.suffix in (".png", ".svg"))
    drawn = [name for names in DRAWN_BY.values() for name in names]
    assert files == sorted([*drawn, *OTHERS])
    text = "".join(page.read_text(encoding="utf-8") for page in (README, *DOCS_PAGES))
    assert sorted(set(re.findall(r"pictures/(\w+\.(?:png|svg))", text))) == files
