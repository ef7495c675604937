"""report.html: the cards of all sections on one page without requests, legible without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from markupsafe import Markup

from omibench.results.load import Results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.claims import describe_simulation
from omibench.stages.analyze.headline import Headline
from omibench.stages.analyze.page_figure import prepare_figure
from omibench.stages.analyze.render import render_section, write_page
from omibench.stages.analyze.sections import SECTIONS, ReportFigure, ReportSection
from omibench.stages.analyze.words import count_noun
from omibench.web.templates import read_script
from omibench.web.vega import read_vega_scripts

_STAND_IN_JUDGES = "What judges say of the reasoning comes from seeded stand-ins, not from a model."


class SectionCard(NamedTuple):
    """A section as the page shows it: what its template sees, and its drawing."""

    section: ReportSection
    view: Mapping[str, Any]
    figure: ReportFigure | None


def write_report(analysis: Analysis, headline: Headline, cards: Sequence[SectionCard]) -> None:
    """Write the report; equal inputs give an equal file."""
    results = analysis.results
    study, manifest = results.study.study, results.manifest
    page: dict[str, Any] = {
        "name": study.name,
        "title": study.title,
        "dataset": f"{manifest.name} {manifest.version}, "
        + f"{count_noun(manifest.problems, 'problem')} {_describe_pictures(results)}",
        "sentence": headline.sentence,
        "numbers": headline.numbers,
        "simulated": results.any_simulated
        or bool(manifest.simulated)
        or any(card.section.is_simulated for card in cards),
        "simulated_what": describe_simulation(results) or _STAND_IN_JUDGES,
        "version": version("omibench"),
    }
    write_page(
        analysis.report,
        "report.html.j2",
        scripts=[
            read_script(__file__, "leaderboard.js"),
            *read_vega_scripts(),
            read_script(__file__, "figures.js"),
        ],
        page=page,
        cards=[_render(card, page) for card in cards],
        partial=str(results.partial or ""),
    )


def _render(card: SectionCard, page: Mapping[str, Any]) -> Markup:
    drawn = prepare_figure(*card.figure) if card.figure else None
    with SECTIONS.naming_failures(card.section.name):
        return render_section(
            card.section.template, section=card.section, view=card.view, figure=drawn, page=page
        )


def _describe_pictures(results: Results) -> str:
    if not results.pictures_held:
        return "(pictures not held)"
    return f"with {count_noun(results.manifest.images, 'image')}"
