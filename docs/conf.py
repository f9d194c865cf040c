"""Sphinx settings. `make docs` builds with -W -n: a warning, or a reference that leads nowhere, is an error."""

import os
import sys
from pathlib import Path

from accord import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "Accord"
author = "The Accord developers"
copyright = f"2026, {author}"
release = version = __version__

extensions = [
    "myst_parser",
    "run_commands",
    "mathml",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/**/*.py", "sg_execution_times.rst", "gallery/**/sg_execution_times.rst"]
html_theme = "furo"
html_title = f"Accord {__version__}"
html_static_path = ["_static"]
html_css_files = ["accord.css"]
html_js_files = ["accord.js"]
html_show_sourcelink = False
html_math_renderer = "mathml"
highlight_language = "text"  # a block without a language is a command or a table, not Python
pygments_style, pygments_dark_style = "default", "monokai"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Prompts and outputs are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# The reference: one page an exported name, written from its docstring.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
templates_path = ["_templates"]

# Other projects are linked where their inventories can be fetched: on Read the Docs, or where ACCORD_DOCS_LINKS=1.
# Elsewhere their names stay plain text, so that the build needs no network.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
if not (os.environ.get("READTHEDOCS") or os.environ.get("ACCORD_DOCS_LINKS") == "1"):
    intersphinx_mapping = {}
_OUTSIDE = "numpy|np|scipy|pandas|pd|sklearn|pyarrow|pa|distributed|joblib|collections|typing|pathlib"
_BUILT_IN = "Exception|ValueError|UserWarning|ImportError|LookupError|object|None|property"
nitpick_ignore_regex = [(r"py:.*", rf"({_OUTSIDE})\..*"), (r"py:(class|exc|obj)", rf"({_BUILT_IN})")]
nitpick_ignore_regex += [(r"py:(mod|data)", r"accord\..*")]  # modules and constants have no pages

# The gallery: scripts that are run when the pages are built.
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/tasks"],
    "gallery_dirs": ["gallery/tutorials", "gallery/tasks"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.by_number",
    "plot_gallery": os.environ.get("ACCORD_DOCS_GALLERY", "1") != "0",
    "only_warn_on_example_error": True,  # and -W makes it an error, after the others have run
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
    "doc_module": ("accord",),
    "backreferences_dir": None,
    "default_thumb_file": None,
    "ignore_repr_types": r"matplotlib|list|tuple",  # what drawing returns says nothing
    "write_computation_times": True,
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib", "gallery_order.plain_pictures"),
}


def only_ours(app, what, name, obj, skip, options):
    """Leave out what classes have from scikit-learn, Python and the machinery of metadata routing."""
    module = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    foreign = not module.startswith("accord") and callable(obj)
    return True if (name.startswith("set_") and name.endswith("_request")) or foreign else skip


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", only_ours)
