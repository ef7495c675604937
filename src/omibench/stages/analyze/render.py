"""A template of the report or the explorer to a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omibench.schemas.tables import write_text
from omibench.web.templates import CSP, environment


def write_page(path: Path, template: str, **values: Any) -> None:
    """Render a template of `analyze/templates` to a file."""
    text = environment("omibench.stages.analyze").get_template(template).render(csp=CSP, **values)
    write_text(path, text)
