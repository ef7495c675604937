"""The tables of all results, and the origin of the numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from platform import python_version
from typing import Any

from omibench.errors import ParamsError
from omibench.params.panel import JudgePanel
from omibench.params.prompt_files import PromptUse, list_evaluation_uses
from omibench.results.load import JUDGE_RULES, PARTIAL, Results
from omibench.settings.prompts import PromptEntry, parse_wording, read_prompt_text
from omibench.stages.analyze.formatting import format_level, name_rules
from omibench.stages.analyze.results.result import RESULTS
from omibench.stages.analyze.sections.judges import describe_certificate, describe_variant
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.sentences import SIMULATED, describe_simulation
from omibench.text.masking import masked_values

ANY_PROMPT = PromptEntry("words", "", "", owner="study")
"""The use of a prompt file affects neither its hash nor how it is sent."""
_PACKAGES = ("omibench", "polars", "numpy", "altair", "vl-convert-python", "jinja2", "pydantic")


@section("results")
class ResultsSection(ReportSection):
    """The section with every result of the study: title, source, rows and file."""

    title = "Tables of all results"
    template = "sections/results.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return the results by name."""
        parts = [RESULTS.get(name) for name in sorted(RESULTS)]
        tables = [(part, self.analysis.table(part.name)) for part in parts]
        rows = [
            {
                "name": part.name,
                "title": part.title,
                "source": part.source,
                "rows": table.height,
                "simulated": bool(table["simulated"].any()),
            }
            for part, table in tables
            if table is not None
        ]
        return {"rows": rows} if rows else None


@section("provenance")
class ProvenanceSection(ReportSection):
    """The section with everything needed to reproduce the report."""

    title = "Provenance"
    template = "sections/provenance.html.j2"

    def view(self) -> Mapping[str, Any]:
        """Return facts by name, and the parameters as JSON text without secrets."""
        params = _read_params(self.results)
        return {
            "facts": describe_provenance(self.results),
            "params": json.dumps(params, indent=2, sort_keys=True, ensure_ascii=False),
        }


def describe_provenance(results: Results) -> list[tuple[str, str]]:
    """Return study, dataset, parameters and packages, to reproduce the report."""
    study, manifest = results.study, results.manifest
    canonical = json.dumps(_read_params(results), sort_keys=True, ensure_ascii=False)
    judge = study.score.judge
    facts = [
        ("Study", f"{study.study.name}, seed {study.study.seed}"),
        ("Dataset", f"{manifest.name} {manifest.version}"),
        ("Licence", manifest.licence or "not stated"),
        ("Questions, SHA-256", manifest.questions_sha256),
        ("Answers, SHA-256", manifest.answers_sha256),
        ("Parameters, SHA-256", sha256(canonical.encode()).hexdigest()),
        ("Scorers", ", ".join(name_rules(r) for r in results.rules)),
        (
            "Intervals",
            f"Wilson, clustered by shared stem, {format_level(study.analyze.confidence)}",
        ),
        ("Packages", ", ".join(f"{name} {version(name)}" for name in _PACKAGES)),
        ("Python", python_version()),
    ]
    if judge and JUDGE_RULES in results.rules:
        mark = f" ({SIMULATED})" if results.judge_simulated else ""
        facts.insert(
            7, ("Judge", f"{_name_judges(results, judge)}{mark}, {describe_certificate(results)}")
        )
        facts.insert(8, ("GPTScore", describe_variant(results)))
    facts += [
        (f"Wording of {use.key}", _describe_words(use)) for use in list_evaluation_uses(study)
    ]
    if results.partial:
        facts.insert(0, (PARTIAL, str(results.partial)))
    if results.any_simulated:
        facts.insert(0, (SIMULATED, describe_simulation(results)))
    return facts


def _describe_words(use: PromptUse) -> str:
    """Describe a wording file with its hash, and whether it is literal."""
    try:
        wording = parse_wording(use.file, read_prompt_text(use.file, use.prompt), ANY_PROMPT)
    except ParamsError as error:
        return str(error)
    literal = ", LITERAL: sent without fences of ours" if wording.literal else ""
    return f"{use.file}{literal}, SHA-256 {wording.sha256}"


def _name_judges(results: Results, panel: JudgePanel) -> str:
    return ", ".join(results.label(name) for name in panel.models)


def _read_params(results: Results) -> dict[str, Any]:
    study = results.full_study or results.study
    return dict(masked_values(study.model_dump(mode="json", exclude_defaults=True)))
