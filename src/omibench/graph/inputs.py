"""The files that parameters name: what a job reads besides the outputs of earlier stages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.params.aggregate import SELF
from omibench.params.model import RecordedModel, SimulatedModel
from omibench.params.study import Cell, Study, settings_of
from omibench.synthetic.address import is_made_up
from omibench.text.terminal import printable

_WILDCARD = re.compile(r"\{\s*\w[^{}]*\}")
_ASKING = {"help": "infer", "fill": "infer"}
"""Rules that ask for another stage, which reads the same files."""
_WHOLE = ("ocr", "filter", "rationale", "freeze", "score", "judge", "certify", "analyze")
"""The stages whose parameters name files, without those that have a job for each cell."""


def files_of(study: Study, stage: str, cell: Cell | None = None) -> list[str]:
    """Every file named by the parameters that a job of `stage` reads: a change of one reruns it.

    Prompts of one's own, oracles, recorded responses, review decisions, a benchmark's own files,
    printed tables. Papers are named by the manifest of ocr, not here. A cell without a setting
    stands for all that the model is asked at the stage.
    """
    found: list[str | None] = []
    if stage in ("infer", "saliency", "fill", "help") and cell:
        wanted = [cell.setting] if cell.setting else settings_of(study, stage, cell.model)
        for name in wanted:
            setting = study.settings[name]
            found += [prompt_file(setting.prompt), setting.images.prompt]
            found += _model_files(study, cell.model, name)
            found += [file for helper in setting.helpers for file in _model_files(study, helper)]
    elif stage in ("score", "judge"):
        found += [panel.prompt for panel in study.panels(stage).values()]
        found += [file for name in study.judges(stage) for file in _model_files(study, name)]
        if stage == "judge" and study.judge.errors:
            found += [prompt_file(study.judge.errors.taxonomy)]
    elif stage == "aggregate" and cell:
        panel = study.settings[cell.setting].aggregate.judge
        for name in panel.models if panel else []:
            found += _model_files(study, cell.model if name == SELF else name)
        found += [panel.prompt] if panel else []
    elif stage == "certify":
        found += [study.certify.labels]
    elif stage == "ocr" and study.ocr.engine == "vision":
        found += _model_files(study, study.ocr.reader)
    elif stage == "filter":
        found += study.filter.prompts
        found += [prompt_file(screen.prompt) for screen in study.filter.screens.values()]
        found += [file for name in study.filter.models for file in _model_files(study, name)]
    elif stage == "rationale":
        found += _model_files(study, study.rationale.writer)
        found += _model_files(study, study.rationale.labeller)
    elif stage == "freeze":
        found += [study.review.decisions, *_benchmark_files(study)]
    elif stage == "analyze":
        found += [*study.analyze.published, *study.certify.certificates]
    return list(dict.fromkeys(name for name in found if name))


def all_files(study: Study, rules: Collection[str] = ()) -> list[str]:
    """Every file that the parameters name for a job of any stage, or of these rules alone."""
    jobs: list[tuple[str, Cell | None]] = [(stage, None) for stage in _WHOLE]
    jobs += [("infer", cell) for cell in study.cells]
    jobs += [("saliency", cell) for cell in study.salient_cells]
    jobs += [("aggregate", cell) for cell in study.aggregated_cells]
    stages = {_ASKING.get(rule, rule) for rule in rules}
    return list(
        dict.fromkeys(
            file
            for stage, cell in jobs
            if not rules or stage in stages
            for file in files_of(study, stage, cell)
        )
    )


def refuse_patterns(files: Iterable[str]) -> None:
    """Raise MissingInputError for the first file whose path Snakemake would read as a pattern.

    Its inputs know no way to write a brace. It prints paths as they are, so that one that would
    command a terminal is refused too.
    """
    for file in files:
        if printable(file) != file:
            raise MissingInputError(
                f"{file}: the path holds a character that commands a terminal: rename the file"
            )
        if found := _WILDCARD.search(file):
            raise MissingInputError(
                f"{file}: Snakemake takes {found[0]!r} in a path for a wildcard of its own: "
                "rename the file or its folder without braces"
            )


def missing_files(study: Study, rules: Collection[str] = ()) -> list[str]:
    """The files that the parameters name, or name for these rules, and that are not there.

    Snakemake takes a job's old output for a source where an input of the job is missing, so a
    mistyped prompt would keep the answers to the old one. Responses that were recorded elsewhere
    may be missing: their cells can be pulled without them. What lies among the study's results it
    makes itself.
    """
    recorded = {
        file
        for name, model in study.models.items()
        if isinstance(model, RecordedModel)
        for file in _model_files(study, name)
    }
    results = Path(study.study.results)
    return [
        file
        for file in all_files(study, rules)
        if file not in recorded
        and not Path(file).is_relative_to(results)
        and not Path(file).is_file()
    ]


def prompt_file(prompt: str) -> str | None:
    """The path of a prompt of one's own; None for the name of a built-in prompt."""
    return prompt if "/" in prompt or Path(prompt).suffix else None


def _model_files(study: Study, name: str | None, setting: str | None = None) -> list[str]:
    model = study.models.get(name or "")
    if isinstance(model, SimulatedModel):
        return [] if is_made_up(model.oracle) else [model.oracle]
    if isinstance(model, RecordedModel):
        chosen = [model.responses.get(setting, [])] if setting else model.responses.values()
        files = [file for group in chosen for file in group]
        return [str(Path(study.data or ".") / file) for file in files]
    return []


def _benchmark_files(study: Study) -> list[str]:
    if study.benchmark.name == "papers" or not study.data:
        return []
    folder = Path(study.data)
    files = [p for p in folder.glob("*") if p.suffix in (".parquet", ".jsonl", ".json", ".csv")]
    return [str(p) for p in sorted([*files, *folder.glob("*/*.parquet")])]
