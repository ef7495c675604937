"""Formulas of PDF text layers as LaTeX, without a model."""
