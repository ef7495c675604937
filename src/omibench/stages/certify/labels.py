"""File of human labels: the response and its label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.intake import read_csv, read_json_lines
from omibench.schemas.marks import HIGHEST_MARK, LOWEST_MARK, MARKS

RIGHT_WORDS = ("right", "correct", "true", "yes", "consistent")
WRONG_WORDS = ("wrong", "incorrect", "false", "no", "inconsistent")
SUFFIXES = (".csv", ".jsonl", ".ndjson")


def _parse_label(value: object) -> object:
    if isinstance(value, bool):
        return float(value)
    word = str(value).strip().casefold()
    if word in RIGHT_WORDS or word in WRONG_WORDS:
        return float(word in RIGHT_WORDS)
    try:
        return float(word)
    except ValueError:
        raise ValueError("is neither right or wrong nor a number from 0 to 1") from None


Source = Literal["no_effective_reasoning", "reasoning_error", "rule_match_error", "other"]
Mark = Annotated[float, Field(ge=LOWEST_MARK, le=HIGHEST_MARK)] | None
SOURCES: tuple[Source, ...] = get_args(Source)
"""Reason of a disagreement between scorer and judge, by a reader (OMIBench, C.3)."""
STEPS, WRONG_STEPS = "steps", "wrong_steps"
LABELS = ("label", "error_type", "source", *MARKS, STEPS, WRONG_STEPS)
"""Label columns; a row has at least one, and all may be empty."""


def _normalise_label(value: object) -> object:
    return str(value).strip().casefold().replace(" ", "_")


def _name_source(value: object) -> object:
    name = _normalise_label(value)
    return "other" if name == "others" else name


class LabelRow(BaseModel):
    """One person's labels of one response. Other columns, such as comments, are ignored.

    `label` is in [0, 1], or a word: right, correct, true, yes, consistent, and their opposites.
    `error_type` is a type of the judge's taxonomy, or `no_error`; `source` is the reason why scorer
    and judge disagree; marks are from 1 to 5; `wrong_steps` of the `steps` that matter contain an
    error. At least one of these columns is present. `model`, `setting` and `index` can be omitted
    if `id` alone identifies the response. `response_sha256`, the hash of the labelled text,
    protects against labels of another text.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    label: Annotated[float, Field(ge=0, le=1), BeforeValidator(_parse_label)] | None = None
    error_type: Annotated[str, BeforeValidator(_normalise_label)] | None = None
    source: Annotated[Source, BeforeValidator(_name_source)] | None = None
    correctness: Mark = None
    faithfulness: Mark = None
    information_usage: Mark = None
    clarity: Mark = None
    detail: Mark = None
    overall: Mark = None
    alignment: Mark = None
    steps: Annotated[int, Field(ge=1)] | None = None
    wrong_steps: Annotated[int, Field(ge=0)] | None = None
    model: str | None = None
    setting: str | None = None
    index: Annotated[int, Field(ge=0)] | None = None
    response_sha256: str | None = None
    simulated: bool = False
    """Whether the label comes from a simulation's truth rather than a person."""

    @model_validator(mode="after")
    def _steps_are_counted(self) -> Self:
        if (self.steps is None) != (self.wrong_steps is None):
            raise ValueError("give both steps and wrong_steps, or neither")
        if (self.wrong_steps or 0) > (self.steps or 0):
            raise ValueError(f"wrong_steps is {self.wrong_steps}, but steps is {self.steps}")
        return self

    @property
    def labels(self) -> dict[str, float | str]:
        """Return column -> label."""
        return {name: value for name in LABELS if (value := getattr(self, name)) is not None}

    @property
    def response_name(self) -> str:
        """Return a readable name of the response."""
        parts = [self.model, self.setting, None if self.index is None else f"sample {self.index}"]
        details = ", ".join(word for word in parts if word)
        return f"{self.id} ({details})" if details else self.id


def read_labels(path: Path) -> list[LabelRow]:
    """Read every label of a CSV or JSONL file, in order.

    Rows with empty label columns are not completed yet, and skipped.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: A row cannot be read, or no row has a label. The message gives file, row
            (from 1, without the CSV header) and column.
    """
    if not path.exists():
        raise MissingInputError(f"{path}: file of labels not found")
    if path.suffix not in SUFFIXES:
        raise FileFormatError(f"{path}: give labels as .csv or .jsonl, not {path.suffix!r}")
    checked = [_check_row(raw, path, number) for number, raw in enumerate(_read_raw_rows(path), 1)]
    rows = [row for row in checked if row is not None]
    if not rows:
        empty = f" in any of its {len(checked)} rows" if checked else ""
        raise FileFormatError(f"{path}: no labels{empty}")
    return rows


def _read_raw_rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".csv":
        for cells in read_csv(path):
            yield {name: value or None for name, value in cells.items() if name}
        return
    for number, (_, row) in enumerate(read_json_lines(path), 1):
        if not isinstance(row, dict):
            raise FileFormatError(f"{path}, row {number}: is not a JSON object")
        yield row


def _check_row(cells: dict[str, Any], path: Path, number: int) -> LabelRow | None:
    raw = {name: value for name, value in cells.items() if value is not None}
    try:
        row = LabelRow.model_validate(raw)
        if not row.labels and any(name in cells for name in LABELS):
            return None
        if not row.labels:
            raise FileFormatError(
                f"{path}, row {number}: lacks the column 'label', 'error_type', 'source', "
                f"'wrong_steps' or a mark ({', '.join(MARKS)}); {_describe_columns(raw)}"
            )
        return row
    except ValidationError as error:
        first = error.errors()[0]
        message = str(first["msg"]).removeprefix("Value error, ")
        column = str(first["loc"][0]) if first["loc"] else "?"
        if first["type"] == "missing":
            mistake = f"lacks the column {column!r}; {_describe_columns(raw)}"
        elif not first["loc"]:
            mistake = message
        else:
            mistake = f"column {column!r}: {message} (got {str(first['input'])[:60]!r})"
        raise FileFormatError(f"{path}, row {number}: {mistake}") from None


def _describe_columns(raw: dict[str, Any]) -> str:
    names = (" ".join(name.split()) for name in sorted(raw))
    return f"it has {', '.join(names) or 'no column'}"
