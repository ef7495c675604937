"""Input of judges from a cell: responses with question, gold answer, reference and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from omibench.answers.judges.case import JudgeCase, list_pictures
from omibench.answers.transcripts import print_text
from omibench.errors import FileFormatError, ParamsError
from omibench.params.stages.judge import ErrorDraw, JudgeParams
from omibench.schemas.problem import Answer, Question, join_labels
from omibench.schemas.tables import ResponseRow, VerdictRow, read_jsonl, read_parquet
from omibench.schemas.validation import suggest_name


@dataclass(frozen=True)
class Material:
    """One response to judge, with its case and verdict.

    `verdict` is None if no scorer is required; `stratum` is the value of the problem's attribute by
    which failures are drawn; `is_sampled` states whether the problem is in `judge.problems`.
    `transcript` is the case of the reading of the pictures, or None.
    """

    row: ResponseRow
    case: JudgeCase
    verdict: VerdictRow | None
    stratum: str = ""
    is_sampled: bool = True
    transcript: JudgeCase | None = None

    @property
    def is_readable(self) -> bool:
        """Return whether the response has text to judge."""
        return self.row.outcome in ("answered", "truncated") and bool(self.row.text.strip())

    @property
    def is_wrong(self) -> bool:
        """Return whether the answer was scored and is wrong.

        If the verdict is the share of correct parts, only 0 is wrong (MathReal, Error Analysis:
        failed cases have Acc = 0); otherwise any value below 1.
        """
        if self.verdict is None or self.verdict.outcome != "scored":
            return False
        if self.verdict.strict is not None:
            return self.verdict.verdict == 0
        return self.verdict.verdict < 1


class CellFiles(NamedTuple):
    """The files of a cell and of its dataset; `verdicts` can be missing if not needed."""

    responses: Path
    verdicts: Path | None
    answers: Path
    questions: Path


def read_material(files: CellFiles, params: JudgeParams) -> list[Material]:
    """Read the responses of a cell in order, for the problems in `params.problems`.

    If failures are drawn, all problems are read.

    Raises:
        FileFormatError: A response has no problem or verdict.
        ParamsError: The verdicts have none of `params.wrong_by`, or no problem has the attribute
            for the draw.
    """
    responses, verdicts, answers, questions = files
    draw = params.errors.draw if params.errors else None
    questions_by_id = {question.id: question for question in read_jsonl(questions, Question)}
    gold = {answer.id: answer for answer in read_jsonl(answers, Answer)}
    _check_attribute(draw, gold.values())
    kept_ids = choose_ids(questions_by_id, params.problems)
    rows = [ResponseRow(**r) for r in read_parquet(responses, ResponseRow).iter_rows(named=True)]
    verdict_rows = read_verdicts(verdicts, params.wrong_by) if verdicts else None
    material = []
    for row in rows:
        if row.id not in questions_by_id or row.id not in gold:
            raise FileFormatError(f"{responses}: problem {row.id!r} is not in the frozen dataset")
        if row.id not in kept_ids and draw is None:
            continue
        if verdict_rows is not None and (row.id, row.index) not in verdict_rows:
            raise FileFormatError(
                f"{verdicts}: the response to {row.id!r}, sample {row.index}, has no verdict; "
                "score this cell again"
            )
        case = make_case(
            questions_by_id[row.id], gold[row.id], row.text, questions.parent, params.images
        )
        verdict = verdict_rows[row.id, row.index] if verdict_rows is not None else None
        stratum = find_stratum(gold[row.id], draw)
        transcript = make_transcript_case(questions_by_id[row.id], row)
        material.append(Material(row, case, verdict, stratum, row.id in kept_ids, transcript))
    return material


def _check_attribute(draw: ErrorDraw | None, answers: Iterable[Answer]) -> None:
    names = {"subject", *(name for answer in answers for name in answer.attributes)}
    if draw and draw.by and draw.by not in names:
        raise ParamsError(
            f"judge.errors.draw.by: no problem has the attribute {draw.by!r}"
            f"{suggest_name(draw.by, sorted(names))}"
        )


def find_stratum(answer: Answer, draw: ErrorDraw | None) -> str:
    """Return the stratum of a problem for drawing failures; empty without strata."""
    if draw is None or draw.by is None:
        return ""
    return answer.subject if draw.by == "subject" else join_labels(answer.attributes.get(draw.by))


def make_case(
    question: Question, answer: Answer, text: str, folder: Path, images: bool
) -> JudgeCase:
    """Return the judges' view of a response; pictures, if any, in the order of the question."""
    return JudgeCase(
        id=question.id,
        question=question.question,
        gold=answer.answer,
        response=text,
        choices=answer.choices or question.choices,
        reference=answer.solution or answer.sketch,
        images=list_pictures(question.images, folder) if images else (),
    )


def make_transcript_case(question: Question, row: ResponseRow) -> JudgeCase | None:
    """Return the view of a judge of transcripts: the reading and the printed text.

    Args:
        question: The problem.
        row: A response to it.

    Returns:
        The case, or None if there was no reading before the response.
    """
    if not row.readings:
        return None
    text, printed = row.readings[0], print_text(question)
    return JudgeCase(question.id, "", (), text, reference=printed)


def choose_ids(ids: Iterable[str], limit: int | None) -> set[str]:
    """Return a limited number of ids, those with the smallest hashes, stable across cells."""
    ranked = sorted(ids, key=lambda name: sha256(name.encode()).digest())
    return set(ranked[:limit])


def read_verdicts(path: Path, rules: str | None) -> Mapping[tuple[str, int], VerdictRow]:
    """Return (problem, sample) -> the verdict of one scorer, by default the first in the file.

    Raises:
        ParamsError: The file has no verdict of that scorer.
    """
    rows: Sequence[dict[str, object]] = read_parquet(path, VerdictRow).to_dicts()
    scorers = list(dict.fromkeys(str(row["rules"]) for row in rows))
    scorer = rules or (scorers[0] if scorers else "")
    if rows and scorer not in scorers:
        raise ParamsError(
            f"judge.wrong_by: {path} has no verdict of {scorer!r}; it has {', '.join(scorers)}"
        )
    picked = [VerdictRow.model_validate(row) for row in rows if row["rules"] == scorer]
    return {(row.id, row.index): row for row in picked}
