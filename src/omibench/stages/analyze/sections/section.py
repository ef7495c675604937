"""The base class of report sections: data, CSV files, figure and card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from omibench.errors import PluginError
from omibench.plugins import Registry
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.csv_files import PIVOTS, pivot_result
from omibench.stages.analyze.figures.figure import FIGURES

if TYPE_CHECKING:
    from omibench.stages.analyze.figures.figure import FigureDrawing
    from omibench.stages.analyze.figures.theme import Chart


class ReportTable(NamedTuple):
    """A CSV file: its name without extension, its rows and columns.

    Without `columns`, the keys of the first row are used; an empty table then has none.
    """

    name: str
    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str] = ()


class ReportFigure(NamedTuple):
    """A drawing: SVG in light colours, and a sentence on its contents.

    With a Vega-Lite `specification` it is interactive on pages that run scripts.
    """

    svg: str
    takeaway: str
    specification: Mapping[str, Any] | None = None

    @classmethod
    def draw(cls, chart: Chart, takeaway: str) -> ReportFigure:
        """Draw a chart of altair.

        Args:
            chart: Chart without configuration.
            takeaway: Contents of the chart, in one sentence.
        """
        from omibench.stages.analyze.figures.theme import describe_chart, render_specification

        specification = describe_chart(chart)
        return cls(render_specification(specification), takeaway, specification)


class ReportSection:
    """One section of the report.

    Write a subclass under `@section("its-name")`: the constructor computes its data, `tables`
    returns its CSV files, `view` the values of its template. A section without `view` shows its
    first table under `title`. Templates escape all text.
    """

    name: ClassVar[str] = ""
    """The registered name, also used for its card and the file of its figure."""
    title: ClassVar[str] = ""
    numbers: ClassVar[str] = ""
    """The name of the table behind its figure, for a link to `<numbers>.csv`."""
    shows: ClassVar[str] = ""
    """The name of a registered figure, drawn in this card instead of one of its own."""
    caption: ClassVar[str] = ""
    files: ClassVar[Sequence[str]] = ()
    """The names of its CSV files in `csv_files.PIVOTS`."""
    template: ClassVar[str] = "sections/table.html.j2"
    """The text of a Jinja template, or the name of a built-in file in `templates/`.

    Its variables are `view`, `section`, `figure` (with `svg` and `takeaway`, or None) and `page`.
    """

    def __init__(self, analysis: Analysis) -> None:
        """Compute the data of the section.

        Args:
            analysis: Results of the study, and tables shared by sections.

        Raises:
            OmibenchError: A required file is missing or invalid.
        """
        self.analysis = analysis
        self.results = analysis.results

    @property
    def has_empty_files(self) -> bool:
        """Whether a file without a result is written with only its heading."""
        return False

    @property
    def is_simulated(self) -> bool:
        """Whether it shows simulated data besides responses and verdicts of the study."""
        return False

    def tables(self) -> Iterable[ReportTable]:
        """Return the CSV files of the section: by default its `files`."""
        for name in self.files:
            rows = pivot_result(self.analysis, name)
            if rows is not None or self.has_empty_files:
                yield ReportTable(name, rows or [], list(PIVOTS[name].columns))

    def figure(self) -> ReportFigure | None:
        """Return the drawing, also written to `figures/<name>.svg`; called after `view`.

        By default it is the figure that the section `shows`, with the sentence of `takeaway`.
        """
        for drawing in self.analysis.drawings if self.shows else ():
            if drawing.figure.name == self.shows:
                return ReportFigure(drawing.svg, self.takeaway(), drawing.specification)
        return None

    def takeaway(self) -> str:
        """Return what the figure that the section `shows` says, in one sentence."""
        return ""

    def view(self) -> Mapping[str, Any] | None:
        """Return the template's values; None leaves the section out of the page."""
        table = next(iter(self.tables()), None)
        if table is None or not table.rows:
            return None
        columns = list(table.columns or table.rows[0])
        return {
            "columns": columns,
            "rows": [[row.get(column) for column in columns] for row in table.rows],
        }


SECTIONS: Registry[type[ReportSection]] = Registry("sections", "report section")
"""In page order: built-in sections, then those of plug-ins."""


def list_unshown(analysis: Analysis) -> list[FigureDrawing]:
    """Return the drawings of the study that no section shows; each has its own card."""
    left_out = {
        *(SECTIONS.get(name).shows for name in SECTIONS),
        *(name for name in FIGURES if analysis.has_failed(FIGURES, name)),
    }
    return [drawing for drawing in analysis.drawings if drawing.figure.name not in left_out]


AnySection = TypeVar("AnySection", bound=type[ReportSection])


def section(name: str) -> Callable[[AnySection], AnySection]:
    """Return a decorator that registers a class as a section of the report.

    Args:
        name: Name: letters, digits, `-` and `_`.

    Returns:
        A decorator that returns the class unchanged.

    Raises:
        PluginError: The name is already registered, or the decorated object is not a ReportSection.
    """
    SECTIONS.check_name(name)

    def register(part: AnySection) -> AnySection:
        if not (isinstance(part, type) and issubclass(part, ReportSection)):
            raise PluginError(f"report section {name!r}: decorate a subclass of ReportSection")
        part.name = name
        SECTIONS.add(name, part)
        return part

    return register
