"""The methods of a class: ours in full, those of scikit-learn in a line each."""

import inspect
from importlib import import_module

from sphinx.util.docutils import SphinxDirective


def members(cls, package):
    """Return the names of public methods and properties that a package defines, in its order."""
    names = dict.fromkeys(name for base in cls.__mro__ for name in vars(base))
    return [name for name in names if not name.startswith("_") and is_of(cls, name, package)]


def is_of(cls, name, package):
    """Return whether a package defines what a class calls so."""
    value = getattr(cls, name)
    value = value.fget if isinstance(value, property) else value
    return callable(value) and comes_from(value, package)


class Methods(SphinxDirective):
    """Documents the methods of the class that is its argument."""

    required_arguments = 1

    def run(self):
        """Return them, as autodoc would."""
        module, _, name = self.arguments[0].rpartition(".")
        cls = getattr(import_module(module), name)
        lines = []
        for package, title in (("modeclust", "Methods"), ("sklearn", "As in scikit-learn")):
            if names := members(cls, package):
                lines += [f".. rubric:: {title}", ""]
            for member in names:
                is_property = isinstance(inspect.getattr_static(cls, member), property)
                lines += [f".. auto{'property' if is_property else 'method'}:: {name}.{member}", ""]
        return self.parse_text_to_nodes("\n".join(lines))


def keep_summary(app, what, name, obj, options, lines):
    """Cut a docstring of scikit-learn, which is written for its own pages."""
    if what == "method" and comes_from(obj, "sklearn"):
        lines[:] = lines[:1]


def comes_from(value, package):
    """Return whether something is defined in a package."""
    return (getattr(value, "__module__", None) or "").split(".")[0] == package


def setup(app):
    """Add the directive `methods`."""
    app.add_directive("methods", Methods)
    app.connect("autodoc-process-docstring", keep_summary, priority=100)  # before numpydoc
    return {"parallel_read_safe": True}
