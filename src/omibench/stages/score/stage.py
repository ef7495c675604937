"""Columns of scored rows: unchanged input columns, and new ones."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from omibench.answers.judges.panel import Judge
from omibench.answers.scorers.mathreal import NAME as MATHREAL
from omibench.answers.scorers.registry import SCORERS
from omibench.errors import FileFormatError, MissingInputError, OmibenchError
from omibench.files.outputs import replace_atomically
from omibench.files.reading import open_regular
from omibench.params.study_params import apply_limit, part_words
from omibench.schemas.cells import describe_origin
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import ResponseRow, VerdictRow, read_jsonl, read_parquet, write_parquet
from omibench.schemas.verdict import ScoredItem
from omibench.stages.score.cache import score_items
from omibench.stages.score.judge import NAME as GPTSCORE
from omibench.stages.score.judge import (
    AttributedVerdict,
    ScoreJudges,
    count_failed_judgements,
    gptscore,
    list_judged_pictures,
    make_score_judges,
    open_judges,
    run_mathreal,
)
from omibench.stages.score.rows import FileRow, read_rows

if TYPE_CHECKING:
    from omibench.params.study import Study


_LOG = logging.getLogger("omibench")
_FLOATS = ("verdict", "credit", "strict", "ratio", "gptscore")
_INTEGERS = ("version",)


def build_scored_frame(
    raw: Sequence[Mapping[str, Any]], new: Mapping[str, Sequence[Any]]
) -> pl.DataFrame:
    """Return the input rows followed by the new columns.

    An input column with the name of a new one is kept as `input_<name>`, with a warning. A column
    without a single type (numbers and text, objects of different shapes) becomes JSON text.
    """
    input_names = list(dict.fromkeys(name for row in raw for name in row))
    names = _name_columns(input_names, set(new))
    columns = [_make_column(names[name], [row.get(name) for row in raw]) for name in input_names]
    columns += [pl.Series(name, values, dtype=_choose_type(name)) for name, values in new.items()]
    return pl.DataFrame(columns)


def _choose_type(name: str) -> type[pl.DataType]:
    return pl.Float64 if name in _FLOATS else pl.Int64 if name in _INTEGERS else pl.String


def _name_columns(input_names: Sequence[str], new: set[str]) -> dict[str, str]:
    """Return the output name of every input column."""
    names = {name: name for name in input_names}
    used_names = {*input_names, *new}
    for name in input_names:
        if name in new:
            output_name = f"input_{name}"
            while output_name in used_names:
                output_name = f"input_{output_name}"
            used_names.add(output_name)
            names[name] = output_name
            _LOG.warning("score: the input column %r is kept as %r", name, output_name)
    return names


def _make_column(name: str, values: list[Any]) -> pl.Series:
    types = {type(value) for value in values} - {type(None)}
    try:
        series = pl.Series(name, values, pl.Float64 if types == {int, float} else None, strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return _as_json(name, values)
    return series if _preserves(series, values) else _as_json(name, values)


def _preserves(series: pl.Series, values: Sequence[Any]) -> bool:
    """Return whether a column round-trips with a type that any Parquet reader knows."""
    contents = series.to_list()
    return _is_common(series.dtype) and all(
        a == b or (a != a and b != b)  # noqa: PLR0124 (NaN)
        for a, b in zip(contents, values, strict=True)
    )


def _is_common(dtype: pl.DataType) -> bool:
    if isinstance(dtype, pl.List | pl.Array):
        return _is_common(dtype.inner)  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        return bool(dtype.fields) and all(_is_common(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return not isinstance(dtype, pl.Object | pl.Int128)


def _as_json(name: str, values: Sequence[Any]) -> pl.Series:
    texts = [None if value is None else _json(value) for value in values]
    if name == "id":  # 7 in a column with "q8" is a name, without quotes
        texts = [str(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


# Stage `score`: reads files of responses, writes files of verdicts.

_VERDICT_COLUMNS = (
    "version", "extracted", "method", "verdict", "credit", "strict", "ratio", "outcome",
)  # fmt: skip


class ScoreResult(NamedTuple):
    """Verdicts as written, their clusters, and failed judgements."""

    frame: pl.DataFrame
    """Table with `rules`, `verdict` and `outcome`, row by row, scorer by scorer."""
    clusters: Sequence[str]
    """The cluster of each row: its group, or its problem."""
    failed: Mapping[str, tuple[int, Counter[str]]]
    """The number of requested judgements and the causes of failed ones, by the judge's rules."""
    part: str = ""
    """The numbers of scored problems and of all problems, if a part was scored."""
    lacking: str = ""
    """The number of problems with a response among those with a gold answer, if some have none."""


def score_file(
    inputs: Sequence[Path],
    rules: str,
    out: Path,
    judge: Study | Judge | None = None,
    cache: Path | None = None,
) -> int:
    """Score the rows of files of responses by one scorer; return the number of rows.

    Works as `score_rows` for the rows of `read_rows`.
    """
    SCORERS.get(rules)
    return score_rows(read_rows(inputs), [rules], out, judge, cache).frame.height


def score_rows(  # noqa: PLR0913, PLR0917 (files in, a file out)
    rows: Sequence[FileRow],
    scorers: Sequence[str],
    out: Path,
    judge: Study | Judge | None = None,
    cache: Path | None = None,
    part: str = "",
) -> ScoreResult:
    """Score rows by some scorers and write them with their verdicts as Parquet.

    The rows of `out` are the input rows, in order, once for each scorer, with `rules`, `version`,
    `extracted`, `method`, `verdict` (0 to 1), `credit` (the share of parts), `strict` (1 if all
    parts are correct), `ratio` (OMIBench's eq. 6) and `outcome`. With a judge (that of the study,
    or an open one) they also have `gptscore` and `judge_outcome`, and of judge and grader the name,
    the key of its reply in the store and the SHA-256 of its prompt. `score.columns` describes other
    columns. For a gold answer with alternatives, the best one counts. With a `cache`
    (`score.cache`), known verdicts are reused. If the rows are a part of a file, `part` identifies
    it and is written to the column `partial`.

    Raises:
        OmibenchError: A scorer is unknown.
    """
    for rules in scorers:
        SCORERS.get(rules)
    questions = [row.question for row in rows]
    new: dict[str, list[Any]] = {}
    failed: dict[str, tuple[int, Counter[str]]] = {}
    with _open_judges(judge) as judges:
        judge_verdicts = None
        if judges.gptscore:
            judge_items = [_make_judge_item(row) for row in rows]
            judge_verdicts = [
                first
                for first, *_ in gptscore(judge_items, questions, judges.gptscore, judges.variant)
            ]
            failed[GPTSCORE] = count_failed_judgements(judge_verdicts)
        for rules in scorers:
            scored = _choose_best_verdicts(rows, rules, judges, cache)
            by_models = rules == MATHREAL and judges.grade is not None
            if by_models:
                failed[rules] = count_failed_judgements(scored)
            columns = _build_columns(
                rules, scored, judge_verdicts, MATHREAL in scorers and judges.grade is not None
            )
            for name, values in columns.items():
                new.setdefault(name, []).extend(values)
    if part:
        new["partial"] = [part] * (len(scorers) * len(rows))
    frame = build_scored_frame([row.raw for _ in scorers for row in rows], new)
    out.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(out) as partial:
        frame.write_parquet(partial)
    return ScoreResult(frame, [row.cluster for _ in scorers for row in rows], failed, part)


def _make_judge_item(row: FileRow) -> ScoredItem:
    """Return the judge's view of a row; alternatives of a gold answer are joined by "or"."""
    if not row.alternatives:
        return row.item
    golds = [entry for item in (row.item, *row.alternatives) for entry in item.gold]
    return row.item.model_copy(update={"gold": [" or ".join(golds)]})


def _build_columns(
    rules: str,
    scored: Sequence[AttributedVerdict],
    judge_verdicts: Sequence[AttributedVerdict] | None,
    with_grader: bool,
) -> dict[str, list[Any]]:
    """Return the new columns of one scorer's rows, with the judge's."""
    columns: dict[str, list[Any]] = {"rules": [rules] * len(scored)}
    for name in _VERDICT_COLUMNS:
        columns[name] = [getattr(judged.verdict, name) for judged in scored]
    if with_grader:
        columns |= _build_judge_columns("grader", scored)
    if judge_verdicts is not None:
        columns["gptscore"] = [judged.verdict.verdict for judged in judge_verdicts]
        columns["judge_outcome"] = [judged.verdict.outcome for judged in judge_verdicts]
        columns |= _build_judge_columns("judge", judge_verdicts)
    return columns


def _choose_best_verdicts(
    rows: Sequence[FileRow], rules: str, judges: ScoreJudges, cache: Path | None
) -> list[AttributedVerdict]:
    """Return the verdict on each row; for alternatives the first of the best ones."""
    items = [item for row in rows for item in (row.item, *row.alternatives)]
    questions = [row.question for row in rows for _ in (row.item, *row.alternatives)]
    verdicts = (first for first, *_ in _score_by_rules(items, questions, rules, judges, cache))
    return [
        max(
            (next(verdicts) for _ in (row.item, *row.alternatives)),
            key=lambda judged: judged.verdict.verdict,
        )
        for row in rows
    ]


class ScoreFiles(NamedTuple):
    """The files of a cell and of its dataset.

    Only judges need `questions`. `cache` is the folder of known verdicts.
    """

    responses: Path
    answers: Path
    questions: Path | None = None
    cache: Path | None = None


def score_cell(files: ScoreFiles, out: Path, study: Study, job: str = "") -> int:
    """Score the responses of one cell as `score_responses`; return the number of verdicts."""
    return score_responses(files, out, study, job).frame.height


def score_responses(files: ScoreFiles, out: Path, study: Study, job: str = "") -> ScoreResult:
    """Score the responses of one cell by every scorer and judge of the study.

    Reads ResponseRow Parquet, Answer JSONL and, for a judge, Question JSONL; writes VerdictRow
    Parquet: scorer by scorer in the order of `score.scorers`, each in the order of the responses,
    then
    the judges' (`rules` = gptscore). A verdict by vote of several judges is followed by each one's
    own. A `limit` of the study selects a part of the problems.
    """
    responses, answers, questions, cache = files
    frame = read_parquet(responses, ResponseRow)
    every = [ResponseRow(**row) for row in frame.iter_rows(named=True)]
    rows = apply_limit(every, study.study.limit, of_cell=True)
    gold = {answer.id: answer for answer in read_jsonl(answers, Answer)}
    items = [pair_with_gold(row, gold, responses) for row in rows]
    asked = _read_questions(questions, rows) if study.score.panels else [None] * len(rows)
    texts = [question.question if question else "" for question in asked]
    out_rows: list[VerdictRow] = []
    failed: dict[str, tuple[int, Counter[str]]] = {}
    with _open_judges(study) as judges:
        for rules in study.score.scorers:
            verdicts = _score_by_rules(items, texts, rules, judges, cache)
            out_rows += _make_verdict_rows(rows, verdicts)
            if rules == MATHREAL and judges.grade:
                failed[rules] = count_failed_judgements([first for first, *_ in verdicts])
        if judges.gptscore:
            folder = questions.parent if questions else Path()
            pictures = list_judged_pictures(asked, folder, study.score.judge)
            verdicts = gptscore(items, texts, judges.gptscore, judges.variant, pictures)
            out_rows += _make_verdict_rows(rows, verdicts)
            failed[GPTSCORE] = count_failed_judgements([first for first, *_ in verdicts])
    write_parquet(out, out_rows, VerdictRow, describe_origin(out, job))
    records = [(row.rules, row.verdict, row.outcome) for row in out_rows]
    schema = {"rules": pl.String, "verdict": pl.Float64, "outcome": pl.String}
    clusters = [gold[row.id].group or row.id for row in out_rows]
    part = part_words((r.id for r in rows), gold, study.study.limit)
    count, total = len({row.id for row in rows}), len(gold)
    lacking = ""
    if count < total and not part:
        lacking = f"{count:,} of {total:,} problems of the answers file have a response here"
    frame = pl.DataFrame(records, schema=schema, orient="row")
    return ScoreResult(frame, clusters, failed, part, lacking)


def is_cell(path: Path) -> bool:
    """Return whether a file is a cell of responses written by `omibench infer`."""
    if path.suffix != ".parquet" or not path.is_file():
        return False
    try:
        with open_regular(path) as file:
            return {"key", "text", "outcome"} <= pl.read_parquet_schema(file).keys()
    except (OmibenchError, pl.exceptions.PolarsError, OSError):
        return True  # reading it reports the error


def _read_questions(path: Path | None, rows: Sequence[ResponseRow]) -> list[Question | None]:
    if path is None:
        raise MissingInputError("score: a judge needs the questions; pass them with --questions")
    questions = {question.id: question for question in read_jsonl(path, Question)}
    return [questions.get(row.id) for row in rows]


def pair_with_gold(row: ResponseRow, gold: dict[str, Answer], source: Path) -> ScoredItem:
    """Join a response with its gold answer; raise FileFormatError for a problem without one."""
    answer = gold.get(row.id)
    if answer is None:
        raise FileFormatError(f"{source}: problem {row.id!r} has no answer in the answers file")
    return ScoredItem.model_validate(
        {
            "id": row.id, "prediction": row.text, "gold": answer.answer,
            "answer_type": answer.answer_type, "choices": answer.choices,
            "finish_reason": row.finish_reason, "outcome": row.outcome,
            "published_verdict": row.published_verdict,
        }
    )  # fmt: skip


def _score_by_rules(
    items: Sequence[ScoredItem],
    questions: Sequence[str],
    rules: str,
    judges: ScoreJudges,
    cache: Path | None,
) -> list[list[AttributedVerdict]]:
    """Return the verdicts of one scorer, each followed by those of voting judges."""
    if rules == MATHREAL and judges.grade and judges.extraction:
        return run_mathreal(items, questions, judges.grade, judges.extraction)
    return [[AttributedVerdict(verdict)] for verdict in score_items(items, rules, cache)]


def _make_verdict_rows(
    rows: Sequence[ResponseRow], verdicts: Sequence[Sequence[AttributedVerdict]]
) -> list[VerdictRow]:
    """Return rows by scorer (or judge), each in the order of the responses."""
    return [
        VerdictRow(
            id=row.id, index=row.index, key=row.key, rules=entry.verdict.rules,
            version=entry.verdict.version, extracted=entry.verdict.extracted,
            method=entry.verdict.method, verdict=entry.verdict.verdict, credit=entry.verdict.credit,
            strict=entry.verdict.strict, ratio=entry.verdict.ratio, outcome=entry.verdict.outcome,
            judge=entry.judge, judge_key=entry.judge_key, prompt_sha256=entry.prompt_sha256,
            simulated=row.simulated or entry.simulated, literal=entry.literal,
        )
        for column in zip(*verdicts, strict=True)
        for row, entry in zip(rows, column, strict=True)
    ]  # fmt: skip


def _build_judge_columns(
    role: str, verdicts: Sequence[AttributedVerdict]
) -> dict[str, list[str | None]]:
    """Return the source of the verdicts: `<role>`, `<role>_key` and `<role>_prompt_sha256`."""
    return {
        role: [judged.judge for judged in verdicts],
        f"{role}_key": [judged.judge_key for judged in verdicts],
        f"{role}_prompt_sha256": [judged.prompt_sha256 for judged in verdicts],
    }


@contextmanager
def _open_judges(by: Study | Judge | None) -> Iterator[ScoreJudges]:
    if by is None or isinstance(by, Judge):
        yield make_score_judges(by) if by else ScoreJudges()
    else:
        with open_judges(by) as judges:
            yield judges
