"""The score stage: files of responses in, files of verdicts out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.errors import FileFormatError, MissingInputError
from omibench.problem import Answer, Question
from omibench.score.asking import ScoreJudges, one_judge, open_judges
from omibench.score.cache import score_items
from omibench.score.columns import scored_frame
from omibench.score.judge import JudgedVerdict, gptscore, graded
from omibench.score.judges.panel import Judge
from omibench.score.mathreal import NAME as MATHREAL
from omibench.score.rows import read_rows
from omibench.score.rules import rule_book
from omibench.study import Study
from omibench.tables import (
    ResponseRow,
    VerdictRow,
    read_jsonl,
    read_parquet,
    write_parquet,
)
from omibench.verdict import ScoredItem

if TYPE_CHECKING:
    import polars as pl


def score_file(
    inputs: Sequence[Path],
    rules: str,
    out: Path,
    judge: Study | Judge | None = None,
    cache: Path | None = None,
) -> int:
    """Score the rows of JSONL or Parquet files and write them with their verdicts as Parquet.

    The rows of `out` are those of the inputs, in order, with `extracted`, `method`, `verdict` (0 to
    1), `credit` (the share of parts) and `outcome`; with a judge (the study that names it, or one
    already open) also `gptscore` and `judge_outcome`, and of judge and grader the name, the key of
    its reply in the store and the SHA-256 of its prompt; `score.columns` says what becomes of
    other columns. Returns how many rows there are. Raises OmibenchError for an unknown rule book,
    MissingInputError and FileFormatError for the inputs. With a `cache` (`score.cache`), verdicts
    that it knows are not made again.
    """
    rule_book(rules)
    rows = read_rows(inputs)
    items, questions = [row.item for row in rows], [row.question for row in rows]
    with _opened(judge) as judges:
        scored = [first for first, *_ in _by_rules(items, questions, rules, judges, cache)]
        new: dict[str, list[Any]] = {
            name: [getattr(one.verdict, name) for one in scored]
            for name in ("extracted", "method", "verdict", "credit", "outcome")
        }
        if rules == MATHREAL and judges.grade:
            new |= _by_whom("grader", scored)
        if judges.gptscore:
            told = [first for first, *_ in gptscore(items, questions, judges.gptscore)]
            new["gptscore"] = [one.verdict.verdict for one in told]
            new["judge_outcome"] = [one.verdict.outcome for one in told]
            new |= _by_whom("judge", told)
    _write(out, scored_frame([row.raw for row in rows], new))
    return len(rows)


def score_cell(  # noqa: PLR0913, PLR0917 (files in, a file out)
    responses: Path,
    answers: Path,
    questions: Path | None,
    out: Path,
    study: Study,
    cache: Path | None = None,
) -> int:
    """Score the responses of one cell by every rule book of the study, and by its judges.

    Reads ResponseRow Parquet, Answer JSONL and, for a judge, Question JSONL; writes VerdictRow
    Parquet: rule book by rule book in the order of `score.rules`, each in the order of the
    responses, then the judges' (`rules` = gptscore). Behind a verdict on which several judges
    voted stands each one's own. Returns how many rows there are.
    """
    frame = read_parquet(responses, ResponseRow)
    rows = [ResponseRow(**row) for row in frame.iter_rows(named=True)]
    gold = {answer.id: answer for answer in read_jsonl(answers, Answer)}
    items = [scored_item(row, gold, responses) for row in rows]
    texts = _questions(questions, rows) if study.score.panels else [""] * len(rows)
    out_rows: list[VerdictRow] = []
    with _opened(study) as judges:
        for rules in study.score.rules:
            out_rows += _verdict_rows(rows, _by_rules(items, texts, rules, judges, cache))
        if judges.gptscore:
            out_rows += _verdict_rows(rows, gptscore(items, texts, judges.gptscore))
    write_parquet(out, out_rows, VerdictRow)
    return len(out_rows)


def _questions(path: Path | None, rows: Sequence[ResponseRow]) -> list[str]:
    if path is None:
        raise MissingInputError("score: a judge needs the questions; give them with --questions")
    asked = {question.id: question.question for question in read_jsonl(path, Question)}
    return [asked.get(row.id, "") for row in rows]


def scored_item(row: ResponseRow, gold: dict[str, Answer], where: Path) -> ScoredItem:
    """A response beside its gold. Raises FileFormatError for a problem without an answer."""
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


def _by_rules(
    items: Sequence[ScoredItem],
    questions: Sequence[str],
    rules: str,
    judges: ScoreJudges,
    cache: Path | None,
) -> list[list[JudgedVerdict]]:
    """The verdicts of one rule book, those of the judges who voted behind each."""
    if rules == MATHREAL and judges.grade and judges.extraction:
        return graded(items, questions, judges.grade, judges.extraction)
    return [[JudgedVerdict(verdict)] for verdict in score_items(items, rules, cache)]


def _verdict_rows(
    rows: Sequence[ResponseRow], verdicts: Sequence[Sequence[JudgedVerdict]]
) -> list[VerdictRow]:
    """Rows by rule book (or judge), each in the order of the responses."""
    return [
        VerdictRow(
            id=row.id, index=row.index, key=row.key, rules=told.verdict.rules,
            version=told.verdict.version, extracted=told.verdict.extracted,
            method=told.verdict.method, verdict=told.verdict.verdict, credit=told.verdict.credit,
            outcome=told.verdict.outcome, judge=told.judge, judge_key=told.judge_key,
            prompt_sha256=told.prompt_sha256, simulated=row.simulated or told.simulated,
        )
        for column in zip(*verdicts, strict=True)
        for row, told in zip(rows, column, strict=True)
    ]  # fmt: skip


def _by_whom(role: str, told: Sequence[JudgedVerdict]) -> dict[str, list[str | None]]:
    """Who gave the verdicts: `<role>`, `<role>_key` and `<role>_prompt_sha256`."""
    return {
        role: [one.judge for one in told],
        f"{role}_key": [one.judge_key for one in told],
        f"{role}_prompt_sha256": [one.prompt_sha256 for one in told],
    }


@contextmanager
def _opened(by: Study | Judge | None) -> Iterator[ScoreJudges]:
    if isinstance(by, Study):
        with open_judges(by) as judges:
            yield judges
    else:
        yield one_judge(by) if by else ScoreJudges()


def _write(out: Path, frame: pl.DataFrame) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    frame.write_parquet(partial)
    partial.replace(out)
