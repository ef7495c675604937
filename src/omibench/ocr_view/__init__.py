"""A look at what `ocr` read: one page per paper, boxes on its pages beside its problems."""

from __future__ import annotations

from omibench.ocr_view.page import make_look_writer, write_look

__all__ = ["make_look_writer", "write_look"]
