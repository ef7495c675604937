"""Schemas of every file that omibench writes, and the functions to read and write them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, Field, ValidationError
from pydantic_core import PydanticCustomError, PydanticSerializationError

from omibench.errors import FileFormatError, MissingInputError, OutputError, reason_of
from omibench.files.outputs import made_folder, replace_atomically
from omibench.files.reading import read_bytes
from omibench.schemas.cells import CellOrigin, build_metadata, describe_origin, read_cell
from omibench.schemas.problem import FrozenModel
from omibench.schemas.review import ReviewCounts
from omibench.text.masking import replace_surrogates

if TYPE_CHECKING:
    import polars as pl


class AddedLater:
    """Marks a column that is missing from files of an older omibench and read as null."""


class Sparse(AddedLater):
    """Marks a column that a file also omits if no row has a value."""


ADDED_LATER: Final = AddedLater()
SPARSE: Final = Sparse()


def polars_schema(row: type[BaseModel]) -> dict[str, pl.DataType]:
    """Column name -> polars type of a flat row."""
    import polars as pl

    types: dict[object, pl.DataType] = {
        str: pl.String(), int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()
    }  # fmt: skip

    def dtype(annotation: object) -> pl.DataType:
        if get_origin(annotation) is UnionType or NoneType in get_args(annotation):
            annotation = next(a for a in get_args(annotation) if a is not NoneType)
        if get_origin(annotation) is list:
            return pl.List(dtype(get_args(annotation)[0]))
        return types[annotation]

    return {name: dtype(field.annotation) for name, field in row.model_fields.items()}


def may_be_missing(row: type[BaseModel], column: str) -> bool:
    """Return whether a file can lack a column, which is then read as null in all rows."""
    return any(isinstance(mark, AddedLater) for mark in row.model_fields[column].metadata)


def list_sparse_columns(row: type[BaseModel]) -> list[str]:
    """Return the columns that a file omits if no row has a value, in the order of the fields."""
    return [name for name, field in row.model_fields.items() if SPARSE in field.metadata]


def add_null_columns(frame: pl.DataFrame, row: type[BaseModel]) -> pl.DataFrame:
    """Add the missing columns of `row` to a frame as nulls, in the order of its fields.

    Columns that are not fields of `row` follow.
    """
    import polars as pl

    schema = polars_schema(row)
    absent = [pl.lit(None, schema[name]).alias(name) for name in schema.keys() - {*frame.columns}]
    others = [name for name in frame.columns if name not in schema]
    return frame.with_columns(absent).select(*schema, *others)


def build_frame(values: dict[str, list[Any]], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Build a frame from lists of values by column, with the types in `schema`."""
    import polars as pl

    columns = {name: _column(column, schema[name]) for name, column in values.items()}
    return pl.DataFrame(columns, schema=schema)


def _column(values: list[Any], dtype: pl.DataType) -> pl.Series | list[Any]:
    """Return values as polars accepts them: it makes a series of each list, even an empty one."""
    import polars as pl

    if isinstance(dtype, pl.List) and values and all(value == [] for value in values):
        return pl.Series([[]], dtype=dtype).new_from_index(0, len(values))
    return values


# Row of `saliency/{model}/{setting}.parquet`, and the version of its measurement.

SALIENCY_VERSION = 2
"""Version of the measurement. 1: the letter requested again after the whole response, with
log-probabilities over the whole vocabulary. 2: the letter at its position in the response, over
the options.
"""

SaliencyOutcome = Literal["scored", "no_response", "no_letter", "no_logprobs"]


class SaliencyRow(FrozenModel):
    """Effect of covering one patch of one picture on one option of a problem (see saliency.md).

    `drop` is log P(option) uncovered (`logprob`) minus that with the patch, in nats, P over the
    problem's options. `x`, `y` and `side` are pixels of the shown picture with the hash
    `sha256`. A problem that is not scored has one row, with the reason.
    """

    id: str
    outcome: Annotated[str | None, ADDED_LATER] = "scored"
    """`scored`, or why there are no numbers: a `SaliencyOutcome`."""
    reason: Annotated[str | None, ADDED_LATER] = None
    """Why the problem is not scored."""
    version: Annotated[int | None, ADDED_LATER] = None
    """Version of the measurement; None for the first."""
    reading: Annotated[str | None, ADDED_LATER] = None
    """Part of the response before the letter: `final_letter` or `before_answer`."""
    max_pixels: Annotated[int | None, ADDED_LATER] = None
    """Maximum pixels to which pictures were scaled down; None for their original resolution."""
    stride: Annotated[int | None, ADDED_LATER] = None
    """Pixels between patches."""
    key: str = ""
    """Key of the uncovered request."""
    image: int = 0
    """Index of the shown picture, from 0."""
    sha256: str = ""
    x: int = 0
    y: int = 0
    side: int = 0
    option: str = ""
    logprob: float | None = None
    drop: float | None = None
    mass: Annotated[float | None, ADDED_LATER] = None
    """Total probability of all options among all continuations, with nothing covered."""
    declares: Annotated[bool | None, ADDED_LATER] = False
    """Whether the text before the letter already states it as the option of the response."""
    chosen: bool = False
    """Whether it is the final option of the response."""
    right: bool = False
    simulated: bool = False


def map_file(folder: Path, problem: str, number: int, option: str) -> Path:
    """Return the path of the heat map of one option over one picture of a problem."""

    def safe(name: str) -> str:
        return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)

    return folder / f"{safe(problem)}-{number}-{safe(option)}.png"


# Rows of the files of cells.
#
# A row is a pydantic type; JSONL files contain one JSON object per line, Parquet files the same
# fields as columns. `graph/result_files.py` lists the location of each kind of file.

Row = TypeVar("Row", bound=BaseModel)


class ResponseRow(FrozenModel):
    """One response of one cell, with its key in the store."""

    id: str
    index: int
    key: str
    steps: list[str] = []
    """Keys of the requests before the last one: captions, readings, earlier turns."""
    drawn: list[str] = []
    """SHA-256 of pictures drawn by the model with its answer; they are in the store's images."""
    drawn_at: list[int] = []
    """For each, the number of characters of `text` before it; empty: all follow it."""
    outcome: str
    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: Annotated[int | None, SPARSE] = None
    """Reasoning tokens among `output_tokens`, if the provider reports them separately."""
    cost_usd: float | None = None
    latency_s: float | None = None
    simulated: bool = False
    published_verdict: float | None = None
    served_model: str | None = None
    """Model reported by the endpoint, if any."""
    error: str | None = None
    """Why the response is missing: for `provider_error`, and for `refused` by the endpoint."""
    readings: Annotated[list[str] | None, SPARSE] = None
    """Text read from the pictures first, under a setting whose `perception` reads them: the printed
    text and, under `I+QM+DM`, a description of the figures.
    """


class VerdictRow(FrozenModel):
    """Verdict of one scorer, or of the judge (`rules` = gptscore), on one response."""

    id: str
    index: int
    key: str
    rules: str
    version: int
    extracted: str | None = None
    method: str
    verdict: float
    credit: float | None = None
    """Share of correct parts, if the scorer reports it."""
    strict: Annotated[float | None, ADDED_LATER] = None
    """1 if all parts are right, for scorers whose verdict is the share of parts (MathReal)."""
    ratio: Annotated[float | None, ADDED_LATER] = None
    """OMIBench's eq. 6, in [0, 1], if the scorer uses it; below 0.75 it is 0."""
    outcome: str
    judge: str | None = None
    judge_key: str | None = None
    prompt_sha256: str | None = None
    simulated: bool = False
    literal: Annotated[bool | None, SPARSE] = None
    """True if the judge's prompt came from a literal file: no fences kept the response from
    addressing the judge.
    """


class AggregateRow(FrozenModel):
    """Aggregate of the samples of one problem: one row per metric, scorer and k, and per run that
    chooses a sample.
    """

    id: str
    rules: str
    metric: str
    """`first`, `majority`, `best-of-n` or `tournament`, or `pass` (pass@k) and `consistency`."""
    k: int
    """Number of samples: the first k of a run; for `pass`, k of all."""
    value: float
    """Verdict of the chosen sample, probability of a right one among k, or share of agreement."""
    version: Annotated[int | None, ADDED_LATER] = None
    """Version of the definition of equal answers, for `majority` and `consistency`."""
    sameness: Annotated[str | None, ADDED_LATER] = None
    """Definition of equal answers: `normal form`, or the name of a scorer."""
    index: int | None = None
    """Index of the chosen sample, if any."""
    counts: bool = False
    """True if this chosen sample alone counts; without such a row, all samples do."""
    answer: str | None = None
    judge: str | None = None
    prompt_sha256: str | None = None
    mark: Annotated[float | None, ADDED_LATER] = None
    """Reward of the chosen sample on the reward model's own scale; None if it has none."""
    prompts: Annotated[int | None, ADDED_LATER] = None
    """Number of prompts in which the candidates were marked: 1 jointly, one per candidate
    individually; 0 for a single candidate not sent to joint marking. None without marks.
    """
    simulated: bool = False
    literal: Annotated[bool | None, SPARSE] = None
    """True if the judge's prompt came from a literal file: no fences kept the response from
    addressing the judge.
    """


class JudgementRow(FrozenModel):
    """Judgement of the reasoning in one response; one row per response, instrument and judge.

    Marks are from 1 to 5. A column is null if it belongs to another instrument or the judge
    failed. `mark`, `label`, `lowest` and `highest` belong to judges under `judge.others`,
    `terms` and `semantics` to `judge.transcripts`; a file omits those of them without a value.
    """

    id: str
    index: int
    key: str
    instrument: str
    """`quality`, `alignment`, `error_type`, `transcript`, or the name of another judge."""
    version: int
    judge: str | None = None
    """The judge; several names joined by `+` for their vote; null if none was needed."""
    counts: bool = True
    """Whether this judgement counts: that of a single judge, or the vote of several."""
    outcome: str
    """`scored`; `judge_failed` if replies have no verdict or votes are tied; `provider_error` or
    `budget_stop` if there are no replies; `unjudged` for an error left to human reviewers.
    """
    correctness: float | None = None
    faithfulness: float | None = None
    information_usage: float | None = None
    clarity: float | None = None
    detail: float | None = None
    overall: float | None = None
    alignment: float | None = None
    error_type: str | None = None
    taxonomy: str | None = None
    judge_key: str | None = None
    prompt_sha256: str | None = None
    simulated: bool = False
    literal: Annotated[bool | None, SPARSE] = None
    """True if the judge's prompt came from a literal file: no fences kept the response from
    addressing the judge.
    """
    mark: Annotated[float | None, SPARSE] = None
    """Between `lowest` and `highest`."""
    label: Annotated[str | None, SPARSE] = None
    lowest: Annotated[float | None, SPARSE] = None
    highest: Annotated[float | None, SPARSE] = None
    terms: Annotated[float | None, SPARSE] = None
    """Share of the printed key terms preserved in the text read from the pictures, in [0, 1]."""
    semantics: Annotated[float | None, SPARSE] = None
    """Share of the printed text's meaning preserved, in [0, 1]."""


def _check_title(text: str) -> str:
    """Return a name that cards, checksums and changelogs can contain as it is."""
    if not text.isprintable() or {*"`<>[]|\\"} & {*text} or len(text) > 200:
        raise PydanticCustomError(
            "title",
            "must be one line of at most 200 printable characters without ` < > [ ] | and \\",
        )
    return text


Title = Annotated[str, AfterValidator(_check_title)]
"""Name or version of a dataset, which can be a stranger's."""


class FrozenManifest(FrozenModel):
    """`manifest.json` of a frozen dataset: its content by hash."""

    name: Title
    version: Title
    problems: int
    images: int
    questions_sha256: str
    answers_sha256: str
    subjects: dict[str, int]
    licence: str | None = None
    synthetic: str | None = None
    """For generated problems: `synthetic:<study>`."""
    simulated: dict[str, int] = {}
    """Changes of simulated models to problems before they were frozen, with counts."""
    without_rationale: Annotated[int, Field(ge=0, exclude_if=lambda count: not count)] = 0
    """Number of problems without a rationale; omitted if all have one."""
    without_rationale_allowed: Annotated[
        bool, Field(exclude_if=lambda is_allowed: not is_allowed)
    ] = False
    """Whether such problems can be released (`freeze.allow_without_rationale`)."""
    corrected: Annotated[
        dict[str, list[str]], Field(exclude_if=lambda corrected: not corrected)
    ] = {}
    """By id, the manually corrected fields of a problem: `formula`, `answer`, ...; omitted if there
    are none.
    """
    review: Annotated[ReviewCounts | None, Field(exclude_if=lambda review: review is None)] = None
    """Result of the review; omitted if the study has no review folder."""


def read_jsonl(path: str | Path, row: type[Row]) -> list[Row]:
    """Read a JSONL file of `row`.

    Raises MissingInputError if it is missing and FileFormatError with the line of an error.
    """
    return list(iter_jsonl(path, row))


def iter_jsonl(path: str | Path, row: type[Row]) -> Iterator[Row]:
    """Read a JSONL file like `read_jsonl`, one row at a time."""
    content = _read(path)
    if content.startswith(b"PAR1"):
        raise FileFormatError(f"{path}: is a Parquet file; give one with a JSON object per line")
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            yield _parse(line, row, f"{path}, line {number}")


def read_typed_json(path: str | Path, row: type[Row]) -> Row:
    """Read one JSON document; raises as `read_jsonl` does."""
    return _parse(_read(path), row, str(path))


def content_hash(rows: Iterable[BaseModel]) -> str:
    """Return the SHA-256 over the sorted JSON lines of `rows`, independent of their order."""
    lines = sorted(map(_dump_json, rows))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def write_jsonl(path: str | Path, rows: Iterable[BaseModel]) -> None:
    """Write rows as JSON lines, atomically."""
    write_text(path, "".join(_dump_json(row) + "\n" for row in rows))


def write_json(path: str | Path, value: BaseModel | dict[str, Any]) -> None:
    """Write one JSON document, indented, with sorted keys of plain mappings."""
    if isinstance(value, BaseModel):
        text = _dump_json(value, indent=2)
    else:
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    write_text(path, text + "\n")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically: a reader sees the old content or the new, never a part.

    A lone surrogate, which UTF-8 does not have, is written as U+FFFD.
    """
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = str(replace_surrogates(text)).encode()
    with _replace_file(path) as partial:
        partial.write_bytes(content)


def write_parquet(
    path: str | Path,
    rows: Sequence[BaseModel],
    row: type[BaseModel],
    origin: CellOrigin | None = None,
) -> None:
    """Write rows as Parquet, lone surrogates as U+FFFD; an empty table keeps its columns.

    Sparse columns without any value are omitted.

    Args:
        path: Output file, written atomically.
        rows: Its rows.
        row: Type of the rows.
        origin: Origin of the file of a cell; by default derived from the path.

    Raises:
        OutputError: If it cannot be written.
    """
    write_frame(path, frame_rows(rows, row), row, origin)


def frame_rows(rows: Sequence[BaseModel], row: type[BaseModel]) -> pl.DataFrame:
    """Build a frame of rows, lone surrogates as U+FFFD; far smaller than the rows.

    Args:
        rows: The rows.
        row: Type of the rows.
    """
    schema = polars_schema(row)
    values = {name: [getattr(r, name) for r in rows] for name in schema}
    try:
        return build_frame(values, schema)
    except UnicodeEncodeError:
        return build_frame(replace_surrogates(values), schema)


def write_frame(
    path: str | Path, frame: pl.DataFrame, row: type[BaseModel], origin: CellOrigin | None = None
) -> None:
    """Write a frame as `write_parquet` writes its rows.

    Args:
        path: Output file, written atomically.
        frame: Frames of `frame_rows`, concatenated.
        row: Type of the rows.
        origin: Origin of the file of a cell; by default derived from the path.

    Raises:
        OutputError: If it cannot be written.
    """
    sparse = list_sparse_columns(row)
    frame = frame.drop([name for name in sparse if frame[name].null_count() == frame.height])
    origin = origin or describe_origin(Path(path))
    with _replace_file(path) as partial:
        frame.write_parquet(partial)
        if origin:
            frame.write_parquet(partial, metadata=build_metadata(origin, partial.read_bytes()))


def _dump_json(row: BaseModel, indent: int | None = None) -> str:
    try:
        return row.model_dump_json(indent=indent)
    except PydanticSerializationError:  # of a lone surrogate
        clean = type(row).model_validate(replace_surrogates(row.model_dump()))
        return clean.model_dump_json(indent=indent)


def read_parquet(path: str | Path, row: type[BaseModel]) -> pl.DataFrame:
    """Read a Parquet file with the columns of `row`; columns added later can be missing.

    Raises MissingInputError if it is missing, and FileFormatError if a column is missing or it
    cannot be read, with the command that rebuilds a cell of a study.
    """
    _check_is_there(path)
    frame = read_cell(path)
    absent = [name for name in row.model_fields if name not in frame.columns]
    missing = [name for name in absent if not may_be_missing(row, name)]
    if missing:
        raise FileFormatError(
            f"{path}: lacks the column {missing[0]!r}; it has {', '.join(frame.columns)}; give "
            "the right file, or make it again if an older omibench wrote it"
        )
    return add_null_columns(frame, row) if absent else frame


@contextmanager
def _replace_file(path: str | Path) -> Iterator[Path]:
    """Write like `replace_atomically`, creating the folder; a failure raises OutputError."""
    target = Path(path)
    made_folder(target.parent)
    try:
        with replace_atomically(target) as partial:
            yield partial
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {reason_of(error)}") from None


def _read(path: str | Path) -> bytes:
    _check_is_there(path)
    return read_bytes(path)


def _check_is_there(path: str | Path) -> None:
    if not Path(path).exists():
        raise MissingInputError(f"{path}: the file does not exist")


def _parse(text: bytes, row: type[Row], place: str) -> Row:
    try:
        return row.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise FileFormatError(f"{place}: {field + ': ' if field else ''}{first['msg']}") from None
