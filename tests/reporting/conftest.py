from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons

import modeclust
from modeclust import KModes
from tests.reporting.tables import customer_pipeline, customers


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(150, n_features=4, centers=3, random_state=0)
    return X, y, KModes(3, random_state=0).fit(X)


@pytest.fixture(scope="module")
def pages(chromium):
    """Return a function that opens each file once, and the list of problems in all of them."""
    opened, problems = {}, []

    def watch(request):
        if not request.url.startswith(("file:", "blob:", "data:", "about:")):
            problems.append(request.url)

    def open_file(path, width=1280, scheme="light", ready="body[data-ready]"):
        if (path, width, scheme) not in opened:
            context = chromium.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page = opened[path, width, scheme] = context.new_page()
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("dialog", lambda dialog: problems.append(dialog.message))
            page.on("request", watch)
            page.goto(path.as_uri())
            page.wait_for_selector(ready)
        return opened[path, width, scheme]

    yield open_file, problems
    for page in opened.values():
        page.context.close()


@pytest.fixture
def open_page(pages):
    """Return a function that opens a file; errors and requests in any page fail the test."""
    open_file, problems = pages
    yield open_file
    found = problems[:]
    problems.clear()
    assert found == []


@pytest.fixture(scope="module")
def make_page(tmp_path_factory):
    """Return a function that writes the page of a clustering, and returns what it was made of."""

    def make(clustering, data, **options):
        path = tmp_path_factory.mktemp("page") / "report.html"
        made = modeclust.report(clustering, data, path=path, **options)
        return SimpleNamespace(
            path=path, clustering=clustering, data=data, report=made, summary=made.summary
        )

    return make


@pytest.fixture(scope="module")
def table(make_page):
    data = customers()
    return make_page(customer_pipeline(data), data, row_names="CustomerID", title="Customers")


@pytest.fixture(scope="module")
def digits(make_page):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    return make_page(KModes(10, random_state=0).fit(X), X, y=y, image_shape=(8, 8))


@pytest.fixture(scope="module")
def moons(make_page):
    X, y = make_moons(300, noise=0.05, random_state=0)
    return make_page(KModes(2, random_state=0).fit(X), X, y=y)


@pytest.fixture(scope="module")
def eighty(make_page):
    """Eighty clusters of sixteen columns."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 80, 1600)
    data = pd.DataFrame(rng.normal(0, 4, (80, 16))[group] + rng.normal(0, 1, (1600, 16)))
    data.columns = [f"Measure {number}" for number in range(16)]
    return make_page(KModes(80, n_init=1, random_state=0).fit(data), data)
