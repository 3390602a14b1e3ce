import matplotlib as mpl
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def closed_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
