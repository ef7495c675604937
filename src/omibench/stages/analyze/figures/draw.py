"""Draw the figures of a study's results as SVG and Vega-Lite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.stages.analyze.figures.cell_labels import label_cells
from omibench.stages.analyze.figures.figure import FIGURES, FigurePart

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis


class FigureDrawing(NamedTuple):
    """A figure of a study: SVG text in light colours, Vega-Lite, and its finding, if any."""

    figure: FigurePart
    svg: str
    specification: Mapping[str, Any]
    finding: str = ""

    @property
    def description(self) -> str:
        """The title, source and finding."""
        title, source = self.figure.title, self.figure.source
        words = f"{title} ({source})." if source else f"{title}."
        return f"{words} {self.finding}".strip()


def dump_specification(specification: Mapping[str, Any], description: str) -> str:
    """Return Vega-Lite as the text of a separate file.

    Args:
        specification: Specification of the figure.
        description: Text alternative of the figure.
    """
    described = {**specification, "description": description}
    return json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def draw_figures(analysis: Analysis) -> Iterator[FigureDrawing]:
    """Draw every registered figure with a table in the study, with labels in place of names.

    Args:
        analysis: The study's results.

    Yields:
        The drawings, in the order of the registry.

    Raises:
        PluginError: A plug-in's figure failed, or its result does not exist.
    """
    from omibench.stages.analyze.figures.theme import describe_chart, render_specification

    labels = analysis.labels
    for name in FIGURES:
        with FIGURES.calling(name):
            figure = FIGURES.get(name)
            table = analysis.table(figure.table)
            chart = None if table is None else figure.draw(label_cells(table, *labels))
            if table is None or chart is None:
                continue
            finding = figure.finding(table) if figure.finding else None
            specification = describe_chart(chart)
            svg = render_specification(specification)
            yield FigureDrawing(figure, svg, specification, finding or "")
