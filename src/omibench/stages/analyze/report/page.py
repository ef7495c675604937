"""report.html: tables, figures and provenance on one page without scripts or requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from markupsafe import Markup

from omibench.params.judge import JudgePanel
from omibench.results.load import JUDGE_RULES, Results
from omibench.results.partial import PARTIAL
from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.headline import Headline
from omibench.stages.analyze.links import EXPLORER, INDEX
from omibench.stages.analyze.render import write_page
from omibench.stages.analyze.report import judge_view, main_table, view
from omibench.stages.analyze.report.figures import Picture
from omibench.stages.analyze.report.judge_view import certified
from omibench.stages.analyze.report.published_view import published_card
from omibench.stages.analyze.report.reasoning_view import reasoning_card
from omibench.stages.analyze.report.saliency_view import saliency_card
from omibench.stages.analyze.report.samples_view import samples_card
from omibench.stages.analyze.report.theme import themed
from omibench.stages.analyze.tables.accuracy import image_bins, subjects
from omibench.stages.analyze.tables.summary import Summary
from omibench.stages.analyze.words import counted, images, level, rules_name, scored_by
from omibench.text.masking import masked_values

_PACKAGES = ("omibench", "polars", "numpy", "altair", "vl-convert-python", "jinja2", "pydantic")
_PAGES_SHOW = "statement, figures, responses, verdicts and the place on the page of the paper"
_STAND_IN_JUDGES = "What judges say of the reasoning comes from seeded stand-ins, not from a model."
_PAGES_WITHOUT_PICTURES_SHOW = "statement, responses and verdicts"


def write_report(
    path: Path,
    results: Results,
    summary: Summary,
    headline: Headline,
    pictures: Sequence[Picture],
) -> None:
    """Write the report; equal inputs give an equal file."""
    study = results.study
    explorer = study.analyze.explorer
    judged = JUDGE_RULES in results.rules
    manifest = results.manifest
    failure_rules = results.failure_rules or results.main_rules
    reasoned = reasoning_card(results, summary.reasoning)
    page: dict[str, Any] = {
        "name": study.study.name,
        "title": study.study.title,
        "dataset": f"{manifest.name} {manifest.version}, "
        + f"{counted(manifest.problems, 'problem')} {_pictures(results)}",
        "sentence": headline.sentence,
        "numbers": headline.numbers,
        "simulated": results.any_simulated
        or bool(manifest.simulated)
        or bool(reasoned and reasoned["simulated"]),
        "main_simulated": results.main_simulated,
        "failures_simulated": results.rests_on_simulation(failure_rules),
        "simulated_what": _what_is_simulated(results) or _STAND_IN_JUDGES,
        "judged": judged,
        "judge_simulated": results.judge_simulated or results.made_up,
        "uncalibrated": judged and results.certificate is None,
        "subjects": subjects(results),
        "columns": 6 + len(subjects(results)) + judged,
        "groups": main_table.groups(results, summary.scores, summary.printed),
        "partial": str(results.partial or ""),
        "missing": [
            (results.label(c.model), results.setting_label(c.setting)) for c in results.missing
        ],
        "main_caption": main_table.main_caption(results),
        "failure_head": main_table.failure_head(results),
        "reading": main_table.reading(results),
        "index_href": f"{EXPLORER}/{INDEX}" if explorer else None,
        "pages_show": _PAGES_SHOW if results.pictures_held else _PAGES_WITHOUT_PICTURES_SHOW,
        "published": published_card(results, summary.printed, summary.comparisons),
        "figures": [p._replace(svg=Markup(themed(p.svg))) for p in pictures],  # noqa: S704
        "scored_by": scored_by(results.main_rules),
        "level": level(study.analyze.confidence),
        "bins": [images(b) for b in image_bins(results)],
        "image_rows": view.image_rows(results, summary.images),
        "judge": judge_view.judge_card(results, summary.scores) if judged else None,
        "samples": samples_card(results, summary.samples),
        "reasoning": reasoned,
        "saliency": saliency_card(results, summary.saliences, path),
        "rules": view.rule_heads(results),
        "rule_rows": view.rule_rows(results, summary.scores),
        "failures_by": scored_by(failure_rules),
        "outcomes": view.outcome_heads(results, summary.failures),
        "failure_rows": view.failure_rows(results, summary.failures),
        "provenance": provenance(results),
        "params": json.dumps(_params(results), indent=2, sort_keys=True, ensure_ascii=False),
        "version": version("omibench"),
    }
    write_page(path, "report.html.j2", view=page, partial=page["partial"])


def _pictures(results: Results) -> str:
    if not results.pictures_held:
        return "(pictures not held)"
    return f"with {counted(results.manifest.images, 'image')}"


def provenance(results: Results) -> list[tuple[str, str]]:
    """Study, dataset, parameters and packages: what it takes to make the same report again."""
    study, manifest = results.study, results.manifest
    canonical = json.dumps(_params(results), sort_keys=True, ensure_ascii=False)
    judge = study.score.judge
    facts = [
        ("Study", f"{study.study.name}, seed {study.study.seed}"),
        ("Dataset", f"{manifest.name} {manifest.version}"),
        ("Licence", manifest.licence or "not stated"),
        ("Questions, SHA-256", manifest.questions_sha256),
        ("Answers, SHA-256", manifest.answers_sha256),
        ("Parameters, SHA-256", sha256(canonical.encode()).hexdigest()),
        ("Rule books", ", ".join(rules_name(r) for r in results.rules)),
        ("Intervals", f"Wilson, clustered by shared stem, {level(study.analyze.confidence)}"),
        ("Packages", ", ".join(f"{name} {version(name)}" for name in _PACKAGES)),
        ("Python", python_version()),
    ]
    if judge and JUDGE_RULES in results.rules:
        mark = f" ({SIMULATED})" if results.judge_simulated else ""
        facts.insert(7, ("Judge", f"{_names(results, judge)}{mark}, {certified(results)}"))
    if results.partial:
        facts.insert(0, (PARTIAL, str(results.partial)))
    if results.any_simulated:
        facts.insert(0, (SIMULATED, _what_is_simulated(results)))
    return facts


def _names(results: Results, panel: JudgePanel) -> str:
    return ", ".join(results.label(name) for name in panel.models)


def _params(results: Results) -> dict[str, Any]:
    whole = results.whole or results.study
    return dict(masked_values(whole.model_dump(mode="json", exclude_defaults=True)))


def _what_is_simulated(results: Results) -> str:
    cells = sum(results.simulated.values())
    who = []
    if cells:
        every = cells == len(results.simulated)
        who.append("All responses" if every else f"The responses of {counted(cells, 'cell')}")
    if results.judge_simulated:
        who.append("the judgements" if who else "The judgements")
    told = f"{' and '.join(who)} come from seeded stand-ins, not from a model." if who else ""
    if results.made_up:
        told = f"The problems are made up ({results.manifest.synthetic}). {told}".strip()
    if judged := results.manifest.simulated:
        counts = (f"{name.replace('_', ' ')} of {count}" for name, count in judged.items())
        names = ", ".join(counts)
        told = f"{told} Simulated models judged the problems before they were frozen ({names})."
    return told.strip()
