"""A drawing on the report's page, with its interactive data and the first rows of its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from shlex import quote
from typing import Any, Final, NamedTuple

import polars as pl
from markupsafe import Markup

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.figure import FIGURES, label_cells
from omibench.stages.analyze.figures.theme import apply_theme
from omibench.stages.analyze.formatting import count_noun, format_percent
from omibench.stages.analyze.page_order import ReportCard, sort_cards
from omibench.stages.analyze.pages import render_section, write_page
from omibench.stages.analyze.sections import SECTIONS, ReportFigure, ReportSection
from omibench.stages.analyze.sections.section import list_unshown
from omibench.stages.analyze.sentences import Headline, describe_simulation
from omibench.web.plots_page import read_vega_scripts
from omibench.web.templates import embed_json, read_script


def prepare_figure(
    svg: str, takeaway: str, specification: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Prepare a drawing for a page.

    Args:
        svg: Drawing in the light palette, made by our library with all external text escaped.
        takeaway: Description of what the drawing shows.
        specification: Its Vega-Lite specification.

    Returns:
        The `svg`, its `takeaway`, and `data`, empty if it is not interactive.
    """
    from omibench.stages.analyze.figures.theme import compile_interactive

    drawn = Markup(apply_theme(svg, takeaway, other_colours=True))  # noqa: S704  # escaped by the library that drew it
    data = embed_json(compile_interactive(specification)) if specification else ""
    return {"svg": drawn, "takeaway": takeaway, "data": data}


MOST_ROWS: Final = 20
MOST_COLUMNS: Final = 14
_NUMBERS: Final = ("estimate", "low", "high", "n")
_WHOSE: Final = (
    "model", "setting", "kind", "respondent", "people", "rules", "measure", "metric", "slice",
    "value",
)  # fmt: skip
"""The columns that tell rows apart, before their numbers."""
_TITLES: Final = {"rules": "scorer"}
_REPEATED: Final = ("label", "setting_label", "simulated")
_SHARES: Final = (
    "accuracy", "gptscore", "strict", "credit", "ratio", "difference", "share", "truncated",
    "chance", "agreement", "residual error rate", "share of problems", "with rationale", "pass@k",
    "majority@k", "consistency@k", "slope", "intercept", "win", "tie", "loss",
)  # fmt: skip
_AGREEMENT_ON: Final = "agreement on "
"""The start of metrics of agreement on one value."""
_ALWAYS_SHARES: Final = (
    "score", "baseline_score", "relative", "raw", "adjusted", "adjusted_low", "adjusted_high",
    "detectable", "right", "guessed", "sd", "sem", "ocr", "ocr_low", "ocr_high", "problems_low",
    "problems_high",
)  # fmt: skip


class TablePreview(NamedTuple):
    """The first rows of a table.

    Attributes:
        columns: Column names.
        rows: Formatted values.
        height: Number of rows of the whole table.
    """

    columns: list[str]
    rows: list[list[str]]
    height: int


def preview_table(table: pl.DataFrame) -> TablePreview:
    """Return the first rows of a table: what they are about, then their numbers.

    Constant columns and repeated names are left out; shares are in per cent, as in figures.

    Args:
        table: The table of a result.
    """
    telling = [
        name
        for name in table.columns
        if name in _NUMBERS
        or (
            name not in _REPEATED
            and not table[name].dtype.is_nested()
            and table[name].n_unique() > 1
        )
    ]
    first = [name for name in (*_WHOSE, *_NUMBERS) if name in telling]
    columns = [*first, *(name for name in telling if name not in first)][:MOST_COLUMNS]
    rows = []
    for row in table.head(MOST_ROWS).iter_rows(named=True):
        metric = str(row.get("metric", ""))
        is_share = metric in _SHARES or metric.startswith(_AGREEMENT_ON)
        shares = {*_ALWAYS_SHARES, *(_NUMBERS[:3] if is_share else ())}
        # Printed and invented numbers of other benchmarks are in per cent already.
        whole = 1 if row.get("source", "measured") == "measured" else 100
        rows.append([_format(row[name], whole if name in shares else 0) for name in columns])
    return TablePreview([_TITLES.get(name, name) for name in columns], rows, table.height)


def _format(value: Any, whole: int) -> str:
    """Format a value; `whole`: what 100 % of a share is, 0 for other numbers."""
    if value is None:
        return ""
    if isinstance(value, float):
        return format_percent(value / whole) if whole else f"{value:.4g}"
    return str(value)


# Write report.html: all sections on one page that makes no requests and needs no scripts.

_STAND_IN_JUDGES = (
    "The judgements of the reasoning come from a seeded simulation, not from a model."
)


class SectionCard(NamedTuple):
    """A section on the page: the variables of its template, and its drawing."""

    section: ReportSection
    view: Mapping[str, Any]
    figure: ReportFigure | None


def write_report(analysis: Analysis, headline: Headline, cards: Sequence[SectionCard]) -> None:
    """Write the report; equal inputs give an equal file."""
    results = analysis.results
    study, manifest = results.study.study, results.manifest
    images = f"with {count_noun(manifest.images, 'image')}"
    pictures = images if results.pictures_held else "(pictures not held)"
    page: dict[str, Any] = {
        "name": study.name,
        "title": study.title,
        "dataset": f"{manifest.name} {manifest.version}, "
        + f"{count_noun(manifest.problems, 'problem')} {pictures}",
        "sentence": headline.sentence,
        "numbers": headline.numbers,
        "simulated": results.any_simulated
        or bool(manifest.simulated)
        or any(card.section.is_simulated for card in cards),
        "simulated_what": describe_simulation(results) or _STAND_IN_JUDGES,
        "version": version("omibench"),
        "export": f"omibench results export {quote(study.results)} --pictures pdf,png --out export",
    }
    parts = [part for card in cards for part in _render(analysis, card, page)]
    drawn = [*_draw_figures(analysis, page)]
    write_page(
        analysis.report,
        "report.html.j2",
        scripts=[read_script(__file__, name) for name in ("leaderboard.js", "figures.js")],
        packed="\n".join(read_vega_scripts()),
        page=page,
        parts=sort_cards([*_list_failures(analysis), *parts, *drawn]),
        partial=str(results.partial or ""),
    )


def _render(analysis: Analysis, card: SectionCard, page: Mapping[str, Any]) -> Iterator[ReportCard]:
    """Return the card of a section; none if it is a plug-in's and its template fails."""
    html = None
    section = card.section
    with analysis.leave_out_failing(SECTIONS, section.name):
        drawn = prepare_figure(*card.figure) if card.figure else None
        html = render_section(
            section.template, section=section, view=card.view, figure=drawn, page=page
        )
    if html is not None:
        yield ReportCard(section.name, section.title or section.name, html)


def _list_failures(analysis: Analysis) -> Iterator[ReportCard]:
    """Return a card with the parts of plug-ins that failed, if any."""
    if analysis.failed:
        title = "Parts of plug-ins that failed"
        html = render_section("sections/failed.html.j2", title=title, failed=analysis.failed)
        yield ReportCard("failed-parts", title, html)


def _draw_figures(analysis: Analysis, page: Mapping[str, Any]) -> Iterator[ReportCard]:
    """Return one card per figure that no section shows."""
    labels = analysis.labels
    for drawing in list_unshown(analysis):
        figure = drawing.figure
        words = f"{figure.title} ({figure.source})" if figure.source else figure.title
        drawn = None
        with analysis.leave_out_failing(FIGURES, figure.name):
            drawn = prepare_figure(drawing.svg, words, drawing.specification)
        if drawn is None:
            continue
        table = analysis.table(figure.table)
        html = render_section(
            "sections/result_figure.html.j2",
            name=figure.name,
            figure=drawn,
            finding=drawing.finding,
            page=page,
            table=figure.table,
            simulated=table is not None and bool(table["simulated"].any()),
            preview=None if table is None else preview_table(label_cells(table, *labels)),
        )
        yield ReportCard(figure.name, figure.title, html)
