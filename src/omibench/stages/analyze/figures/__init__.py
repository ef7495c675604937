"""The figures of results: each is a pure function from a tidy table to a chart."""

from omibench.stages.analyze.figures.figure import FIGURES, FigurePart, figure

__all__ = ["FIGURES", "FigurePart", "figure"]
