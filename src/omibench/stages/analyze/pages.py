"""Links to single responses: pages next to the report, or addresses of `omibench explore`."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from omibench.params.setting import Cell
from omibench.schemas.tables import write_text
from omibench.stages.analyze.formatting import format_bounds, format_share
from omibench.web.templates import make_environment, render_page

if TYPE_CHECKING:
    from markupsafe import Markup

    from omibench.results.load import Results


EXPLORER = "explorer"
INDEX = "index.html"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def problem_file(problem: str) -> str:
    """Return the file name of a problem's page in `explorer/pages`: its id if that is a safe
    name."""
    if _SAFE.fullmatch(problem):
        return f"{problem}.html"
    readable = re.sub(r"[^A-Za-z0-9]+", "-", problem)[:60].strip("-")
    return f"{readable}.{sha256(problem.encode()).hexdigest()[:12]}.html"


def cell_file(cell: Cell) -> str:
    """Return the file name of a cell's page in `explorer/cells`."""
    return f"{cell_anchor(cell)}.html"


def cell_anchor(cell: Cell, sample: int = 0) -> str:
    """Return the HTML anchor of a cell's response, or one of its samples, on a problem's page."""
    # No name of a model or setting contains an @, so no two cells share a page.
    return f"{cell.model}@{cell.setting}" + (f"@{sample}" if sample else "")


def has_pages(results: Results) -> bool:
    """Return whether the report has pages of single problems and cells."""
    return results.study.analyze.writes_pages(results.responses.height)


def describe_command(results: Results) -> dict[str, Any] | None:
    """Return how the server of `omibench explore` shows single responses.

    Returns:
        Its `command`, the number of `responses`, and for each cell the labels of its model and
        setting and its path on the server (`addresses`); None if the report has pages or wants
        none.
    """
    if results.study.analyze.explorer is False or has_pages(results):
        return None
    return {
        "command": f"omibench explore {quote(results.study.study.results)}",
        "responses": results.responses.height,
        "addresses": [
            (results.label(cell.model), results.setting_label(cell.setting), cell_address(cell))
            for cell in results.cells
        ],
    }


def cell_address(cell: Cell) -> str:
    """Return the path of a cell on the server of `omibench explore`."""
    return "/?" + urlencode({"models": cell.model, "settings": cell.setting})


def remove_pages(folder: Path) -> None:
    """Remove the pages of an earlier run, which may have had more.

    Args:
        folder: Folder of the pages; other files in it are kept.
    """
    stale = [folder / INDEX, *(folder / "pages").glob("*.html"), *(folder / "cells").glob("*.html")]
    for path in [*stale, *(folder / "images").glob("*")]:
        if path.is_file():
            path.unlink()
    for place in (*(folder / name for name in ("pages", "cells", "images")), folder):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()


# Render templates of the report and the explorer.

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
    environment.filters |= {"share": format_share, "bounds": format_bounds}
    is_name = template.endswith(".j2") and "\n" not in template
    loaded = environment.get_template(template) if is_name else environment.from_string(template)
    return Markup(loaded.render(**values))  # noqa: S704  # escaped by the environment
