"""Folders with a study's tables and figures: all of them, or those of one paper by its numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from omibench.errors import MissingInputError, OmibenchError
from omibench.files.csv_file import unmark_formula, write_frame_csv
from omibench.files.intake import read_csv, read_frame
from omibench.files.outputs import made_folder
from omibench.files.shipped import find_shipped
from omibench.paper_export.catalogue import PaperItem, TableView, find_paper
from omibench.paper_export.formats import Style, render_latex, render_markdown, write_wide_csv
from omibench.paper_export.overview import Entry, Kind, write_overview
from omibench.paper_export.wide import WideTable, widen_table
from omibench.schemas.tables import write_text

if TYPE_CHECKING:
    import polars as pl

PictureKind = Literal["svg", "pdf", "png"]
PLACES: Final = "printed-places"
PICTURE_KINDS: Final[tuple[PictureKind, ...]] = ("svg", "pdf", "png")
PNG_SCALE: Final = 3
"""Pixels of a PNG file a point of the drawing: about 216 dpi."""


class Options(NamedTuple):
    """What is written besides CSV, Markdown, LaTeX, SVG and Vega-Lite."""

    intervals: bool = False
    pictures: Sequence[PictureKind] = ("svg",)


class Exported(NamedTuple):
    """What was written, and what went wrong with the rest."""

    entries: list[Entry]
    errors: list[OmibenchError]


def export_paper(results: Path, name: str, out: Path, options: Options) -> Exported:
    """Write the tables and figures of a paper from a study's results, by the paper's own numbers.

    Args:
        results: The results folder of a study that was analyzed.
        name: The paper: `omibench`, `emma`, `usnco-v` or `mathreal`.
        out: The folder that is written: `tableN.csv`, `.md`, `.tex`, `figureN.csv`, `.svg`,
            `.vl.json`, printed numbers as `*_printed.csv`, and README.md.
        options: Intervals, and further formats of figures.

    Returns:
        An entry for each table and figure of the paper; errors of single items leave the rest.

    Raises:
        ArgumentError: There is no paper of that name.
        MissingInputError: The folder holds no results.
        OutputError: The folder cannot be written.
    """
    paper = find_paper(name)
    source = StudyTables(results)
    made_folder(out)
    entries, errors = [], []
    for key, item in paper.items.items():
        try:
            place = source.restrict(paper.rules, key)
            entries.append(_export_item(place, key, item, out, options))
        except OmibenchError as error:
            errors.append(error)
            entries.append(Entry(key, item.title, "missing", str(error), []))
    write_overview(out / "README.md", paper.title, source.dataset, entries)
    return Exported(entries, errors)


def export_results(results: Path, out: Path, options: Options) -> Exported:
    """Write every table of a study's results as CSV, Parquet, Markdown and LaTeX, and its figures.

    Args:
        results: The results folder of a study that was analyzed.
        out: The folder that is written.
        options: Intervals, and further formats of figures.

    Returns:
        An entry for each; errors of single ones leave the rest.

    Raises:
        MissingInputError: The folder holds no results.
        OutputError: The folder cannot be written.
    """
    from omibench.stages.analyze.figures import FIGURES
    from omibench.stages.analyze.results import RESULTS

    source = StudyTables(results)
    made_folder(out)
    entries, errors = [], []
    for name in source.names:
        title = RESULTS.get(name).title if name in RESULTS.names else name
        try:
            frame = source.table(name)
            write_frame_csv(out / f"{name}.csv", frame)
            frame.write_parquet(out / f"{name}.parquet")
            page = widen_table(frame, _list_view(name, frame), source.labels)
            style = Style(percent=False, digits=4, best="none")
            files = [f"{name}.csv", f"{name}.parquet", *_write_page(out, name, page, style, title)]
            entries.append(Entry(name, title, _origin(frame), "", files))
        except OmibenchError as error:
            errors.append(error)
    for name in FIGURES.names:
        figure = FIGURES.get(name)
        if figure.table in source.names:
            try:
                files = _write_figure(source, name, f"figure-{name}", out, options)
            except OmibenchError as error:
                errors.append(error)
                continue
            if files:
                origin = _origin(source.table(figure.table))
                entries.append(Entry(f"figure-{name}", figure.title, origin, "", files))
    write_overview(out / "README.md", "All results", source.dataset, entries)
    return Exported(entries, errors)


class StudyTables:
    """The tidy tables in a results folder, each read when it is first asked for.

    Args:
        results: The results folder.

    Raises:
        MissingInputError: It holds no tables of results.
    """

    def __init__(self, results: Path) -> None:
        self.folder = results / "analyze" / "tables"
        self.names = sorted(path.stem for path in self.folder.glob("*.parquet"))
        if not self.names:
            raise MissingInputError(
                f"{results}: holds no tables of results (analyze/tables/*.parquet); "
                "run `omibench analyze` first, or give the results folder of a study"
            )
        self.labels = _read_labels(results / "analyze" / "main.csv")
        self._frames: dict[str, pl.DataFrame] = {}

    @property
    def dataset(self) -> str:
        """The name of the dataset that the results are about."""
        frame = self.table(self.names[0])
        return str(frame["dataset"][0]) if frame.height else ""

    def table(self, name: str) -> pl.DataFrame:
        """Read the tidy table of a result.

        Raises:
            FileFormatError: The file cannot be read.
        """
        if name not in self._frames:
            self._frames[name] = read_frame(self.folder / f"{name}.parquet")
        return self._frames[name]

    def restrict(self, rules: Sequence[str], key: str) -> RestrictedTables:
        """The same tables with the rows of a paper's rule books, and of the cells of one place.

        Args:
            rules: Rule books; rows of others are left out where a table has one of these.
            key: Such as `table2`; `infer.printed` of the study says which cells it is made of.
        """
        return RestrictedTables(self, rules, self._list_cells(key))

    def _list_cells(self, key: str) -> pl.DataFrame | None:
        """The cells of a place, or of its parts `figure 3a`, ...; None where it names none."""
        import polars as pl

        if PLACES not in self.names:
            return None
        place = re.sub(r"^([a-z]+)(\d)", r"\1 \2", key)
        cells = self.table(PLACES).filter(pl.col("value").str.contains(f"^{place}[a-z]?$"))
        return cells.select("model", "setting").unique() if cells.height else None


class RestrictedTables(NamedTuple):
    """The tables of a study, cut to what one place of a paper shows."""

    study: StudyTables
    rules: Sequence[str]
    cells: pl.DataFrame | None

    @property
    def names(self) -> list[str]:
        """The results that the study has."""
        return self.study.names

    @property
    def labels(self) -> Mapping[str, str]:
        """Model -> the name under which it is shown."""
        return self.study.labels

    def table(self, name: str) -> pl.DataFrame:
        """The rows of a result's table that are about these rule books and cells.

        Raises:
            FileFormatError: The file cannot be read.
        """
        import polars as pl

        frame = self.study.table(name)
        if frame["rules"].is_in(self.rules).any():
            frame = frame.filter(pl.col("rules").is_in([*self.rules, ""]))
        if self.cells is not None:
            about_cells = (pl.col("model") != "") & (pl.col("setting") != "")
            inside = frame.join(self.cells, on=["model", "setting"], how="semi")
            if inside.height:
                frame = pl.concat([frame.filter(~about_cells), inside.filter(about_cells)])
        return frame


def _export_item(
    source: RestrictedTables, key: str, item: PaperItem, out: Path, options: Options
) -> Entry:
    files: list[str] = []
    if item.printed:
        files.append(_copy_printed(item.printed, out, key))
    if item.no_numbers or item.impossible:
        absence: Kind = "no numbers" if item.no_numbers else "printed" if files else "impossible"
        return Entry(key, item.title, absence, item.no_numbers or item.impossible, files)
    absent = [name for name in item.results if name not in source.names]
    made: list[str] = []
    origins: list[str] = []
    if item.table and item.table.result in source.names:
        frame = source.table(item.table.result)
        page = widen_table(frame, item.table, source.labels)
        if page.rows:
            style = Style(item.table.percent, item.table.digits, item.table.best, options.intervals)
            write_wide_csv(out / f"{key}.csv", page, style)
            made += [f"{key}.csv", *_write_page(out, key, page, style, item.title)]
            origins.append("simulated" if page.simulated else "measured")
    for name, suffix in zip(item.figures, _suffixes(item.figures), strict=True):
        figure_files = _write_figure(source, name, f"{key}{suffix}", out, options)
        if figure_files:
            made += figure_files
            origins.append(_figure_origin(source, name))
    if not made:
        what = item.needs or f"results {', '.join(absent) or 'that this study does not have'}"
        lack: Kind = "printed" if files else "missing"
        return Entry(key, item.title, lack, f"the study lacks {what}", files)
    kind: Kind = "simulated" if "simulated" in origins else "measured"
    return Entry(key, item.title, kind, "", [*made, *files])


def _suffixes(figures: Sequence[str]) -> Sequence[str]:
    return ascii_lowercase[: len(figures)] if len(figures) > 1 else [""] * len(figures)


def _write_page(out: Path, key: str, page: WideTable, style: Style, title: str) -> list[str]:
    write_text(out / f"{key}.md", render_markdown(page, style, title))
    write_text(out / f"{key}.tex", render_latex(page, style, title, f"tab:{key}"))
    return [f"{key}.md", f"{key}.tex"]


def _write_figure(
    source: StudyTables | RestrictedTables, name: str, key: str, out: Path, options: Options
) -> list[str]:
    """Draw a figure from its table, which is written beside it; nothing where it lacks rows."""
    import vl_convert

    from omibench.stages.analyze.charts.theme import describe_chart, render_specification
    from omibench.stages.analyze.figures import FIGURES
    from omibench.stages.analyze.figures.figure import naming_figure

    figure = FIGURES.get(name)
    if figure.table not in source.names:
        return []
    table = source.table(figure.table)
    with naming_figure(name):
        chart = figure.draw(table)
    if chart is None:
        return []
    specification = describe_chart(chart)
    write_frame_csv(out / f"{key}.csv", table)
    text = json.dumps(specification, indent=1, sort_keys=True, ensure_ascii=False)
    write_text(out / f"{key}.vl.json", text + "\n")
    write_text(out / f"{key}.svg", render_specification(specification))
    files = [f"{key}.csv", f"{key}.svg", f"{key}.vl.json"]
    if "pdf" in options.pictures:
        (out / f"{key}.pdf").write_bytes(vl_convert.vegalite_to_pdf(specification))
        files.append(f"{key}.pdf")
    if "png" in options.pictures:
        picture = vl_convert.vegalite_to_png(specification, scale=PNG_SCALE)
        (out / f"{key}.png").write_bytes(picture)
        files.append(f"{key}.png")
    return files


def _copy_printed(file: str, out: Path, key: str) -> str:
    source = find_shipped(f"published/{file}")
    name = f"{key}_printed.csv"
    write_text(out / name, source.read_text("utf-8"))
    return name


def _figure_origin(source: RestrictedTables, name: str) -> str:
    from omibench.stages.analyze.figures import FIGURES

    return _origin(source.table(FIGURES.get(name).table))


def _origin(frame: pl.DataFrame) -> Literal["simulated", "measured"]:
    return "simulated" if frame["simulated"].any() else "measured"


def _list_view(name: str, frame: pl.DataFrame) -> TableView:
    """A page that shows a tidy table as it is: a row a number."""
    texts = ["model", "setting", "rules", "slice", "value", "metric"]
    more = [column for column in frame.columns if column not in texts and column not in _OTHER]
    return TableView(result=name, rows=[*texts, *more], columns=["result"], percent=False)


_OTHER: Final = frozenset(
    {"result", "dataset", "estimate", "low", "high", "n", "clusters", "simulated", "partial"}
)


def _read_labels(main: Path) -> Mapping[str, str]:
    """Model -> the name that the report shows it under; empty without a main table."""
    if not main.is_file():
        return {}
    return {
        unmark_formula(row.get("model", "")): unmark_formula(row.get("label", ""))
        for row in read_csv(main)
    }
