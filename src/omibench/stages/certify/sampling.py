"""Responses for human labels: where rules and judge disagree (OMIBench, C.3), or at random."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from omibench.errors import MissingInputError
from omibench.files.outputs import write_csv
from omibench.results.judgements import DISAGREE, RESPONSE
from omibench.results.load import Results
from omibench.results.study_files import StudyFiles
from omibench.schemas.certificate import DisagreementRow
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import READABLE
from omibench.stages.certify.labels import hash_text

if TYPE_CHECKING:
    from omibench.params.study import Study


Texts = dict[tuple[Any, ...], str]


def draw_disagreements(
    results: Results, rows: pl.DataFrame, limit: int
) -> Iterator[DisagreementRow]:
    """Draw at most `limit` responses of each model with the study's seed, in their order.

    `rows` are from `fourway.side_by_side`.
    """
    texts: Texts = {
        tuple(row[name] for name in RESPONSE): row["text"]
        for row in results.read_responses().select(*RESPONSE, "text").iter_rows(named=True)
    }

    for row in draw_apart(rows, results.study.study.seed, limit):
        question = results.questions.get(row["id"])
        yield make_disagreement(
            row,
            question=question.question if question else "",
            gold=results.answers[row["id"]].answer,
            text=texts.get(tuple(row[name] for name in RESPONSE), ""),
        )


def draw_apart(rows: pl.DataFrame, seed: int, limit: int) -> Iterator[dict[str, Any]]:
    """Draw at most `limit` rows of each model on which scorer and judge disagree, in their order.

    `rows` have a `quadrant`.
    """
    disagree = rows.filter(pl.col("quadrant").is_in(DISAGREE))
    for model in disagree["model"].unique(maintain_order=True).to_list():
        candidates = disagree.filter(model=model).rows(named=True)
        rng = Random(f"{seed}\0{model}")  # noqa: S311
        drawn = rng.sample(range(len(candidates)), min(limit, len(candidates)))
        yield from (candidates[place] for place in sorted(drawn))


def make_disagreement(
    row: dict[str, Any], *, question: str, gold: list[str], text: str, label: float | None = None
) -> DisagreementRow:
    """Return a row of `draw_apart` with the problem and the response that it is about."""
    same = {name: row[name] for name in row.keys() & DisagreementRow.model_fields.keys()}
    about = {"question": question, "gold": gold, "response": text, "label": label}
    return DisagreementRow.model_validate(
        same | about | {"disagreement": row["quadrant"], "response_sha256": hash_text(text)}
    )


# Random draw of responses for human labels, independent of judges (OMIBench, appendix J).

SHEET_FILE = "to_label.csv"
"""Columns of `draw_sheet`; once `label` is completed, the sheet is a file of labels."""


class LabelDraw(NamedTuple):
    """The number of responses to draw, and the models and settings; None for all."""

    per_model: int
    models: Collection[str] | None = None
    settings: Collection[str] | None = None


def draw_sheet(results: Path, out: Path, study: Study, drawing: LabelDraw) -> int:
    """Write a sheet of responses for human labels, without any verdict.

    The draw depends only on the study's seed: a larger number contains the responses of a smaller
    one, and additional cells do not change those of other models.

    Args:
        results: The folder that contains freeze/ and infer/.
        out: The folder for `to_label.csv`.
        study: The study.
        drawing: The number of responses with text to draw from each model.

    Returns:
        The number of responses in the sheet.

    Raises:
        MissingInputError: The frozen problems or responses with text are missing.
    """
    files = StudyFiles(results)
    questions, answers = files.questions, files.answers
    rows = draw_responses(files, study, drawing, questions.keys() & answers.keys())
    sheet = [_make_line(row, questions[row["id"]], answers[row["id"]]) for row in rows]
    if not sheet:
        raise MissingInputError(
            f"{results / 'infer'}: no response with text of these models and settings; run "
            "`omibench infer` first"
        )
    write_csv(out / SHEET_FILE, sheet)
    return len(sheet)


def draw_responses(
    files: StudyFiles, study: Study, drawing: LabelDraw, ids: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Draw responses with text, separately for each model.

    Args:
        files: The results of the study.
        study: The study; only its seed determines the draw.
        drawing: The number of responses, and the models and settings.
        ids: The problems whose responses can be drawn.

    Yields:
        The columns of ResponseRow and `model, setting`; model by model, by setting and problem.
    """
    candidates: dict[str, list[dict[str, Any]]] = {}
    for row in _list_candidates(files, study, drawing):
        if row["id"] in ids:
            candidates.setdefault(row["model"], []).append(row)
    for rows in candidates.values():
        drawn = sorted(rows, key=lambda row: _rank(study.study.seed, row))[: drawing.per_model]
        yield from sorted(drawn, key=_place)


def _list_candidates(
    files: StudyFiles, study: Study, drawing: LabelDraw
) -> Iterator[dict[str, Any]]:
    for cell in study.cells:
        named = drawing.models is None or cell.model in drawing.models
        if not named or not files.locate("infer", cell).is_file():
            continue
        if drawing.settings is not None and cell.setting not in drawing.settings:
            continue
        for row in files.read_responses(cell).iter_rows(named=True):
            if row["outcome"] in READABLE and row["text"].strip():
                yield row


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
