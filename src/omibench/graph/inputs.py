"""Files given in parameters: additional inputs of jobs besides the outputs of earlier stages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.graph.stage import GraphJob, model_files
from omibench.graph.stages import STAGES, find_stage
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.text.terminal import printable

_WILDCARD = re.compile(r"\{\s*\w[^{}]*\}")


def list_named_files(study: Study, rule: str, cell: Cell | None = None) -> list[str]:
    """Return every file in the parameters that a job reads; a changed file reruns the job.

    These are custom prompts, `oracle` files, recorded responses, review decisions, benchmark files
    and printed tables. Papers are listed in the manifest of ocr, not here.

    Args:
        study: The study.
        rule: A stage, or another rule of one, such as `fill`.
        cell: The job's cell, if its parameters differ between cells. Without a setting, all
            requests of the rule to the model.

    Returns:
        Paths, each once.
    """
    files = find_stage(rule).files(study, GraphJob(rule, cell))
    return list(dict.fromkeys(file for file in files if file))


def list_all_files(study: Study, rules: Collection[str] = ()) -> list[str]:
    """Return every file given in the parameters for any stage, or for these rules only."""
    stages = [stage for stage in STAGES if not rules or {*stage.rules} & {*rules}]
    files = (
        file
        for stage in stages
        for job in stage.jobs(study)
        for file in list_named_files(study, *job)
    )
    return list(dict.fromkeys(files))


def refuse_patterns(files: Iterable[str]) -> None:
    """Raise MissingInputError for the first path that Snakemake would read as a pattern.

    Snakemake has no escape for braces in input paths. It prints paths unchanged, so a path with
    terminal control characters is also refused.
    """
    for file in files:
        if printable(file) != file:
            raise MissingInputError(
                f"{file}: the path contains a terminal control character; rename the file"
            )
        if wildcard := _WILDCARD.search(file):
            raise MissingInputError(
                f"{file}: Snakemake would read {wildcard[0]!r} in the path as a wildcard; rename "
                "the file or its folder without braces"
            )


def list_missing_files(study: Study, rules: Collection[str] = ()) -> list[str]:
    """Return the files in the parameters, or for these rules, that are missing.

    Snakemake accepts a job's old output if one of its inputs is missing, so a mistyped prompt
    would keep the old responses. Recorded responses can be missing, because their cells can be
    pulled without them. Files among the study's results are made by the graph.
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
