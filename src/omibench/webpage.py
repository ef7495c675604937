"""Templates to HTML: everything from papers, models and params is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

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
