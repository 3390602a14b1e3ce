import pytest
from sklearn.datasets import make_blobs

from modeclust import KModes


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

    def open_file(path, width=1280, scheme="light", ready="#curves .main-svg"):
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
