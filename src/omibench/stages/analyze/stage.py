"""The tables that the stage wrote: one that it no longer writes is removed."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from omibench.errors import FileFormatError, PluginError
from omibench.extras import require_extra
from omibench.files.outputs import made_folder, write_csv
from omibench.results.load import load_results
from omibench.schemas.tables import read_typed_json, write_json, write_text
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.certificates import add_certificates
from omibench.stages.analyze.csv_files import describe_metrics, write_plots
from omibench.stages.analyze.pages import EXPLORER, has_pages, remove_pages
from omibench.stages.analyze.results.result import RESULTS, write_table
from omibench.stages.analyze.results.slices import list_plans
from omibench.stages.analyze.sections import SECTIONS, ReportSection
from omibench.stages.analyze.sections.section import list_unshown
from omibench.stages.analyze.sentences import Headline, make_headline

if TYPE_CHECKING:
    from omibench.params.study import Study


NAME: Final = "written.json"
_PATTERNS: Final = ("*.csv", "plots/*/*.csv")
_EARLIER: Final = (
    "main", "by_images", "failures", "differences", "audit", "rationales", "errors", "samples",
    "saliency",
)  # fmt: skip
"""Tables of earlier versions, which noted none."""


class WrittenTables(BaseModel):
    """The tables of the report, as paths in its folder."""

    model_config = ConfigDict(frozen=True)

    tables: list[str]


def note_tables(out: Path, written: Set[str]) -> None:
    """Note the tables of this run, and remove those of an earlier run that it did not write.

    Args:
        out: The folder of the report. Files that no run noted are kept.
        written: The tables of this run, as paths in the folder.

    Raises:
        OutputError: The note cannot be written.
    """
    note = out / NAME
    # Without a report, omibench did not write this folder.
    known = {f"{name}.csv" for name in _EARLIER} if (out / "report.html").is_file() else set()
    if note.is_file():
        try:
            known = {*read_typed_json(note, WrittenTables).tables}
        except FileFormatError:
            known = set()
    for path in [path for pattern in _PATTERNS for path in out.glob(pattern)]:
        if path.relative_to(out).as_posix() in known - written:
            path.unlink()
    write_json(note, WrittenTables(tables=sorted(written)))


# The stage `analyze`: turn responses and verdicts into tables, metrics, report and explorer.

REPORT = "report.html"
_TABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


def analyze_study(results: Path, out: Path, study: Study) -> Headline:
    """Summarise every cell of a study and write tables, report and explorer.

    Args:
        results: Folder with the results of the earlier stages.
        out: Output folder.
        study: The study.

    Returns:
        The headline of the report.

    Raises:
        MissingInputError: A file that a table needs is missing.
        FileFormatError: A file does not match its schema.
        ParamsError: The study has no cells, or no verdict of its main scorer.
    """
    require_extra("report", "analyze: drawing figures")
    analysis = load_analysis(results, out / REPORT, study)
    list_plans(analysis)  # a slice by what is not there is said before anything is computed
    sections = make_sections(analysis)
    headline = write_tables(out, analysis, sections)
    write_pages(out, analysis, sections, headline)
    return headline


def load_analysis(results: Path, report: Path, study: Study) -> Analysis:
    """Read the data behind a report.

    Args:
        results: Folder with the results of the earlier stages.
        report: Path of the report.
        study: The study.

    Raises:
        MissingInputError: A file that a table needs is missing.
        FileFormatError: A file does not match its schema.
        ParamsError: The study has no cells, or no verdict of its main scorer.
    """
    read = load_results(results / "freeze", results / "infer", results / "score", study)
    return Analysis(study, add_certificates(read, results / "certify"), results, report)


def write_tables(out: Path, analysis: Analysis, sections: Sequence[ReportSection]) -> Headline:
    """Write all numbers: the tables of sections and results, and metrics and plots for DVC.

    Tables of an earlier run that are not written again are removed.

    Args:
        out: Output folder.
        analysis: The study's results.
        sections: Sections of the report.

    Returns:
        The headline of the report.
    """
    headline = make_headline(analysis)
    written = _write_section_tables(out, analysis, sections)
    write_results(out / "tables", analysis)
    write_json(out / "metrics.json", dict(describe_metrics(analysis)))
    note_tables(out, {*written, *write_plots(analysis, out)})
    return headline


def make_sections(analysis: Analysis) -> list[ReportSection]:
    """Compute every registered section, in page order.

    Args:
        analysis: The study's results.

    Raises:
        OmibenchError: A file that a built-in section needs is missing or invalid.
    """
    sections = []
    for name in SECTIONS:
        with analysis.leave_out_failing(SECTIONS, name):
            sections.append(SECTIONS.get(name)(analysis))
    return sections


def write_results(folder: Path, analysis: Analysis) -> list[str]:
    """Write the table of every registered result of the study.

    Args:
        folder: Folder for `<name>.csv` and `<name>.parquet`. Tables of an earlier run that no
            longer apply are removed.
        analysis: The study's results.

    Returns:
        The names of the results.

    Raises:
        OmibenchError: A file that a result needs is missing or invalid.
        OutputError: A file cannot be written.
    """
    names = []
    made_folder(folder)
    for name in RESULTS:
        table = analysis.table(name)
        if table is not None:
            write_table(table, folder, name)
            names.append(name)
    for path in folder.glob("*"):
        if path.suffix in (".csv", ".parquet") and path.stem not in names:
            path.unlink()
    return names


def _write_section_tables(
    out: Path, analysis: Analysis, sections: Sequence[ReportSection]
) -> set[str]:
    """Return the names of the files; in a partial run their last column describes the part."""
    writers: dict[str, str] = {}
    partial = analysis.results.partial
    part = {} if partial is None else {"partial": str(partial)}
    for section in sections:
        with analysis.leave_out_failing(SECTIONS, section.name):
            for table in section.tables():
                if not _TABLE_NAME.fullmatch(table.name):
                    raise PluginError(
                        f"report section {section.name!r}: {table.name!r} is not a valid table "
                        "name: "
                        "use letters, digits, - and _"
                    )
                if table.name in writers:
                    raise PluginError(
                        f"{table.name}.csv is written by the report sections "
                        f"{writers[table.name]!r} and {section.name!r}: rename one of them"
                    )
                writers[table.name] = section.name
                rows = [{**row, **part} for row in table.rows]
                write_csv(out / f"{table.name}.csv", rows, table.columns)
    return {f"{name}.csv" for name in writers}


def write_pages(
    out: Path, analysis: Analysis, sections: Sequence[ReportSection], headline: Headline
) -> None:
    """Draw the figures, and write the report and the explorer.

    Args:
        out: Output folder.
        analysis: The study's results.
        sections: Sections of the report.
        headline: The headline of the report.
    """
    # The chart library is slow to import, so tables and errors come first.
    from omibench.stages.analyze.figures.figure import FIGURES, dump_specification
    from omibench.stages.analyze.report import SectionCard, write_report

    for drawing in list_unshown(analysis):
        if drawing.figure.name in SECTIONS.names:
            with analysis.leave_out_failing(FIGURES, drawing.figure.name):
                raise PluginError(
                    f"{drawing.figure.name}.svg is written by a figure and by a report section "
                    "with the same name: rename one of them"
                )
    folder = out / "figures"
    made_folder(folder)
    for path in [*folder.glob("*.svg"), *folder.glob("*.vl.json")]:
        path.unlink()  # those of an earlier run
    for drawing in list_unshown(analysis):
        write_text(folder / f"{drawing.figure.name}.svg", drawing.svg)
        text = dump_specification(drawing.specification, drawing.description)
        write_text(folder / f"{drawing.figure.name}.vl.json", text)
    cards = []
    for section in sections:
        if analysis.has_failed(SECTIONS, section.name):
            continue
        with analysis.leave_out_failing(SECTIONS, section.name):
            view = section.view()
            if view is None:
                continue
            figure = section.figure()
            if figure:
                write_text(folder / f"{section.name}.svg", figure.svg)
                if figure.specification is not None:
                    text = dump_specification(figure.specification, figure.takeaway)
                    write_text(folder / f"{section.name}.vl.json", text)
            cards.append(SectionCard(section, view, figure))
    write_report(analysis, headline, cards)
    remove_pages(out / EXPLORER)
    if has_pages(analysis.results):
        from omibench.stages.analyze.explorer.pages import write_explorer

        write_explorer(out / EXPLORER, analysis.results, analysis.report)
