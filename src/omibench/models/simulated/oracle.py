"""What a simulation knows: the oracle, one JSON line a problem or a scanned page."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from omibench.errors import ModelError, reason_of
from omibench.schemas.problem import AnswerType
from omibench.schemas.tables import read_jsonl
from omibench.synthetic.address import Made, parse_address
from omibench.synthetic.items import items, make_random

_ONLY_IN_ANSWERS = {"solution", "attributes"}


class OracleRow(BaseModel):
    """One problem, or one page of a scan (`<source>#p<page>`), as its author knows it.

    `choices` are the labels of the options; `difficulty` is on the ability's (logit) scale;
    `captions` count with the images; `page_text` is what is printed on a page.
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
    """Settings whose effect it does not feel: `captions`, where words say all that pictures do."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_answer(cls, row: Any) -> Any:
        """A frozen answer is a line of an oracle, too: how hard it is, its id decides."""
        if not isinstance(row, dict) or not _ONLY_IN_ANSWERS & row.keys():
            return row
        choices = row.get("choices") or []
        name = str(row.get("id"))
        figures = row.get("n_images") or 0
        return {
            "difficulty": round(make_random("difficulty", name).gauss(0.0, 1.0), 4),
            "rationale": row.get("solution"),
            "statement": f"The statement of {name}.",
            "captions": [f"Figure {n + 1} of {name}." for n in range(figures)],
            **row,
            "choices": [c["label"] if isinstance(c, dict) else c for c in choices] or None,
        }


class Oracle:
    """All rows of an oracle file by id, with the topics and words that make plausible mistakes."""

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
        """The row of a problem. Raises ModelError naming it and the oracle's file."""
        try:
            return self.rows[problem]
        except KeyError:
            raise ModelError(
                f"{self.source}: the oracle of the simulated models has no line for {problem!r}; "
                "add one, or simulate only problems that it knows"
            ) from None

    def topics(self, subject: str) -> list[str]:
        """Every topic of a subject, sorted."""
        return sorted(self._topics[subject])

    def answers(self, subject: str) -> list[str]:
        """Every open answer of a subject, sorted: the words that a wrong answer may take."""
        return sorted(self._answers[subject])


def load_oracle(path: str) -> Oracle:
    """Read an oracle file, once for each version of it; or that of made-up problems.

    `synthetic:<study>` names those problems (`omibench.synthetic.address`). Raises ModelError when
    the file is missing, FileFormatError when a line of it is wrong, and ParamsError for problems
    like those of no known study.
    """
    if address := parse_address(path):
        return _make_oracle(address)
    try:
        state = Path(path).stat()
    except OSError as error:
        raise ModelError(f"{path}: the oracle of a simulated model: {reason_of(error)}") from None
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
        for item in items(*address)
    ]
    return Oracle(rows, str(address))


@lru_cache(maxsize=8)
def _load(path: str, modified_ns: int, size: int) -> Oracle:
    return Oracle(read_jsonl(Path(path), OracleRow), path)
