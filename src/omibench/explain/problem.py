"""`omibench score --explain ID`: the responses with that id, from a file, a cell or a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import MissingInputError
from omibench.explain.explanation import explain
from omibench.explain.nearest_ids import make_id_error
from omibench.results.folder import find_results_folder
from omibench.results.study_files import StudyFiles
from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow, VerdictRow, read_jsonl, read_parquet
from omibench.schemas.verdict import ScoredItem
from omibench.scorers.registry import SCORERS
from omibench.stages.score.rows import read_rows
from omibench.stages.score.stage import is_cell, pair_with_gold


class ResponseToExplain(NamedTuple):
    """One response to explain, its origin, and the verdicts so far."""

    item: ScoredItem
    origin: str
    verdicts: Sequence[VerdictRow] = ()

    @property
    def scorers(self) -> list[str]:
        """Scorers of its verdicts; `robust` if it was not scored."""
        return list(dict.fromkeys(r.rules for r in self.verdicts if not r.judge)) or ["robust"]


def explain_id(
    inputs: Sequence[Path],
    problem: str,
    rules: Sequence[str] | None = None,
    answers: Path | None = None,
    columns: Mapping[str, str] | None = None,
) -> str:
    """Explain every response to `problem`, under the given scorers or those that scored it.

    `inputs` are files for `score_file`, cells of responses with their `answers`, or a results
    folder, all of whose cells are searched. Raises MissingInputError if no response has the id,
    and the errors of reading the files.
    """
    for name in rules or []:
        SCORERS.get(name)
    ids: set[str] = set()
    matches: list[ResponseToExplain] = []
    for path in inputs:
        for response in _find_responses(path, answers, columns):
            ids.add(response.item.id)
            if response.item.id == problem:
                matches.append(response)
    if not ids:
        raise MissingInputError(f"{', '.join(map(str, inputs))}: contains no responses")
    if not matches:
        raise make_id_error(problem, ids)
    return (
        "\n\n".join(_explain_response(response, rules or response.scorers) for response in matches)
        + "\n"
    )


def _explain_response(response: ResponseToExplain, rules: Sequence[str]) -> str:
    lines = [explain(response.item, rules, response.origin)]
    for row in response.verdicts:
        if not row.judge:
            continue
        judgement = (
            ("right" if row.verdict >= 0.5 else "wrong") if row.outcome == "scored" else None
        )
        word = judgement or f"no verdict, {row.outcome.replace('_', ' ')}"
        by = f", by {row.judge}{' (SIMULATED)' if row.simulated else ''}"
        key = f"\n  reply      {row.judge_key}" if row.judge_key else ""
        lines.append(f"\n{row.rules}, version {row.version}{by}: {word}{key}")
    return "\n".join(lines)


def _find_responses(
    path: Path, answers: Path | None, columns: Mapping[str, str] | None
) -> Iterator[ResponseToExplain]:
    if path.is_dir():
        files = StudyFiles(find_results_folder(path))
        answers_file = answers or files.locate("freeze") / "answers.jsonl"
        for cell in files.list_cells():
            places = files.locate("infer", cell), answers_file, files.locate("score", cell)
            yield from _read_cell(*places)
    elif answers and is_cell(path):
        yield from _read_cell(path, answers, None)
    else:
        for row in read_rows([path], columns, answers):
            total = len(row.alternatives) + 1
            for place, item in enumerate((row.item, *row.alternatives), 1):
                yield ResponseToExplain(
                    item, f"{path.name}{f', gold {place} of {total}' if row.alternatives else ''}"
                )


def _read_cell(path: Path, answers: Path, verdicts: Path | None) -> Iterator[ResponseToExplain]:
    gold = {answer.id: answer for answer in read_jsonl(answers, Answer)}
    verdict_rows: dict[tuple[str, int], list[VerdictRow]] = {}
    if verdicts and verdicts.is_file():
        for raw in read_parquet(verdicts, VerdictRow).iter_rows(named=True):
            row = VerdictRow(**raw)
            verdict_rows.setdefault((row.id, row.index), []).append(row)
    for raw in read_parquet(path, ResponseRow).iter_rows(named=True):
        response = ResponseRow(**raw)
        origin = f"{path.parent.name} under {path.stem}, sample {response.index}"
        item = pair_with_gold(response, gold, path)
        yield ResponseToExplain(item, origin, verdict_rows.get((response.id, response.index), ()))
