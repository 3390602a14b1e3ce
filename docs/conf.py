"""How the documentation is made: `make docs`."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

DOCS = Path(__file__).parent
# Our own extensions, and `reproduction`, whose templates the page on the paper uses.
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent)]

project = "modeclust"
author = "The modeclust developers"
copyright = author
release = version_of("modeclust")
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas without a network
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "commands",
    "glossary",
    "measured",
    "methods",
]
templates_path = ["_templates"]
exclude_patterns = ["_templates", "gallery/*.ipynb"]

# Every reference must lead somewhere. Two kinds may stay plain text: names of other projects, as
# the build asks no network for their addresses, and what docstrings put in single backticks that
# is not public here, such as parameters.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(dask|distributed|matplotlib|numpy|np|pandas|polars|scipy|sklearn)\..*"),
    (r"py:obj", r"[^.]*"),
]
default_role = "py:obj"
smartquotes = False  # "knn" is code

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Formulas are read, and not clicked: without the menu, of which parts would be fetched.
mathjax3_config = {"options": {"enableMenu": False}}

autodoc_typehints = "none"  # the docstrings say them in words
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery.place",
    "reset_modules": ("matplotlib", "gallery.hold_warnings_to_be_errors"),
    "reset_modules_order": "both",
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_",),  # reports and frames; legends and numbers are printed
    "ignore_repr_types": r"sklearn|modeclust\.estimators",  # a fit need not show its parameters
    "image_srcset": ["2x"],
    "default_thumb_file": str(DOCS / "_static" / "logo.svg"),
    "doc_module": ("modeclust",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": float("inf"),
}

copybutton_exclude = ".linenos, .gp, .go"  # prompts and output are not copied

html_theme = "pydata_sphinx_theme"
html_title = f"modeclust {release}"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader has it
html_theme_options = {
    "logo": {"text": "modeclust", "alt_text": "modeclust, front page"},
    "navbar_start": ["navbar-logo", "version"],
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "quickstart": []}  # which have no pages below them
