"""The figures of a study's results: drawn once, as SVG and as Vega-Lite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.stages.analyze.figures.cell_labels import label_cells
from omibench.stages.analyze.figures.figure import FIGURES, FigurePart

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis


class FigureDrawing(NamedTuple):
    """A figure that a study has: SVG text in light colours, its Vega-Lite, and what its table says,
    in a sentence or empty."""

    figure: FigurePart
    svg: str
    specification: Mapping[str, Any]
    finding: str = ""

    @property
    def description(self) -> str:
        """What it shows, its source, and what it says."""
        title, source = self.figure.title, self.figure.source
        words = f"{title} ({source})." if source else f"{title}."
        return f"{words} {self.finding}".strip()


def dump_specification(specification: Mapping[str, Any], description: str) -> str:
    """Vega-Lite as the text of a file of its own.

    Args:
        specification: A figure's.
        description: What the figure says, for those who do not see it.
    """
    described = {**specification, "description": description}
    return json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def draw_figures(analysis: Analysis) -> Iterator[FigureDrawing]:
    """Draw every registered figure whose table the study has, with labels in place of names.

    Args:
        analysis: The study's results.

    Yields:
        The drawings, in the order of the registry.

    Raises:
        PluginError: A figure of a plug-in failed, or is drawn from a result that does not exist.
    """
    from omibench.stages.analyze.charts.theme import describe_chart, render_specification

    labels = analysis.labels
    for name in FIGURES:
        with FIGURES.naming_failures(name):
            figure = FIGURES.get(name)
            table = analysis.table(figure.table)
            chart = None if table is None else figure.draw(label_cells(table, *labels))
            if table is None or chart is None:
                continue
            finding = figure.finding(table) if figure.finding else None
            specification = describe_chart(chart)
            svg = render_specification(specification)
            yield FigureDrawing(figure, svg, specification, finding or "")
