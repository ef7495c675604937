"""`omibench score --explain ID`: the responses with that id, from a file, a cell or a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import MissingInputError
from omibench.results.folder import find_results_folder
from omibench.rule_books.registry import RULE_BOOKS
from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow, VerdictRow, read_jsonl, read_parquet
from omibench.schemas.verdict import ScoredItem
from omibench.stages.score.explain import explain
from omibench.stages.score.nearest_ids import make_id_error
from omibench.stages.score.rows import read_rows
from omibench.stages.score.stage import is_cell, scored_item


class Meant(NamedTuple):
    """One response to explain, which one it is, and what was said of it so far."""

    item: ScoredItem
    where: str
    known: Sequence[VerdictRow] = ()

    @property
    def books(self) -> list[str]:
        """The rule books that it was scored by; `robust` where it was not scored."""
        return list(dict.fromkeys(r.rules for r in self.known if not r.judge)) or ["robust"]


def explain_id(
    inputs: Sequence[Path],
    wanted: str,
    rules: Sequence[str] | None = None,
    answers: Path | None = None,
    columns: Mapping[str, str] | None = None,
) -> str:
    """The explanation of every response to the problem `wanted`, under some rule books, or under
    those that it was scored by.

    `inputs` are files as `score_file` reads them, cells of responses with their `answers`, or a
    results folder, all of whose cells are looked through. Raises MissingInputError where no
    response has that id, and as reading the files does.
    """
    for name in rules or []:
        RULE_BOOKS.get(name)
    known: set[str] = set()
    found: list[Meant] = []
    for path in inputs:
        for meant in _responses(path, answers, columns):
            known.add(meant.item.id)
            if meant.item.id == wanted:
                found.append(meant)
    if not known:
        raise MissingInputError(f"{', '.join(map(str, inputs))}: holds no responses")
    if not found:
        raise make_id_error(wanted, known)
    return "\n\n".join(_explained(meant, rules or meant.books) for meant in found) + "\n"


def _explained(meant: Meant, rules: Sequence[str]) -> str:
    lines = [explain(meant.item, rules, meant.where)]
    for row in meant.known:
        if not row.judge:
            continue
        told = ("right" if row.verdict >= 0.5 else "wrong") if row.outcome == "scored" else None
        word = told or f"no verdict, {row.outcome.replace('_', ' ')}"
        by = f", by {row.judge}{' (SIMULATED)' if row.simulated else ''}"
        key = f"\n  reply      {row.judge_key}" if row.judge_key else ""
        lines.append(f"\n{row.rules}, version {row.version}{by}: {word}{key}")
    return "\n".join(lines)


def _responses(
    path: Path, answers: Path | None, columns: Mapping[str, str] | None
) -> Iterator[Meant]:
    if path.is_dir():
        own = answers or path / "freeze" / "answers.jsonl"
        for cell in sorted((find_results_folder(path) / "infer").glob("*/*.parquet")):
            yield from _cell(cell, own, path / "score" / cell.parent.name / cell.name)
    elif answers and is_cell(path):
        yield from _cell(path, answers, None)
    else:
        for row in read_rows([path], columns, answers):
            many = len(row.others) + 1
            for place, item in enumerate((row.item, *row.others), 1):
                yield Meant(item, f"{path.name}{f', gold {place} of {many}' if row.others else ''}")


def _cell(path: Path, answers: Path, verdicts: Path | None) -> Iterator[Meant]:
    gold = {answer.id: answer for answer in read_jsonl(answers, Answer)}
    known: dict[tuple[str, int], list[VerdictRow]] = {}
    if verdicts and verdicts.is_file():
        for raw in read_parquet(verdicts, VerdictRow).iter_rows(named=True):
            row = VerdictRow(**raw)
            known.setdefault((row.id, row.index), []).append(row)
    for raw in read_parquet(path, ResponseRow).iter_rows(named=True):
        response = ResponseRow(**raw)
        where = f"{path.parent.name} under {path.stem}, sample {response.index}"
        item = scored_item(response, gold, path)
        yield Meant(item, where, known.get((response.id, response.index), ()))
