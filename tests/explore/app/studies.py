"""Copies of the small study that a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

from omibench.explore.app.settings import ExplorerSources
from omibench.params.study import Study
from omibench.schemas.problem import Answer, Problem, Question
from omibench.schemas.tables import read_jsonl, write_jsonl


def copy_results(results: Path, target: Path) -> Path:
    """Copy what the explorer reads of a folder of results."""
    for stage in ("freeze", "infer", "score"):
        shutil.copytree(results / stage, target / stage)
    return target


def write_problems(results: Path) -> None:
    """Write the problems from which a dataset could have been frozen."""
    answers = {a.id: a for a in read_jsonl(results / "freeze" / "answers.jsonl", Answer)}
    rows = [
        Problem(
            **question.model_dump(exclude={"source", "pages"}),
            source=question.source or "paper",
            source_sha256="0" * 64,
            number=str(number),
            pages=question.pages,
            answer=answers[question.id].answer,
            solution=answers[question.id].solution,
        )
        for number, question in enumerate(
            read_jsonl(results / "freeze" / "questions.jsonl", Question), 1
        )
    ]
    shutil.copytree(results / "freeze" / "images", results / "rationale" / "images")
    write_jsonl(results / "rationale" / "problems.jsonl", rows)


def make_sources(results: Path, study: Study | None = None, **more: Path) -> ExplorerSources:
    """The sources of a folder of results."""
    return ExplorerSources(results / "freeze", results=results, study=study, **more)
