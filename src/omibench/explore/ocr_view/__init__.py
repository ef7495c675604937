"""Inspection pages of `ocr`: one page per paper, with boxes on its pages next to its problems."""

from __future__ import annotations

from omibench.explore.ocr_view.page import make_look_writer, write_look

__all__ = ["make_look_writer", "write_look"]
