"""Exports a study's tables and figures: all of them, or those of one paper by its numbering."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from omibench.errors import FileFormatError, OmibenchError
from omibench.files.csv_file import write_frame_csv
from omibench.files.intake import read_json
from omibench.files.outputs import made_folder
from omibench.files.shipped import find_shipped
from omibench.paper_export.catalogue import PaperItem, TableView, find_paper
from omibench.paper_export.formats import NumberStyle, render_latex, render_markdown, write_wide_csv
from omibench.paper_export.overview import ExportedItem, Kind, write_overview
from omibench.paper_export.study_tables import RestrictedTables, StudyTables
from omibench.paper_export.wide import WideTable, widen_table
from omibench.schemas.tables import write_text
from omibench.stages.analyze.claims import SIMULATED

if TYPE_CHECKING:
    import polars as pl

PictureKind = Literal["svg", "pdf", "png"]
PICTURE_KINDS: Final[tuple[PictureKind, ...]] = ("svg", "pdf", "png")
_LOG = logging.getLogger("omibench")
PAPER: Final = "white"
"""Background of a figure, since a transparent one is illegible in a dark viewer."""
PNG_SCALE: Final = 3
"""Pixels of a PNG file per point of the drawing: about 216 dpi."""


class ExportOptions(NamedTuple):
    """The files written in addition to CSV, Markdown, LaTeX, SVG and Vega-Lite."""

    intervals: bool = False
    pictures: Sequence[PictureKind] = ("svg",)


class _Folder(NamedTuple):
    """The folder of figures, their formats, and the keys with a table in it."""

    path: Path
    options: ExportOptions
    pages: Sequence[str] = ()


class Exported(NamedTuple):
    """The written files, and the errors of the rest."""

    entries: list[ExportedItem]
    errors: list[OmibenchError]


def export_paper(results: Path, name: str, out: Path, options: ExportOptions) -> Exported:
    """Write the tables and figures of a paper from a study's results, by the paper's numbering.

    Args:
        results: Results folder of an analyzed study.
        name: The paper: `omibench`, `emma`, `usnco-v` or `mathreal`.
        out: Output folder: `tableN.csv`, `.md`, `.tex`, `figureN.csv`, `.svg`, `.vl.json`, printed
            numbers as `*_printed.csv`, and README.md.
        options: Intervals, and further formats of figures.

    Returns:
        An entry for each table and figure of the paper; errors of single items do not stop the
        rest.

    Raises:
        ArgumentError: The paper does not exist.
        MissingInputError: The folder contains no results.
        OutputError: The folder cannot be written.
    """
    paper = find_paper(name)
    source = StudyTables(results)
    if not source.dataset.startswith(paper.dataset):
        _LOG.warning(
            "%s: contains results on the dataset %r, but the tables of %s are about %s...; these "
            "files will differ from the paper",
            results, source.dataset, name, paper.dataset,
        )  # fmt: skip
    made_folder(out)
    entries, errors = [], []
    for key, item in paper.items.items():
        try:
            place = source.restrict(paper.rules, key)
            entries.append(_export_item(place, key, item, out, options))
        except OmibenchError as error:
            errors.append(error)
            entries.append(ExportedItem(key, item.title, "missing", str(error), []))
    write_overview(out / "README.md", paper.title, source.dataset, entries)
    return Exported(entries, errors)


def export_results(results: Path, out: Path, options: ExportOptions) -> Exported:
    """Write every table of a study's results as CSV, Parquet, Markdown and LaTeX, and its figures.

    Args:
        results: Results folder of an analyzed study.
        out: Output folder.
        options: Intervals, and further formats of figures.

    Returns:
        An entry for each; errors of single ones do not stop the rest.

    Raises:
        MissingInputError: The folder contains no results.
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
            page = widen_table(frame, _list_view(name, frame), source.labels, _list_sides(frame))
            style = NumberStyle(False, digits=4, best="none", intervals=options.intervals)
            files = [f"{name}.csv", f"{name}.parquet", *_write_page(out, name, page, style, title)]
            entries.append(ExportedItem(name, title, _origin(frame), "", files))
        except OmibenchError as error:
            errors.append(error)
    for name in FIGURES.names:
        figure = FIGURES.get(name)
        if figure.table in source.names:
            try:
                files = _write_figure(source, name, f"figure-{name}", _Folder(out, options))
            except OmibenchError as error:
                errors.append(error)
                continue
            if files:
                origin = _origin(source.table(figure.table))
                entries.append(ExportedItem(f"figure-{name}", figure.title, origin, "", files))
    entries += _export_section_figures(results, _Folder(out, options))
    write_overview(out / "README.md", "All results", source.dataset, entries)
    return Exported(entries, errors)


def _export_item(
    source: RestrictedTables, key: str, item: PaperItem, out: Path, options: ExportOptions
) -> ExportedItem:
    import polars as pl

    files: list[str] = []
    if item.printed:
        files.append(_copy_printed(item.printed, out, key))
    if item.no_numbers or item.impossible:
        absence: Kind = "no numbers" if item.no_numbers else "printed" if files else "impossible"
        return ExportedItem(key, item.title, absence, item.no_numbers or item.impossible, files)
    absent = [name for name in item.results if name not in source.names]
    absent_kind: Kind = "printed" if files else "missing"
    if item.needs and not source.meets(item.needs):
        return ExportedItem(
            key, item.title, absent_kind, f"the study lacks {item.needs.words}", files
        )
    made: list[str] = []
    origins: list[str] = []
    if item.table and item.table.result in source.names:
        frame = source.table(item.table.result)
        page = widen_table(frame, item.table, source.labels)
        more = [source.table(name) for name in item.table.more if name in source.names]
        if page.rows and more:
            frame = pl.concat([frame, *more], how="diagonal_relaxed")
            page = widen_table(frame, item.table, source.labels)
        if page.rows:
            style = NumberStyle(
                item.table.percent, item.table.digits, item.table.best, options.intervals
            )
            write_wide_csv(out / f"{key}.csv", page, style)
            made += [f"{key}.csv", *_write_page(out, key, page, style, item.title)]
            origins.append("simulated" if page.is_simulated else "measured")
    folder = _Folder(out, options, [key] if made else [])
    for name, suffix in zip(item.figures, _suffixes(item.figures), strict=True):
        figure_files = _write_figure(source, name, f"{key}{suffix}", folder)
        if figure_files:
            made += figure_files
            origins.append(_figure_origin(source, name))
    if not made:
        lack = _describe_lack(item, absent)
        return ExportedItem(key, item.title, absent_kind, f"the study lacks {lack}", files)
    kind: Kind = "simulated" if "simulated" in origins else "measured"
    return ExportedItem(key, item.title, kind, "", [*made, *files])


def _describe_lack(item: PaperItem, absent: Sequence[str]) -> str:
    """Describe the missing results: whole tables, or the rows of a printed one."""
    if absent or item.table is None:
        return f"the results {', '.join(absent)}" if absent else "the data of its figures"
    kept = "; ".join(f"{name} {', '.join(values)}" for name, values in item.table.where.items())
    return f"rows of the result {item.table.result} with {kept}"


def _suffixes(figures: Sequence[str]) -> Sequence[str]:
    return ascii_lowercase[: len(figures)] if len(figures) > 1 else [""] * len(figures)


def _write_page(out: Path, key: str, page: WideTable, style: NumberStyle, title: str) -> list[str]:
    write_text(out / f"{key}.md", render_markdown(page, style, title))
    write_text(out / f"{key}.tex", render_latex(page, style, title, f"tab:{key}"))
    return [f"{key}.md", f"{key}.tex"]


def _write_figure(
    source: StudyTables | RestrictedTables, name: str, key: str, folder: _Folder
) -> list[str]:
    """Draw a figure from its table, which is written next to it; nothing if it lacks rows.

    If the item also has a table, `<key>.csv` is that, and the figure's is `<key>_data.csv`.
    """
    out = folder.path
    from omibench.stages.analyze.charts.theme import describe_chart
    from omibench.stages.analyze.figures import FIGURES
    from omibench.stages.analyze.figures.cell_labels import label_cells

    figure = FIGURES.get(name)
    if figure.table not in source.names:
        return []
    table = source.table(figure.table)
    with FIGURES.naming_failures(name):
        chart = figure.draw(label_cells(table, source.labels, source.setting_labels))
    if chart is None:
        return []
    data = f"{key}_data.csv" if key in folder.pages else f"{key}.csv"
    write_frame_csv(out / data, table)
    return [data, *_write_formats(describe_chart(chart), key, folder)]


def _write_formats(specification: dict[str, Any], key: str, folder: _Folder) -> list[str]:
    """Write a figure as Vega-Lite, as SVG and in the requested formats."""
    import vl_convert

    from omibench.stages.analyze.charts.theme import render_specification

    out, pictures = folder.path, folder.options.pictures
    specification["config"]["background"] = PAPER
    text = json.dumps(specification, indent=1, sort_keys=True, ensure_ascii=False)
    write_text(out / f"{key}.vl.json", text + "\n")
    write_text(out / f"{key}.svg", render_specification(specification))
    files = [f"{key}.svg", f"{key}.vl.json"]
    if "pdf" in pictures:
        (out / f"{key}.pdf").write_bytes(vl_convert.vegalite_to_pdf(specification))
        files.append(f"{key}.pdf")
    if "png" in pictures:
        picture = vl_convert.vegalite_to_png(specification, scale=PNG_SCALE)
        (out / f"{key}.png").write_bytes(picture)
        files.append(f"{key}.png")
    return files


def _export_section_figures(results: Path, folder: _Folder) -> Iterator[ExportedItem]:
    """Write the figures of the report's sections, drawn by `analyze` from all responses."""
    from omibench.stages.analyze.figures import FIGURES

    for path in sorted((results / "analyze" / "figures").glob("*.vl.json")):
        name = path.name.removesuffix(".vl.json")
        if name in FIGURES.names:
            continue
        specification = _read_drawn(path)
        heading = specification["title"]["text"]
        files = _write_formats(specification, f"figure-{name}", folder)
        origin: Kind = "simulated" if heading.startswith(SIMULATED) else "measured"
        yield ExportedItem(f"figure-{name}", heading, origin, "", files)


def _read_drawn(path: Path) -> dict[str, Any]:
    """Read Vega-Lite of `analyze`: with its data inside, and nothing to download."""
    drawn: dict[str, Any] = read_json(path)
    is_ours = (
        isinstance(drawn, dict)
        and isinstance(drawn.get("config"), dict)
        and isinstance(drawn.get("title"), dict)
        and isinstance(drawn["title"].get("text"), str)
        and '"url"' not in json.dumps(drawn)
    )
    if not is_ours:
        raise FileFormatError(
            f"{path}: is not a figure of `omibench analyze`; run that command again"
        )
    return drawn


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
    """Return a printed view of a tidy table with one row per number."""
    texts = ["model", "setting", "rules", "slice", "value", "metric"]
    more = [column for column in frame.columns if column not in texts and column not in _OTHER]
    head = "metric" if frame["metric"].n_unique() == 1 else "result"
    return TableView(result=name, rows=[*texts, *more], columns=[head], percent=False)


def _list_sides(frame: pl.DataFrame) -> Sequence[str]:
    """Return the columns that identify both sides of a comparison; none for other tables."""
    sides = ("model", "setting", "baseline_model", "baseline_setting")
    return sides if set(sides) <= set(frame.columns) else ()


_OTHER: Final = frozenset(
    {"result", "dataset", "estimate", "low", "high", "n", "clusters", "simulated", "partial"}
)
