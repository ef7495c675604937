"""The files that parameters name: what a job reads besides the outputs of earlier stages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.graph.named_files import model_files
from omibench.graph.stage import GraphJob
from omibench.graph.stages import STAGES, find_stage
from omibench.params.cell import Cell
from omibench.params.study import Study
from omibench.text.terminal import printable

_WILDCARD = re.compile(r"\{\s*\w[^{}]*\}")


def list_named_files(study: Study, rule: str, cell: Cell | None = None) -> list[str]:
    """Every file named by the parameters that a job reads: a change of one reruns it.

    Prompts of one's own, oracles, recorded responses, review decisions, a benchmark's own files,
    printed tables. Papers are named by the manifest of ocr, not here.

    Args:
        study: The study.
        rule: A stage, or another rule of one, such as `fill`.
        cell: The job's cell, where its parameters differ from cell to cell. Without a setting it
            means all that the model is asked by the rule.

    Returns:
        Paths, each once.
    """
    files = find_stage(rule).files(study, GraphJob(rule, cell))
    return list(dict.fromkeys(file for file in files if file))


def list_all_files(study: Study, rules: Collection[str] = ()) -> list[str]:
    """Every file that the parameters name for a job of any stage, or of these rules alone."""
    stages = [stage for stage in STAGES if not rules or {*stage.rules} & {*rules}]
    files = (
        file
        for stage in stages
        for job in stage.jobs(study)
        for file in list_named_files(study, *job)
    )
    return list(dict.fromkeys(files))


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
        if wildcard := _WILDCARD.search(file):
            raise MissingInputError(
                f"{file}: Snakemake takes {wildcard[0]!r} in a path for a wildcard of its own: "
                "rename the file or its folder without braces"
            )


def list_missing_files(study: Study, rules: Collection[str] = ()) -> list[str]:
    """The files that the parameters name, or name for these rules, and that are not there.

    Snakemake takes a job's old output for a source where an input of the job is missing, so a
    mistyped prompt would keep the answers to the old one. Responses that were recorded elsewhere
    may be missing: their cells can be pulled without them. What lies among the study's results it
    makes itself.
    """
    recorded = {
        file
        for name, model in study.models.items()
        if model.is_recorded
        for file in model_files(study, name)
    }
    results = Path(study.study.results)
    return [
        file
        for file in list_all_files(study, rules)
        if file not in recorded
        and not Path(file).is_relative_to(results)
        and not Path(file).is_file()
    ]
