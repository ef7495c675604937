"""Responses drawn at random for people to label, whoever judged them (OMIBench, appendix J)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import MissingInputError
from omibench.files.csv_file import write_csv
from omibench.params.stage_params import CertifyStageParams
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import ResponseRow, read_jsonl, read_parquet
from omibench.stages.certify.matching import hash_text

SHEET_FILE = "to_label.csv"
"""What `draw_sheet` writes: with `label` filled in it is a file of labels."""
_READABLE = ("answered", "truncated")


class LabelDraw(NamedTuple):
    """Of which models and settings how many responses are drawn; all of them where None."""

    per_model: int
    models: Collection[str] | None = None
    settings: Collection[str] | None = None


def draw_sheet(results: Path, out: Path, study: CertifyStageParams, drawing: LabelDraw) -> int:
    """Write a sheet of responses for people to label, without any verdict on them.

    Which ones are drawn depends on the study's seed and on nothing else that is there: a larger
    number holds those of a smaller one, and cells that join later move none of another model.

    Args:
        results: The folder that holds freeze/ and infer/.
        out: The folder for `to_label.csv`.
        study: The study.
        drawing: How many responses with text are drawn of each model.

    Returns:
        How many responses the sheet holds.

    Raises:
        MissingInputError: The frozen problems are not there, or no response with text is.
    """
    questions = {q.id: q for q in read_jsonl(results / "freeze" / "questions.jsonl", Question)}
    answers = {a.id: a for a in read_jsonl(results / "freeze" / "answers.jsonl", Answer)}
    rows = draw_responses(results / "infer", study, drawing, questions.keys() & answers.keys())
    sheet = [_make_line(row, questions[row["id"]], answers[row["id"]]) for row in rows]
    if not sheet:
        raise MissingInputError(
            f"{results / 'infer'}: holds no response with text of these models and settings; run "
            "`omibench infer` first"
        )
    write_csv(out / SHEET_FILE, sheet)
    return len(sheet)


def draw_responses(
    infer: Path, study: CertifyStageParams, drawing: LabelDraw, ids: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Draw responses with text, of each model apart.

    Args:
        infer: The folder of responses.
        study: The study; its seed alone decides which ones are drawn.
        drawing: How many, of which models and settings.
        ids: The problems of which responses may be drawn.

    Yields:
        The columns of ResponseRow and `model, setting`; model by model, by setting and problem.
    """
    candidates: dict[str, list[dict[str, Any]]] = {}
    for row in _list_candidates(infer, study, drawing):
        if row["id"] in ids:
            candidates.setdefault(row["model"], []).append(row)
    for rows in candidates.values():
        drawn = sorted(rows, key=lambda row: _rank(study.study.seed, row))[: drawing.per_model]
        yield from sorted(drawn, key=_place)


def _list_candidates(
    infer: Path, study: CertifyStageParams, drawing: LabelDraw
) -> Iterator[dict[str, Any]]:
    for cell in study.cells:
        named = drawing.models is None or cell.model in drawing.models
        file = infer / cell.model / f"{cell.setting}.parquet"
        if not named or not file.is_file():
            continue
        if drawing.settings is not None and cell.setting not in drawing.settings:
            continue
        for row in read_parquet(file, ResponseRow).iter_rows(named=True):
            if row["outcome"] in _READABLE and row["text"].strip():
                yield {"model": cell.model, "setting": cell.setting} | row


def _place(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["setting"], row["id"], row["index"]


def _rank(seed: int, row: dict[str, Any]) -> bytes:
    text = "\0".join(map(str, (seed, row["model"], *_place(row))))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _make_line(row: dict[str, Any], question: Question, answer: Answer) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("id", "model", "setting", "index")},
        "question": question.question,
        "gold": "; ".join(answer.answer),
        "response": row["text"],
        "response_sha256": hash_text(row["text"]),
        "label": None,
    }
