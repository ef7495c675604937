"""Render templates of the report and the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.schemas.tables import write_text
from omibench.web.templates import make_environment, render_page

if TYPE_CHECKING:
    from markupsafe import Markup

PACKAGE = "omibench.stages.analyze"


def write_page(path: Path, template: str, **values: Any) -> None:
    """Render a template of `analyze/templates` to a file."""
    write_text(path, render_page(PACKAGE, template, **values))


def render_section(template: str, **values: Any) -> Markup:
    """Render a fragment of a page.

    Args:
        template: File name in `analyze/templates`, or the text of a template.
        values: Variables of the template.

    Returns:
        HTML with every value escaped.
    """
    from markupsafe import Markup

    environment = make_environment(PACKAGE)
    is_name = template.endswith(".j2") and "\n" not in template
    loaded = environment.get_template(template) if is_name else environment.from_string(template)
    return Markup(loaded.render(**values))  # noqa: S704  # escaped by the environment
