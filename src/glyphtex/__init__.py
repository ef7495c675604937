"""Formulas of PDF text layers as LaTeX, without a model: `read_page(page)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glyphtex.marks import Formula
    from glyphtex.pages import PageReading, read_page, search_page

__all__ = ["Formula", "PageReading", "read_page", "search_page"]


def __getattr__(name: str) -> object:
    """Import a name of `__all__` on first use: `glyphtex.latex` needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'glyphtex' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("glyphtex.marks" if name == "Formula" else "glyphtex.pages"), name)
