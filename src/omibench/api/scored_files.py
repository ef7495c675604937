"""Files of `omibench score` as results folders, so that slices and comparisons read both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, get_args

from omibench.errors import FileFormatError
from omibench.schemas.problem import Answer, Question, Subject
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    content_hash,
    write_json,
    write_jsonl,
    write_parquet,
)
from omibench.stages.score.rows import FileRow, InputRow, read_rows

CELL: Final = "scored/file"
"""Model and setting under which a file's rows appear."""
_LONGEST_LABEL: Final = 100
"""Characters of the longest label of an attribute; longer texts are no labels."""
_NOT_ATTRIBUTES: Final = frozenset(
    {*InputRow.model_fields, *VerdictRow.model_fields, *ResponseRow.model_fields, "subject",
     "gptscore", "judge_outcome", "judge_prompt_sha256", "partial"}
)  # fmt: skip


@contextmanager
def open_results(path: Path) -> Iterator[Path]:
    """Yield the results folder of a path: itself or, of a scored file, one within this context.

    Columns of a scored file with short texts or whole numbers are attributes of its problems.

    Raises:
        FileFormatError: The file has no verdicts, invalid ones, or two of one scorer on a response.
    """
    if not path.is_file():
        yield path
        return
    rows = read_rows([path])
    with TemporaryDirectory(prefix="omibench-scored-") as folder:
        _write_results(Path(folder), path, rows)
        yield Path(folder)


def _write_results(folder: Path, path: Path, rows: Sequence[FileRow]) -> None:
    responses: dict[tuple[str, int], ResponseRow] = {}
    verdicts: dict[tuple[str, int, str], VerdictRow] = {}
    answers: dict[str, Answer] = {}
    questions: dict[str, Question] = {}
    names = [name for name in rows[0].raw if _is_attribute(name, rows)]
    seen: Counter[tuple[str, str]] = Counter()
    for number, row in enumerate(rows, 1):
        verdict = _read_verdict(row, f"{path}, row {number}", path, seen)
        sample, item = (verdict.id, verdict.index), row.item
        if (*sample, verdict.rules) in verdicts:
            raise FileFormatError(
                f"{path}, row {number}: a second verdict of {verdict.rules!r} on sample "
                f"{verdict.index} of {verdict.id!r}; give the samples of a problem an `index`"
            )
        verdicts[*sample, verdict.rules] = verdict
        responses[sample] = ResponseRow(
            id=verdict.id, index=verdict.index, key=verdict.key, outcome="answered",
            text=item.prediction, finish_reason=item.finish_reason, simulated=verdict.simulated,
        )  # fmt: skip
        named = row.raw.get("subject")
        subject: Any = named if named in get_args(Subject) else "other"
        group = str(row.raw.get("group") or "")
        answers[item.id] = Answer(
            id=item.id, answer=item.gold, answer_type=item.answer_type, choices=item.choices,
            subject=subject, group=group, n_images=_count(row.raw.get("n_images")),
            attributes={name: str(v) for name in names if (v := row.raw[name]) is not None},
        )  # fmt: skip
        questions[item.id] = Question(
            id=item.id, question="", choices=None, subject=subject, group=group
        )
    freeze = folder / "freeze"
    write_jsonl(freeze / "questions.jsonl", list(questions.values()))
    write_jsonl(freeze / "answers.jsonl", list(answers.values()))
    manifest = FrozenManifest(
        name=path.name, version="", problems=len(answers), images=0, subjects={},
        questions_sha256=content_hash(list(questions.values())),
        answers_sha256=content_hash(list(answers.values())),
    )  # fmt: skip
    write_json(freeze / "manifest.json", manifest)
    write_parquet(folder / f"infer/{CELL}.parquet", list(responses.values()), ResponseRow)
    write_parquet(folder / f"score/{CELL}.parquet", list(verdicts.values()), VerdictRow)


def _read_verdict(
    row: FileRow, place: str, path: Path, seen: Counter[tuple[str, str]]
) -> VerdictRow:
    raw, rules = row.raw, row.raw.get("rules")
    if rules is None or raw.get("verdict") is None:
        raise FileFormatError(
            f"{place}: lacks {'rules' if rules is None else 'verdict'}, so it is not a file of "
            f"verdicts; score it first: `omibench score {path} --scorer robust --out "
            "verdicts.parquet`"
        )
    id_ = row.item.id
    try:
        index = raw.get("index")
        index = int(index) if index is not None else seen[id_, rules]
        verdict, version = float(raw["verdict"]), int(raw.get("version") or 0)
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"{place}: index, verdict or version: {error}") from None
    if not 0 <= verdict <= 1:
        raise FileFormatError(f"{place}, column 'verdict': is {verdict}; it must be from 0 to 1")
    seen[id_, rules] += 1
    return VerdictRow(
        id=id_, index=index, key=f"{id_}/{index}", rules=str(rules), version=version,
        extracted=_text(raw, "extracted"), method=_text(raw, "method") or "", verdict=verdict,
        credit=_number(raw, "credit"), strict=_number(raw, "strict"), ratio=_number(raw, "ratio"),
        outcome=_text(raw, "outcome") or "scored", simulated=bool(raw.get("simulated")),
    )  # fmt: skip


def _is_attribute(name: str, rows: Sequence[FileRow]) -> bool:
    values = [row.raw.get(name) for row in rows]
    return name not in _NOT_ATTRIBUTES and all(
        value is None or (isinstance(value, bool | int | str) and len(str(value)) <= _LONGEST_LABEL)
        for value in values
    )


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() else 0


def _text(raw: Mapping[str, Any], name: str) -> str | None:
    return None if raw.get(name) is None else str(raw[name])


def _number(raw: Mapping[str, Any], name: str) -> float | None:
    value = raw.get(name)
    return float(value) if isinstance(value, int | float) else None
