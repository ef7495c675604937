"""The score stage: files of responses in, files of verdicts out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.errors import FileFormatError, MissingInputError, OmibenchError
from omibench.files.atomic import replace_atomically
from omibench.files.intake import open_regular
from omibench.judges.panel import Judge
from omibench.params.limit import apply_limit, part_words
from omibench.params.stage_params import ScoreStageParams
from omibench.rule_books.mathreal import NAME as MATHREAL
from omibench.rule_books.registry import RULE_BOOKS
from omibench.schemas.cell_origin import describe_origin
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import (
    ResponseRow,
    VerdictRow,
    read_jsonl,
    read_parquet,
    write_parquet,
)
from omibench.schemas.verdict import ScoredItem
from omibench.stages.score.asking import ScoreJudges, one_judge, open_judges
from omibench.stages.score.cache import score_items
from omibench.stages.score.columns import scored_frame
from omibench.stages.score.judge import NAME as GPTSCORE
from omibench.stages.score.judge import JudgedVerdict, failed_judgements, gptscore, graded
from omibench.stages.score.rows import FileRow, read_rows

if TYPE_CHECKING:
    import polars as pl


class Scored(NamedTuple):
    """Verdicts as they were written, what is not independent in them, and failed judgements."""

    frame: pl.DataFrame
    """Has `rules`, `verdict` and `outcome`, row by row, rule book by rule book."""
    clusters: Sequence[str]
    """The cluster of each row: its group, or its problem."""
    failed: Mapping[str, tuple[int, Counter[str]]]
    """Of each judge's rules, how many judgements were asked for, and why which never came."""
    part: str = ""
    """How many problems of how many were scored, where that was a part of them."""
    lacking: str = ""
    """How many of the problems with a gold have a response, where some have none."""


def score_file(
    inputs: Sequence[Path],
    rules: str,
    out: Path,
    judge: ScoreStageParams | Judge | None = None,
    cache: Path | None = None,
) -> int:
    """Score the rows of files of responses by one rule book; how many rows there are.

    As `score_rows` for the rows of `read_rows`.
    """
    RULE_BOOKS.get(rules)
    return score_rows(read_rows(inputs), [rules], out, judge, cache).frame.height


def score_rows(  # noqa: PLR0913, PLR0917 (files in, a file out)
    rows: Sequence[FileRow],
    books: Sequence[str],
    out: Path,
    judge: ScoreStageParams | Judge | None = None,
    cache: Path | None = None,
    part: str = "",
) -> Scored:
    """Score rows by some rule books and write them with their verdicts as Parquet.

    The rows of `out` are those given, in order, once for each rule book: with `rules`, `version`,
    `extracted`, `method`, `verdict` (0 to 1), `credit` (the share of parts) and `outcome`; with a
    judge (the study that names it, or one already open) also `gptscore` and `judge_outcome`, and
    of judge and grader the name, the key of its reply in the store and the SHA-256 of its prompt;
    `score.columns` says what becomes of other columns. Of a gold of alternatives the one that
    gives most counts. With a `cache` (`score.cache`), verdicts that it knows are not made again.
    Where the rows are a part of a file, `part` says which, and stands in the column `partial`.
    Raises OmibenchError for an unknown rule book.
    """
    for rules in books:
        RULE_BOOKS.get(rules)
    questions = [row.question for row in rows]
    new: dict[str, list[Any]] = {}
    failed: dict[str, tuple[int, Counter[str]]] = {}
    with _open_judges(judge) as judges:
        told = None
        if judges.gptscore:
            shown = [_for_judge(row) for row in rows]
            told = [first for first, *_ in gptscore(shown, questions, judges.gptscore)]
            failed[GPTSCORE] = failed_judgements(told)
        for rules in books:
            scored = _best_by_rules(rows, rules, judges, cache)
            by_models = rules == MATHREAL and judges.grade is not None
            if by_models:
                failed[rules] = failed_judgements(scored)
            columns = _columns(rules, scored, told, MATHREAL in books and judges.grade is not None)
            for name, values in columns.items():
                new.setdefault(name, []).extend(values)
    if part:
        new["partial"] = [part] * (len(books) * len(rows))
    frame = scored_frame([row.raw for _ in books for row in rows], new)
    _write(out, frame)
    return Scored(frame, [row.cluster for _ in books for row in rows], failed, part)


def _for_judge(row: FileRow) -> ScoredItem:
    """What a judge is shown of a row: of a gold of alternatives all, joined by "or"."""
    if not row.others:
        return row.item
    golds = [entry for item in (row.item, *row.others) for entry in item.gold]
    return row.item.model_copy(update={"gold": [" or ".join(golds)]})


def _columns(
    rules: str,
    scored: Sequence[JudgedVerdict],
    told: Sequence[JudgedVerdict] | None,
    with_grader: bool,
) -> dict[str, list[Any]]:
    """The new columns of the rows of one rule book, and of the judge beside them."""
    found: dict[str, list[Any]] = {"rules": [rules] * len(scored)}
    for name in ("version", "extracted", "method", "verdict", "credit", "outcome"):
        found[name] = [getattr(one.verdict, name) for one in scored]
    if with_grader:
        found |= _by_whom("grader", scored)
    if told is not None:
        found["gptscore"] = [one.verdict.verdict for one in told]
        found["judge_outcome"] = [one.verdict.outcome for one in told]
        found |= _by_whom("judge", told)
    return found


def _best_by_rules(
    rows: Sequence[FileRow], rules: str, judges: ScoreJudges, cache: Path | None
) -> list[JudgedVerdict]:
    """The verdict on each row; of alternatives the first one that gives most."""
    items = [item for row in rows for item in (row.item, *row.others)]
    questions = [row.question for row in rows for _ in (row.item, *row.others)]
    verdicts = (first for first, *_ in _by_rules(items, questions, rules, judges, cache))
    return [
        max((next(verdicts) for _ in (row.item, *row.others)), key=lambda one: one.verdict.verdict)
        for row in rows
    ]


def score_cell(  # noqa: PLR0913, PLR0917 (files in, a file out)
    responses: Path,
    answers: Path,
    questions: Path | None,
    out: Path,
    study: ScoreStageParams,
    cache: Path | None = None,
    job: str = "",
) -> int:
    """Score the responses of one cell as `score_responses`; how many verdicts there are."""
    return score_responses(responses, answers, questions, out, study, cache, job).frame.height


def score_responses(  # noqa: PLR0913, PLR0917 (files in, a file out)
    responses: Path,
    answers: Path,
    questions: Path | None,
    out: Path,
    study: ScoreStageParams,
    cache: Path | None = None,
    job: str = "",
) -> Scored:
    """Score the responses of one cell by every rule book of the study, and by its judges.

    Reads ResponseRow Parquet, Answer JSONL and, for a judge, Question JSONL; writes VerdictRow
    Parquet: rule book by rule book in the order of `score.rules`, each in the order of the
    responses, then the judges' (`rules` = gptscore). Behind a verdict on which several judges
    voted stands each one's own. A `limit` of the study takes a part of the problems.
    """
    frame = read_parquet(responses, ResponseRow)
    every = [ResponseRow(**row) for row in frame.iter_rows(named=True)]
    rows = apply_limit(every, study.study.limit)
    gold = {answer.id: answer for answer in read_jsonl(answers, Answer)}
    items = [scored_item(row, gold, responses) for row in rows]
    texts = _questions(questions, rows) if study.score.panels else [""] * len(rows)
    out_rows: list[VerdictRow] = []
    failed: dict[str, tuple[int, Counter[str]]] = {}
    with _open_judges(study) as judges:
        for rules in study.score.rules:
            verdicts = _by_rules(items, texts, rules, judges, cache)
            out_rows += _verdict_rows(rows, verdicts)
            if rules == MATHREAL and judges.grade:
                failed[rules] = failed_judgements([first for first, *_ in verdicts])
        if judges.gptscore:
            verdicts = gptscore(items, texts, judges.gptscore)
            out_rows += _verdict_rows(rows, verdicts)
            failed[GPTSCORE] = failed_judgements([first for first, *_ in verdicts])
    write_parquet(out, out_rows, VerdictRow, describe_origin(out, job))
    clusters = [gold[row.id].group or row.id for row in out_rows]
    part = part_words((r.id for r in rows), gold, study.study.limit)
    lacking = "" if part else _lacking({row.id for row in rows}, gold)
    return Scored(_of_books(out_rows), clusters, failed, part, lacking)


def _lacking(answered: Collection[str], gold: Collection[str]) -> str:
    few, every = len(answered), len(gold)
    if few >= every:
        return ""
    return f"{few:,} of {every:,} problems of the answers file have a response here"


def _of_books(rows: Sequence[VerdictRow]) -> pl.DataFrame:
    import polars as pl

    found = [(row.rules, row.verdict, row.outcome) for row in rows]
    schema = {"rules": pl.String, "verdict": pl.Float64, "outcome": pl.String}
    return pl.DataFrame(found, schema=schema, orient="row")


def is_cell(path: Path) -> bool:
    """Whether a file is a cell of responses as `omibench infer` writes them."""
    import polars as pl

    if path.suffix != ".parquet" or not path.is_file():
        return False
    try:
        with open_regular(path) as file:
            return {"key", "text", "outcome"} <= pl.read_parquet_schema(file).keys()
    except (OmibenchError, pl.exceptions.PolarsError, OSError):
        return True  # reading it as one says what is wrong


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
def _open_judges(by: ScoreStageParams | Judge | None) -> Iterator[ScoreJudges]:
    if by is None or isinstance(by, Judge):
        yield one_judge(by) if by else ScoreJudges()
    else:
        with open_judges(by) as judges:
            yield judges


def _write(out: Path, frame: pl.DataFrame) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(out) as partial:
        frame.write_parquet(partial)
