"""The score stage: files of responses in, files of verdicts out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.errors import FileFormatError, MissingInputError
from omibench.problem import Answer, Question
from omibench.score.asking import Judge, open_judge
from omibench.score.columns import scored_frame
from omibench.score.extract import extract
from omibench.score.judge import NAME as GPTSCORE
from omibench.score.judge import PROMPT_SHA256, JudgeItem, Judgement, judge
from omibench.score.judge import VERSION as JUDGE_VERSION
from omibench.score.outcome import finish_reason_of, passes_through
from omibench.score.rows import read_rows
from omibench.score.rules import rule_book, score_item
from omibench.study import Study
from omibench.tables import (
    ResponseRow,
    VerdictRow,
    read_jsonl,
    read_parquet,
    write_parquet,
)
from omibench.verdict import ScoredItem, VerdictOutcome

if TYPE_CHECKING:
    import polars as pl


def score_file(
    inputs: Sequence[Path], rules: str, out: Path, judge: Study | Judge | None = None
) -> int:
    """Score the rows of JSONL or Parquet files and write them with their verdicts as Parquet.

    The rows of `out` are those of the inputs, in order, with `extracted`, `method`, `verdict` (0 to
    1), `credit` (the share of parts) and `outcome`; with a judge (the study that names it, or one
    already open) also `gptscore` and `judge_outcome`; `score.columns` says what becomes of
    other columns. Returns how many rows there are. Raises OmibenchError for an unknown rule book,
    MissingInputError and FileFormatError for the inputs.
    """
    rule_book(rules)
    rows = read_rows(inputs)
    items = [row.item for row in rows]
    verdicts = [score_item(item, rules) for item in items]
    new: dict[str, list[Any]] = {
        name: [getattr(verdict, name) for verdict in verdicts]
        for name in ("extracted", "method", "verdict", "credit", "outcome")
    }
    if judge is not None:
        told = _judged(items, [row.question for row in rows], judge)
        new["gptscore"] = [t.score if isinstance(t, Judgement) else 0.0 for _, t in told]
        new["judge_outcome"] = [outcome for outcome, _ in told]
    _write(out, scored_frame([row.raw for row in rows], new))
    return len(rows)


def score_cell(
    responses: Path,
    answers: Path,
    questions: Path | None,
    out: Path,
    study: Study,
) -> int:
    """Score the responses of one cell by every rule book of the study, and by its judge.

    Reads ResponseRow Parquet, Answer JSONL and, for a judge, Question JSONL; writes VerdictRow
    Parquet: rule book by rule book in the order of `score.rules`, each in the order of the
    responses, then the judge's rows (`rules` = gptscore). Returns how many rows there are.
    """
    frame = read_parquet(responses, ResponseRow)
    rows = [ResponseRow(**row) for row in frame.iter_rows(named=True)]
    gold = {answer.id: answer for answer in read_jsonl(answers, Answer)}
    items = [_item(row, gold, responses) for row in rows]
    out_rows = [
        _verdict_row(row, item, rules)
        for rules in study.score.rules
        for row, item in zip(rows, items, strict=True)
    ]
    if study.score.judge:
        asked = _questions(questions)
        texts = [asked[row.id].question if row.id in asked else "" for row in rows]
        out_rows += _judge_rows(rows, items, texts, study)
    write_parquet(out, out_rows, VerdictRow)
    return len(out_rows)


def _questions(path: Path | None) -> dict[str, Question]:
    if path is None:
        raise MissingInputError("score: a judge needs the questions; give them with --questions")
    return {question.id: question for question in read_jsonl(path, Question)}


def _item(row: ResponseRow, gold: dict[str, Answer], where: Path) -> ScoredItem:
    answer = gold.get(row.id)
    if answer is None:
        raise FileFormatError(f"{where}: problem {row.id!r} has no answer in the answers file")
    return ScoredItem.model_validate(
        {
            "id": row.id, "prediction": row.text, "gold": answer.answer,
            "answer_type": answer.answer_type, "choices": answer.choices,
            "finish_reason": row.finish_reason, "outcome": row.outcome,
            "published_verdict": row.published_verdict,
        }
    )  # fmt: skip


def _verdict_row(row: ResponseRow, item: ScoredItem, rules: str) -> VerdictRow:
    verdict = score_item(item, rules)
    return VerdictRow(
        id=row.id, index=row.index, key=row.key, rules=rules, version=verdict.version,
        extracted=verdict.extracted, method=verdict.method, verdict=verdict.verdict,
        credit=verdict.credit, outcome=verdict.outcome, simulated=row.simulated,
    )  # fmt: skip


def _judge_rows(
    rows: Sequence[ResponseRow], items: Sequence[ScoredItem], questions: Sequence[str], study: Study
) -> list[VerdictRow]:
    with open_judge(study) as judge_model:
        told = _judged(items, questions, judge_model)
        return [
            VerdictRow(
                id=row.id, index=row.index, key=row.key, rules=GPTSCORE, version=JUDGE_VERSION,
                method="judge" if judgement else "not judged",
                verdict=judgement.score if judgement else 0.0, outcome=outcome,
                judge=judge_model.name,
                judge_key=judge_model.key(judgement.request) if judgement else None,
                prompt_sha256=PROMPT_SHA256,
                simulated=row.simulated or bool(judgement and judgement.simulated),
            )
            for row, (outcome, judgement) in zip(rows, told, strict=True)
        ]  # fmt: skip


def _judged(
    items: Sequence[ScoredItem], questions: Sequence[str], by: Study | Judge
) -> list[tuple[VerdictOutcome, Judgement | None]]:
    """The judgement of every response that has something to judge; the outcome of the others.

    A refused, empty, looping or cut-off response without an answer is not sent to the judge. One
    from which the rules extract nothing for another reason is: the judge may read it.
    """
    if isinstance(by, Study):
        with open_judge(by) as opened:
            return _judged(items, questions, opened)
    outcomes = [_before_judging(item) for item in items]
    asked = [i for i, outcome in enumerate(outcomes) if outcome == "scored"]
    judgements = judge([_judge_item(items[i], questions[i]) for i in asked], by.ask)
    by_index = dict(zip(asked, judgements, strict=True))
    return [
        (by_index[i].outcome, by_index[i]) if i in by_index else (outcome, None)
        for i, outcome in enumerate(outcomes)
    ]


def _judge_item(item: ScoredItem, question: str) -> JudgeItem:
    return JudgeItem(item.id, question, item.gold, item.prediction, item.choices)


def _before_judging(item: ScoredItem) -> VerdictOutcome:
    blocked = passes_through(item, GPTSCORE, JUDGE_VERSION)
    if blocked:
        return blocked.outcome
    found = extract(
        item.prediction, item.answer_type, item.choices, len(item.gold), finish_reason_of(item)
    )
    return "scored" if found.outcome == "unparsed" else found.outcome


def _write(out: Path, frame: pl.DataFrame) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    frame.write_parquet(partial)
    partial.replace(out)
