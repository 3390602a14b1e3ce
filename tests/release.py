"""Check whether a tag can be released: `python tests/release.py v0.1.0`.

The tag, the version, the changelog, the citation and the recipe for conda-forge must agree.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def hindrances(tag, root=ROOT):
    """Yield the problems that prevent the release of a tag."""
    version = _found(r'^__version__ = "(.+)"$', root / "src" / "modeclust" / "__init__.py")
    cited = _found(r"^version: (.+)$", root / "CITATION.cff")
    cited_on = _found(r"^date-released: (.+)$", root / "CITATION.cff")
    packed = _found(r'^  version: "(.+)"$', root / "recipe" / "recipe.yaml")
    heading = _found(r"^## (.+)$", root / "CHANGELOG.md") or ""
    dated = re.fullmatch(r"(\S+) \((\d{4}-\d{2}-\d{2})\)", heading)
    if tag != f"v{version}":
        yield f"the tag is {tag}, the version {version}"
    if cited != version:
        yield f"CITATION.cff has version {cited}, not {version}"
    if packed != version:
        yield f"recipe.yaml has version {packed}, not {version}"
    if not dated:
        yield f"CHANGELOG.md begins with {heading!r}, not with a version and its date"
    elif dated[1] != version:
        yield f"CHANGELOG.md begins with {dated[1]}, not with {version}"
    elif cited_on != dated[2]:
        yield f"CITATION.cff was released on {cited_on}, by CHANGELOG.md on {dated[2]}"


def _found(pattern, file):
    found = re.search(pattern, file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return found and found[1]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/release.py TAG")
    for hindrance in (found := list(hindrances(sys.argv[1]))):
        print(hindrance)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
