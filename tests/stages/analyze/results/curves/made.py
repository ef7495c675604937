"""Small studies, written as files and read again, whose every verdict a test decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from tests.stages.analyze.conftest import table_of

from omibench.params.study import parse_study
from omibench.results.load import load_results
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    write_json,
    write_jsonl,
    write_parquet,
)
from omibench.stages.analyze.analysis import Analysis

SIMULATED = {"provider": "simulated", "oracle": "oracle.jsonl"}


class Draw(NamedTuple):
    """One response and what every scorer says of it."""

    model: str
    setting: str
    id: str
    verdict: float
    index: int = 0
    extracted: str | None = "7"
    text: str = "It is seven."
    tokens: int | None = None
    outcome: str = "answered"
    judged: float | None = None
    """The judge's verdict, where there is a judge."""


def make_answers(count: int, **attributes: Sequence[str]) -> list[Answer]:
    """Open problems p0, p1, ...; of each attribute the values in turn."""
    return [
        Answer(
            id=f"p{number}",
            answer=["7"],
            answer_type="open",
            subject="physics",
            attributes={name: values[number % len(values)] for name, values in attributes.items()},
        )
        for number in range(count)
    ]


def draw_first(model: str, setting: str, right: int, problems: int, **more: Any) -> list[Draw]:
    """One response to each of so many problems, of which the first are right."""
    return [Draw(model, setting, f"p{i}", float(i < right), **more) for i in range(problems)]


def study_of(*models: str, **more: Any) -> dict[str, Any]:
    """The parameters of a study of one setting."""
    infer = {"models": [*models], "settings": ["cot"]}
    return {"settings": {"cot": {}}, "infer": infer, **more}


def tabulate(
    folder: Path,
    study: Mapping[str, Any],
    answers: Sequence[Answer] | int,
    draws: Sequence[Draw],
    name: str,
) -> pl.DataFrame:
    """A table of a study, which it must have."""
    return table_of(make_analysis(folder, study, answers, draws), name)


def make_analysis(
    folder: Path, study: Mapping[str, Any], answers: Sequence[Answer] | int, draws: Sequence[Draw]
) -> Analysis:
    """Write a study, of these or so many problems, and read it for the stage `analyze`."""
    answers = make_answers(answers) if isinstance(answers, int) else answers
    models = {name: dict(SIMULATED) for name in study["infer"]["models"]}
    values = {
        "score": {"scorers": ["robust"]},
        **study,
        "models": models | study.get("models", {}),
    }
    cells = [(draw.model, draw.setting, _respond(draw), _judge(draw)) for draw in draws]
    return write_study(folder, values, answers, cells)


def write_study(
    folder: Path,
    values: dict[str, Any],
    answers: Sequence[Answer],
    drawn: Iterable[tuple[str, str, ResponseRow, list[VerdictRow]]],
) -> Analysis:
    """Write problems, responses and their verdicts by model and setting, and open the study."""
    names = ("subject", "group", "choices")
    questions = [
        Question(id=a.id, question="How many?", **{n: getattr(a, n) for n in names})
        for a in answers
    ]
    write_jsonl(folder / "freeze" / "questions.jsonl", questions)
    write_jsonl(folder / "freeze" / "answers.jsonl", answers)
    manifest = FrozenManifest(
        name="made", version="1.0.0", problems=len(answers), images=0, questions_sha256="0",
        answers_sha256="0", subjects={},
    )  # fmt: skip
    write_json(folder / "freeze" / "manifest.json", manifest)
    cells: dict[str, list[tuple[ResponseRow, list[VerdictRow]]]] = {}
    for model, setting, response, verdicts in drawn:
        cells.setdefault(f"{model}/{setting}.parquet", []).append((response, verdicts))
    for file, rows in cells.items():
        write_parquet(folder / "infer" / file, [row for row, _ in rows], ResponseRow)
        verdicts = [verdict for _, own in rows for verdict in own]
        write_parquet(folder / "score" / file, verdicts, VerdictRow)
    study = parse_study(values, "test")
    results = load_results(folder / "freeze", folder / "infer", folder / "score", study)
    return Analysis(study, results, folder, folder / "analyze" / "report.html")


def _key(draw: Draw) -> str:
    return sha256(f"{draw.model}/{draw.setting}/{draw.id}/{draw.index}".encode()).hexdigest()


def _respond(draw: Draw) -> ResponseRow:
    return ResponseRow(
        id=draw.id, index=draw.index, key=_key(draw), outcome=draw.outcome, text=draw.text,
        output_tokens=draw.tokens, simulated=False,
    )  # fmt: skip


def _judge(draw: Draw) -> list[VerdictRow]:
    is_scored = draw.extracted is not None
    verdict = VerdictRow(
        id=draw.id, index=draw.index, key=_key(draw), rules="robust", version=1,
        extracted=draw.extracted, method="boxed", verdict=draw.verdict,
        outcome="scored" if is_scored else "unparsed",
    )  # fmt: skip
    if draw.judged is None:
        return [verdict]
    judged = {"rules": "gptscore", "extracted": None, "verdict": draw.judged, "outcome": "scored"}
    return [verdict, verdict.model_copy(update=judged)]
