"""Templates to HTML: everything from papers, models and params is escaped."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from jinja2 import Environment

CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"
"""No script and no request: a page shows what is in it, whatever the text says."""


@cache
def environment(*packages: str) -> Environment:
    """The templates of packages, the first one's first; escaped, undefined names an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def relative(target: Path, page: Path) -> str:
    """The URL of a file as seen from a page: relative, percent-encoded, never with a scheme."""
    path = os.path.relpath(target, page.parent).replace(os.sep, "/")
    return quote(path if path.startswith(".") else f"./{path}")
