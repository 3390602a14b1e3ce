"""What must hold for whatever users may pass, over everything public; see `properties`."""

import pytest
from properties import fits, shown, tables, typed, ways  # noqa: F401
from properties.drawing import PROPERTIES
from public import CALLABLE, parameters

# What takes no data, and `report` of the command line, which only reads files for `report`.
NOT_DRAWN = {"modeclust demo", "modeclust report", "show_versions"}


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


def test_every_parameter_of_everything_public_is_drawn():
    drawn = {}
    for which in PROPERTIES:
        for name, row in which.table.items():
            drawn.setdefault(name, set()).update(row)
    assert drawn == {name: set(parameters(name)) for name in CALLABLE if name not in NOT_DRAWN}
