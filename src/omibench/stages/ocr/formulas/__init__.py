"""Formulas of a text layer as LaTeX: from glyphs, rules and roots to a layout tree."""
