"""The reference of the source tree, written from the docstrings of its packages."""

from __future__ import annotations

import ast
from pathlib import Path

_HEAD = """\
# Source packages

Every package under `src/`, described by its docstring. [Design](../design.md)
explains the layers and which packages can import which.

| package | content |
|---|---|
"""


def write_packages(source: Path) -> str:
    """Write the page as Markdown: one row per package, in the order of the tree."""
    rows = []
    for path in sorted(source.rglob("__init__.py")):
        name = path.parent.relative_to(source).as_posix()
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        summary = " ".join(text.partition("\n\n")[0].split())
        if name != "." and summary:
            rows.append(f"| `{name}` | {_escape(summary)} |\n")
    return _HEAD + "".join(rows)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
