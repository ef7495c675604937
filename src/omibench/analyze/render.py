"""Templates to HTML: everything from papers, models and params is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.tables import write_text

if TYPE_CHECKING:
    from jinja2 import Environment

CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"


def write_page(path: Path, template: str, **values: Any) -> None:
    """Render a template of `analyze/templates` to a file."""
    write_text(path, environment().get_template(template).render(csp=CSP, **values))


@cache
def environment() -> Environment:
    """The templates, with escaping on and undefined names an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("omibench.analyze"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
