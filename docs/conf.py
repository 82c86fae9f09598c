"""Sphinx configuration of the documentation site: `make site` builds it, and every warning is an error.

Pages are Markdown, so that they also read well in the repository. CONTRIBUTING.md and CHANGELOG.md lie in the root of the
repository; a page of this folder includes one by naming it in a comment, and its links are rewritten for this folder.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bg_env

ROOT = Path(__file__).resolve().parents[1]

project = "bg_env"
author = "The bg_env authors"
version = release = bg_env.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["benchmarks/*", "images/*"]
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(?!bg_env\.).*"),  # names of other projects are not on this site
    (r"py:.*", r".*\.[A-Z]"),  # type variables have no entry
    (r"py:.*", r".*\._\w+"),  # private names have no entry
    (r"py:class", r"bg_env\.exact\.phases\.PhaseValues"),  # the base of the exact tables, which are documented
    (r"py:class", r"bg_env\.players\.valuenet\.sorting\.Sorter"),  # a part of a net's file
    (r"py:class", r"bg_env\.game_view\.GameView"),  # the readable side of Game, whose entry has its members
]

linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_anchors = False  # anchors are often made by scripts

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"bg_env {release}"
html_show_copyright = False
html_show_sourcelink = False

myst_enable_extensions = ["colon_fence"]  # ::: reads better than ``` where directives are not rendered
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_mock_imports = [
    name for name in ("ray", "textarena", "verifiers") if find_spec(name) is None
]  # they have environments of their own
autodoc_typehints_format = "short"
default_role = "code"  # docstrings write `code` with single marks
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

_PAGE = re.compile(r"^<!-- the page (\w+\.md) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!\w+:|#)([^)\s]+)\)")
_COLON = "\N{FULLWIDTH COLON}"
_SHOWN = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def _from_here(link: str) -> str:
    """A link of a page in the root, rewritten for a page of this folder."""
    path, mark, anchor = link.partition("#")
    moved = _SHOWN.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}")
    return moved + mark + anchor


def _page(match: re.Match[str]) -> str:
    text = (ROOT / match[1]).read_text(encoding="utf-8")
    return _LINK.sub(lambda link: f"]({_from_here(link[1])})", text)


def _take_in(_app: Any, _name: str, source: list[str]) -> None:
    source[0] = _PAGE.sub(_page, source[0])


def _as_restructured(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Adapt docstrings to reStructuredText: drop a module's Markdown table and escape the star of `*shape`.

    Indented lines of a module's docstring are a program, and become a code block.
    """
    if what == "module":
        tables = [k for k, line in enumerate(lines) if line.startswith("|")]
        del lines[tables[0] if tables else len(lines) :]
        begin = [k for k in range(1, len(lines)) if lines[k].startswith("    ") and not lines[k - 1].strip()]
        for k in reversed(begin):
            before = next((line for line in reversed(lines[:k]) if line.strip()), "")
            if not before.startswith(" ") and not before.endswith("::"):
                lines[k:k] = [".. code-block::", ""]
    lines[:] = [re.sub(r"(?<=[ (])\*(?=\w+[,)])", r"\\*", line) for line in lines]


def _hide_colons(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Hide colons in the first line of a property: napoleon would read the text before one as a type."""
    if what in ("property", "attribute", "data") and lines:
        lines[0] = lines[0].replace(":", _COLON)


def _show_colons(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = [line.replace(_COLON, ":") for line in lines]


def setup(app: Any) -> None:
    """Register the handlers; called by Sphinx."""
    app.connect("source-read", _take_in)
    app.connect("autodoc-process-docstring", _hide_colons, priority=400)  # napoleon has 500
    app.connect("autodoc-process-docstring", _as_restructured, priority=600)
    app.connect("autodoc-process-docstring", _show_colons, priority=601)
