"""Human labels of responses: their file, the response of each, and the judge measured by them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, get_args

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import read_csv, read_json_lines
from omibench.results.grouped import estimate_accuracy
from omibench.results.judgements import RESPONSE, count_quadrants
from omibench.results.statistics.agreement import judge_quality
from omibench.results.statistics.intervals import Estimate
from omibench.schemas.certificate import ALL_TYPES, Certificate, JudgeQuality
from omibench.schemas.verdict import HIGHEST_MARK, LOWEST_MARK, MARKS

if TYPE_CHECKING:
    from omibench.params.study import Study

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


# Matching of labels to responses, with reasons for unused labels.

Place = tuple[Any, ...]
"""Model, setting, problem and sample of a response."""
UNKNOWN_PROBLEM = "of a problem that is not in this study"
OTHER_MODEL = "of a model that did not answer this problem in this study"
OTHER_RESPONSE = "of a setting or sample that is not in this study"
STALE = "of responses that have changed since"
DUPLICATE = "repeated from an earlier row"
UNKNOWN = (UNKNOWN_PROBLEM, OTHER_MODEL, OTHER_RESPONSE)
NAMED = 5
"""Maximum number of responses per reason in a warning; the certificate lists all."""
_LOG = logging.getLogger("omibench")


class Label(NamedTuple):
    """One row of a file of labels and its response."""

    number: int
    row: LabelRow
    place: Place


class MatchedLabels(NamedTuple):
    """The labels of responses of this study, and unused ones by reason."""

    file: Path
    labels: list[Label]
    left_out: dict[str, list[str]]

    def column(self, name: str) -> dict[Place, Any]:
        """Return the labels of one column, by response.

        Raises:
            FileFormatError: Two rows contradict each other.
        """
        labels: dict[Place, Any] = {}
        for number, row, place in self.labels:
            if name not in row.labels:
                continue
            label = row.labels[name]
            if labels.setdefault(place, label) != label:
                model, setting, *_ = place
                raise FileFormatError(
                    f"{self.file}, row {number}: problem {row.id!r} of {model} under {setting} has "
                    f"two labels, {labels[place]} and {label}; keep one"
                )
        return labels

    def count(self, *reasons: str) -> int:
        """Return the number of labels unused for any of these reasons."""
        return sum(len(self.left_out.get(reason, [])) for reason in reasons)

    def explain(self) -> str:
        """Return why none of the labels is used."""
        reasons = "; ".join(describe_left_out(self.left_out))
        return reasons or f"{len(self.labels)} are of responses that it did not score"


def match_labels(
    rows: Sequence[LabelRow], answered: pl.DataFrame, file: Path, stage: str = "certify"
) -> MatchedLabels:
    """Find the response of every label; a warning lists unused labels with reasons.

    `answered` has the columns of `RESPONSE` and `text`; `stage` is the prefix of the warning.

    Raises:
        FileFormatError: A label matches several responses.
    """
    responses: dict[str, list[dict[str, Any]]] = {}
    for response in answered.select(*RESPONSE, "text").iter_rows(named=True):
        responses.setdefault(response["id"], []).append(response)
    matched = MatchedLabels(file, [], {})
    accepted: set[tuple[Place, tuple[Any, ...]]] = set()
    for number, row in enumerate(rows, 1):
        candidates = responses.get(row.id, [])
        meant = _find_response(row, candidates, f"{file}, row {number}")
        reason = (
            _explain_mismatch(row, candidates) if meant is None else _check_staleness(row, meant)
        )
        if meant is not None and reason is None:
            place = tuple(meant[name] for name in RESPONSE)
            entry = (place, tuple(row.labels.items()))
            reason = DUPLICATE if entry in accepted else None
            accepted.add(entry)
            if reason is None:
                matched.labels.append(Label(number, row, place))
        if reason:
            matched.left_out.setdefault(reason, []).append(row.response_name)
    if matched.left_out:
        unused = " ".join(_describe_unused(matched.left_out, len(rows), file))
        _LOG.warning("%s: %s", stage, unused)
    return matched


def hash_text(text: str) -> str:
    """Return the SHA-256 of a response's text, which identifies labels of another text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def describe_left_out(left_out: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Return a phrase for each reason: the number of labels, and the first few by name."""
    for reason, responses in left_out.items():
        named = "; ".join(responses[:NAMED]) + ("; ..." if len(responses) > NAMED else "")
        yield f"{len(responses)} {reason}: {named}"


def _describe_unused(
    left_out: Mapping[str, Sequence[str]], labels: int, file: Path
) -> Iterator[str]:
    yield f"{sum(map(len, left_out.values()))} of {labels} labels in {file} are not used."
    yield from (f"{phrase}." for phrase in describe_left_out(left_out))


def _explain_mismatch(row: LabelRow, candidates: Sequence[dict[str, Any]]) -> str:
    if not candidates:
        return UNKNOWN_PROBLEM
    models = {response["model"] for response in candidates}
    return OTHER_MODEL if row.model not in {None, *models} else OTHER_RESPONSE


def _check_staleness(row: LabelRow, meant: dict[str, Any]) -> str | None:
    return None if row.response_sha256 in (None, hash_text(meant["text"])) else STALE


def _find_response(
    row: LabelRow, candidates: list[dict[str, Any]], location: str
) -> dict[str, Any] | None:
    """Return the response of a label, or None if this study has none."""
    criteria = {"model": row.model, "setting": row.setting, "index": row.index}
    stated = {name: value for name, value in criteria.items() if value is not None}
    matches = [r for r in candidates if all(r[name] == value for name, value in stated.items())]
    if len(matches) < 2:
        return matches[0] if matches else None
    description = ", ".join([f"id {row.id!r}", *(f"{n} {v!r}" for n, v in stated.items())])
    missing = ", ".join(name for name in criteria if name not in stated) or "nothing more"
    raise FileFormatError(
        f"{location}: {len(matches)} responses have {description}; give {missing} too"
    )


# Quality of a judge measured by labels, in total, by answer type and by model.


def make_certificate(  # noqa: PLR0913 - the labels, what they are compared with, and whose
    matched: MatchedLabels,
    compared: pl.DataFrame,
    judged: pl.DataFrame,
    outcomes: pl.Series,
    study: Study,
    *,
    unit: str = "id",
    **about: Any,
) -> Certificate:
    """Compare a judge with labels of correctness, and with a scorer.

    Args:
        matched: The labels.
        compared: What the judge scored: `by_judge`, `quadrant`, `label` (null without one),
            `cluster`, `answer_type` and `model`.
        judged: Everything that the judge was asked: `id`, `verdict`, `cluster`, `answer_type` and
            `model`, and optionally `outcome`.
        outcomes: The judge's outcome on each labelled response.
        study: The study.
        unit: The column that names the problem.
        about: Further fields of the certificate: the judge, its identity and prompt, the scorer.

    Raises:
        FileFormatError: The judge scored no response with a label.
    """
    labelled = compared.filter(pl.col("label").is_not_null())
    if labelled.is_empty():
        raise FileFormatError(
            f"{matched.file}: no label is of a response that the judge scored; {matched.explain()}"
        )
    failed = int((outcomes == "judge_failed").sum())
    confidence = study.analyze.confidence
    return Certificate(
        labels=matched.file.name,
        n=labelled.height,
        problems=labelled[unit].n_unique(),
        judge_failed=failed,
        not_judged=len(matched.column("label")) - labelled.height - failed,
        stale=matched.count(STALE),
        unknown=matched.count(*UNKNOWN),
        left_out=matched.left_out,
        confidence=confidence,
        quality={
            ALL_TYPES: _measure_quality(labelled, judged, confidence),
            **_quality_by(labelled, judged, confidence, "answer_type"),
        },
        by_model=_quality_by(labelled, judged, confidence, "model"),
        four_way=count_quadrants(compared),
        study=study.study.name,
        **about,
    )


def _quality_by(
    labelled: pl.DataFrame, judged: pl.DataFrame, confidence: float, column: str
) -> dict[str, JudgeQuality]:
    return {
        value: _measure_quality(
            labelled.filter(pl.col(column) == value),
            judged.filter(pl.col(column) == value),
            confidence,
        )
        for value in sorted(labelled[column].unique())
    }


def _measure_quality(
    labelled: pl.DataFrame, judged: pl.DataFrame, confidence: float
) -> JudgeQuality:
    if "outcome" in judged.columns:
        judged = judged.filter(judged["outcome"] == "scored")
    accuracy: Estimate = estimate_accuracy(judged, confidence)
    return judge_quality(
        labelled["label"].to_list(),
        labelled["by_judge"].to_list(),
        labelled["cluster"].to_list(),
        accuracy,
        confidence,
    )
