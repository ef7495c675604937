"""What a section of the report is: one class with its data, its CSV files, its figure, its card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from omibench.errors import PluginError
from omibench.plugins import Registry
from omibench.stages.analyze.analysis import Analysis

if TYPE_CHECKING:
    from omibench.stages.analyze.charts.theme import Chart


class ReportTable(NamedTuple):
    """A CSV file: its name without the ending, its rows, its columns.

    Without `columns` they are the keys of the first row, and an empty table has none.
    """

    name: str
    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str] = ()


class ReportFigure(NamedTuple):
    """A drawing: SVG in light colours, and what it shows in one sentence.

    With its Vega-Lite `specification` it answers the pointer where a page runs scripts.
    """

    svg: str
    takeaway: str
    specification: Mapping[str, Any] | None = None

    @classmethod
    def draw(cls, chart: Chart, takeaway: str) -> ReportFigure:
        """Draw a chart of altair.

        Args:
            chart: The chart, without configuration.
            takeaway: What it shows, in one sentence.
        """
        from omibench.stages.analyze.charts.theme import describe_chart, render_specification

        specification = describe_chart(chart)
        return cls(render_specification(specification), takeaway, specification)


class ReportSection:
    """One part of the report.

    Write a subclass under `@section("its-name")`: the constructor computes its data, `tables`
    gives its CSV files, `view` what its template shows. One without `view` shows its first table
    under `title`. All text is escaped where the template shows it.
    """

    name: ClassVar[str] = ""
    """The name under which it is registered; its card and the file of its figure have it too."""
    title: ClassVar[str] = ""
    numbers: ClassVar[str] = ""
    """The table of which its figure is drawn, for a link to `<numbers>.csv` beside it."""
    caption: ClassVar[str] = ""
    template: ClassVar[str] = "sections/table.html.j2"
    """The text of a Jinja template, or the name of a file of ours in `templates/`.

    It sees `view`, `section`, `figure` (with `svg` and `takeaway`, or None) and `page`.
    """

    def __init__(self, analysis: Analysis) -> None:
        """Compute the data of the section.

        Args:
            analysis: The results of the study, and the tables that sections share.

        Raises:
            OmibenchError: A file that the section needs is missing or holds something else.
        """
        self.analysis = analysis
        self.results = analysis.results

    @property
    def is_simulated(self) -> bool:
        """Whether it shows something simulated besides responses and verdicts of the study."""
        return False

    def tables(self) -> Iterable[ReportTable]:
        """The CSV files of the section."""
        return ()

    def figure(self) -> ReportFigure | None:
        """The drawing, also written to `figures/<name>.svg`; asked for after `view`."""
        return None

    def view(self) -> Mapping[str, Any] | None:
        """What the template shows, worded; None leaves the section out of the page."""
        table = next(iter(self.tables()), None)
        if table is None or not table.rows:
            return None
        columns = list(table.columns or table.rows[0])
        return {
            "columns": columns,
            "rows": [[row.get(column) for column in columns] for row in table.rows],
        }


SECTIONS: Registry[type[ReportSection]] = Registry("sections", "report section")
"""In the order of the page: the built-in ones, then those of plug-ins."""
AnySection = TypeVar("AnySection", bound=type[ReportSection])


def section(name: str) -> Callable[[AnySection], AnySection]:
    """A decorator that registers a class as a section of the report.

    Args:
        name: Its name: letters, digits, `-` and `_`.

    Returns:
        A decorator that returns the class as it is.

    Raises:
        PluginError: Another file or package has registered this name, or what is decorated is no
            ReportSection.
    """
    SECTIONS.check_name(name)

    def register(part: AnySection) -> AnySection:
        if not (isinstance(part, type) and issubclass(part, ReportSection)):
            raise PluginError(f"report section {name!r}: decorate a subclass of ReportSection")
        part.name = name
        SECTIONS.add(name, part)
        return part

    return register
