"""What the documentation shows runs, and its links lead somewhere. `make docs` runs these."""

import contextlib
import doctest
import io
import re
import shlex
import shutil
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import polars as pl
import pytest
from pages import COMMANDS, DOCS_PAGES, ROOT, blocks, lines_to_run, run
from sklearn.datasets import load_iris

from modeclust import KModes

SITE = ROOT / "out" / "docs"
# As in docstrings: `...` stands for anything.
is_as_shown = partial(
    doctest.OutputChecker().check_output,
    optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
)

pytestmark = pytest.mark.docs


def of_pages_with(found):
    pages = [page for page in DOCS_PAGES if found(page)]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.stem)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table that the pages cluster."""
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=iris.target_names[iris.target])
    flowers.to_csv(tmp_path / "flowers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@of_pages_with(lambda page: blocks(page, "python"))
def test_the_python_of_a_page_runs_and_prints_what_it_shows(page, folder):
    namespace = {}
    for block, shown in blocks(page, "python"):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(block, namespace)
        if shown:
            assert is_as_shown(shown, printed.getvalue()), f"{shown}\nis not\n{printed.getvalue()}"


@of_pages_with(lines_to_run)
def test_the_commands_of_a_page_run(page, folder):
    for line in lines_to_run(page):
        run(line)


@cache
def parsed(file):
    from bs4 import BeautifulSoup

    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def built():
    """Return the pages of the site, which `make docs` has made before."""
    assert (SITE / "index.html").exists(), "the site is not there: run `make docs`"
    return sorted(file for file in SITE.rglob("*.html") if "_static" not in file.parts)


def linked(file):
    """Yield the addresses that a page links or loads."""
    for attribute in ("href", "src"):
        yield from (tag[attribute] for tag in parsed(file).select(f"[{attribute}]"))
    for tag in parsed(file).select("[srcset]"):
        yield from (part.split()[0] for part in tag["srcset"].split(","))


def is_there(file, address):
    """Return whether an address that is not of another host leads somewhere."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return True
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    target = target / "index.html" if target.is_dir() else target
    fragment = unquote(parts.fragment)
    if not fragment or target.suffix != ".html":
        return target.exists()
    return target.exists() and parsed(target).find(id=fragment) is not None


def test_every_link_of_the_site_leads_somewhere():
    dead = {
        (file.relative_to(SITE).as_posix(), address)
        for file in built()
        for address in linked(file)
        if not is_there(file, address)
    }
    assert not dead


def test_the_site_loads_nothing_from_other_hosts():
    loaded = {
        (file.relative_to(SITE).as_posix(), tag.get("src") or tag.get("href"))
        for file in built()
        for tag in parsed(file).select("[src], link[href]:not([rel=canonical])")
    }
    assert len(loaded) > len(built())
    foreign = {pair for pair in loaded if urlsplit(pair[1]).netloc}
    foreign |= {
        (style.name, address)
        for style in SITE.rglob("*.css")
        for address in re.findall(r"url\([\"']?((?:https?:)?//[^)]*)", style.read_text("utf-8"))
    }
    assert not foreign


def test_the_page_of_the_command_line_has_every_command_and_option():
    page = parsed(SITE / "command_line.html")
    for name, command in COMMANDS.items():
        section = page.find(id=f"modeclust-{name}")
        text = " ".join(section.get_text().split())
        assert command.help in text
        told = {term.get_text() for term in section.select("dt .sig-name")}
        for parameter in command.params:
            is_argument = parameter.param_type_name == "argument"
            names = [parameter.metavar] if is_argument else parameter.opts
            assert told >= {*names, *parameter.secondary_opts}
            assert parameter.help in text
        assert f"modeclust {name}" in section.select("div.highlight-sh")[-1].get_text()


def prepare_files():
    """Write the files that the examples of the command line read."""
    rng = np.random.default_rng(0)
    new = pl.read_csv("flowers.csv").drop("species")
    new.write_csv("new.csv")
    new.write_parquet("new.parquet")
    customers = new.with_columns(
        pl.Series("name", [f"customer {i}" for i in range(len(new))]),
        pl.Series("comment", rng.choice(["always a pleasure", "never again"], len(new))),
    )
    customers.write_csv("customers.csv")
    KModes(3, random_state=0).fit(new).save("model.npz")
    np.save("images.npy", rng.random((100, 28 * 28)))
    np.save("large.npy", rng.random((400, 2)))
    Path("parts").mkdir()
    for part in range(2):
        new.write_parquet(f"parts/{part}.parquet")
    run("modeclust fit iris -k 3")
    run("modeclust predict iris.modes new.csv -o labels.csv")


def read_by(line):
    """Return the words of a command that may be files that it reads."""
    words = shlex.split(line)
    return [word for before, word in pairwise(words) if before != "-o"]


@pytest.mark.timeout(1800)  # a process for each
def test_the_examples_of_the_command_line_run(folder, monkeypatch):
    prepare_files()
    page = parsed(SITE / "command_line.html")
    lines = [line for tag in page.select("div.highlight-sh") for line in tag.get_text().split("\n")]
    commands = dict.fromkeys(line for line in lines if line.startswith("modeclust "))
    assert {line.split()[1] for line in commands} == set(COMMANDS)
    for number, line in enumerate(commands):
        own = folder / f"example {number}"
        own.mkdir()
        for file in (folder / name for name in read_by(line)):
            if file.is_dir():
                shutil.copytree(file, own / file.name)
            elif file.exists():
                shutil.copy(file, own)
        monkeypatch.chdir(own)
        run(line)
