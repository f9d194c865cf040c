"""Sphinx settings."""

from accord import __version__

project = "Accord"
author = "The Accord developers"
copyright = f"2026, {author}"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Accord {__version__}"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
napoleon_google_docstring = False
