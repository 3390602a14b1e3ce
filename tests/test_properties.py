"""What must hold for whatever users may pass, over everything public; see `properties`."""

import pytest
from properties import fits, shown, typed, ways  # noqa: F401
from properties.drawing import PROPERTIES


def each(properties):
    named = [pytest.param(which, id=which.check.__name__) for which in properties]
    return pytest.mark.parametrize("which", named)


@each(which for which in PROPERTIES if which.n_quick)
def test_on_a_few_examples(which):
    which.run(thorough=False)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@each(PROPERTIES)
def test_on_many_examples(which):
    which.run(thorough=True)
