"""The `oracle` file of the simulated models: one JSON line per problem or scanned page."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from omibench.errors import ModelError, reason_of
from omibench.models.synthetic.items import clean_items, items, make_random
from omibench.models.synthetic.profiles import Made, parse_address
from omibench.schemas.problem import AnswerType
from omibench.schemas.tables import read_jsonl

_ONLY_IN_ANSWERS = {"solution", "attributes"}


class OracleRow(BaseModel):
    """The known answer of one problem, or the text of one page of a scan (`<source>#p<page>`).

    `choices` are the labels of the options; `difficulty` is on the (logit) scale of ability;
    `captions` follow the order of the images; `page_text` is the printed text of a page.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    answer: list[str] = []
    answer_type: AnswerType = "open"
    choices: list[str] | None = None
    difficulty: float = 0.0
    n_images: int = 2
    subject: str = "other"
    topic: str | None = None
    captions: list[str] = []
    translation: str | None = None
    rationale: str | None = None
    statement: str | None = None
    page_text: str | None = None
    spared: Annotated[list[str], Field(exclude_if=lambda spared: not spared)] = []
    """Settings that do not affect it: `captions` if the text contains all that the pictures
    show."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_answer(cls, row: Any) -> Any:
        """Convert a frozen answer or a problem as read, valid lines too.

        The id determines the difficulty.
        """
        if not isinstance(row, dict) or not _ONLY_IN_ANSWERS & row.keys():
            return row
        choices = row.get("choices") or []
        name = str(row.get("id"))
        figures = row.get("n_images") or len(row.get("images") or [])
        return {
            "difficulty": round(make_random("difficulty", name).gauss(0.0, 1.0), 4),
            "rationale": row.get("solution"),
            "statement": row.get("question") or f"The statement of {name}.",
            "captions": [f"Figure {n + 1} of {name}." for n in range(figures)],
            **row,
            "answer": row.get("answer") or [],
            "n_images": figures,
            "topic": row.get("topic") or f"topic {make_random('topic', name).randint(1, 3)}",
            "choices": [c["label"] if isinstance(c, dict) else c for c in choices] or None,
        }


class Oracle:
    """All rows of an `oracle` file by id, with topics and words for plausible mistakes."""

    def __init__(self, rows: list[OracleRow], source: str = "oracle") -> None:
        self.source = source
        text = "\n".join(sorted(row.model_dump_json() for row in rows))
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.rows = {row.id: row for row in rows}
        self._topics: dict[str, set[str]] = defaultdict(set)
        self._answers: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            if row.topic:
                self._topics[row.subject].add(row.topic)
            if row.answer_type == "open":
                self._answers[row.subject].update(row.answer)

    def row(self, problem: str) -> OracleRow:
        """Return the row of a problem. Raises ModelError with the problem and the file."""
        try:
            return self.rows[problem]
        except KeyError:
            raise ModelError(
                f"{self.source}: no line for {problem!r}, which the simulated models need; add "
                "one, or limit them to the problems in the file"
            ) from None

    def topics(self, subject: str) -> list[str]:
        """Return every topic of a subject, sorted."""
        return sorted(self._topics[subject])

    def answers(self, subject: str) -> list[str]:
        """Return every open answer of a subject, sorted: candidates for wrong answers."""
        return sorted(self._answers[subject])


def load_oracle(path: str) -> Oracle:
    """Read an `oracle` file, once per version of it; or that of synthetic problems.

    `synthetic:<study>` refers to those problems (`omibench.models.synthetic.profiles`). Raises
    ModelError if the file is missing, FileFormatError if a line is invalid, and ParamsError for an
    unknown synthetic study.
    """
    if address := parse_address(path):
        return _make_oracle(address)
    try:
        state = Path(path).stat()
    except OSError as error:
        raise ModelError(
            f"{path}: the `oracle` file of a simulated model cannot be read: {reason_of(error)}"
        ) from None
    return _load(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _make_oracle(address: Made) -> Oracle:
    rows = [
        OracleRow(
            id=item.id,
            answer=item.answer,
            answer_type=item.answer_type,
            choices=[option.label for option in item.options] or None,
            difficulty=item.difficulty,
            n_images=len(item.drawings),
            subject=item.subject,
            topic=item.attributes.get("category"),
            captions=[drawing.caption for drawing in item.drawings],
            translation=item.question,
            rationale=item.solution,
            statement=item.question,
        )
        for item in (*items(*address), *clean_items(*address))
    ]
    return Oracle(rows, str(address))


@lru_cache(maxsize=8)
def _load(path: str, modified_ns: int, size: int) -> Oracle:
    return Oracle(read_jsonl(Path(path), OracleRow), path)
