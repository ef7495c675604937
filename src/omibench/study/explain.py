"""Suggestions for an id that does not exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from omibench.answers.compare import PartResult
from omibench.answers.scorers import omibench, robust
from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.errors import MissingInputError
from omibench.results.study_files import StudyFiles, find_results_folder
from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow, VerdictRow, read_jsonl, read_parquet
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.score.rows import read_rows
from omibench.stages.score.stage import is_cell, pair_with_gold
from omibench.text.terminal import printable

NEAREST = 3


def find_nearest_ids(missing_id: str, ids: Collection[str]) -> list[str]:
    """Return the three ids most similar to the given one, the most similar first."""
    from rapidfuzz import fuzz, process, utils

    matches = process.extract(
        missing_id, sorted(ids), scorer=fuzz.ratio, processor=utils.default_process, limit=NEAREST
    )
    return [id for id, *_ in matches]


def make_id_error(missing_id: str, ids: Collection[str]) -> MissingInputError:
    """Return the error that no response has the id, with the nearest ids."""
    near = [repr(printable(id)[:80]) for id in find_nearest_ids(missing_id, ids)]
    last = f"{', '.join(near[:-1])} and {near[-1]}" if len(near) > 1 else near[0]
    are = "the nearest are" if len(near) > 1 else "the only one is"
    return MissingInputError(
        f"--explain {printable(missing_id)[:80]!r}: no response has this id; {are} {last}"
    )


# Explanation of a verdict: the extracted answer, and the comparison of each part.
#
# The text comes from the functions that score. Responses are shown without control characters, so
# they cannot control the terminal.

TAIL_CHARS = 400
CELL_CHARS = 60
_CONTROL = re.compile(
    r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def explain(item: ScoredItem, rules: Sequence[str], origin: str = "") -> str:
    """Explain one response under some scorers, as lines of text without a final newline.

    `origin` identifies the response, such as by its file or cell.
    """
    head = printable(f"{item.id}{f', {origin}' if origin else ''}")
    lines = [head, "-" * len(head), *_describe_item(item)]
    for name in rules:
        lines += ["", *_explain_scorer(item, name)]
    return "\n".join(line.rstrip() for line in lines)


def plain(text: str) -> str:
    """Replace every control character of a text by U+FFFD."""
    return _CONTROL.sub("\ufffd", text.replace("\t", " "))


def _describe_item(item: ScoredItem) -> Iterator[str]:
    yield f"gold      {plain('; '.join(item.gold))}"
    for choice in item.choices or []:
        yield f"          ({choice.label}) {_shorten(choice.text or '[picture]')}"
    reason = f", finish reason {plain(item.finish_reason)}" if item.finish_reason else ""
    yield f"response  {len(item.prediction):,} characters, {item.outcome}{reason}"
    text = plain(item.prediction.strip())
    excerpt = text if len(text) <= TAIL_CHARS else f"[…] {text[-TAIL_CHARS:]}"
    for line in excerpt.splitlines() or ["(empty)"]:
        yield f"  | {line}"


def _explain_scorer(item: ScoredItem, rules: str) -> Iterator[str]:
    verdict = score_item(item, rules)
    yield f"{rules}, version {verdict.version}: {_describe_verdict(verdict)}"
    if verdict.extracted is None:
        yield f"  extracted  nothing ({verdict.method})"
    else:
        way, _, reason = verdict.method.partition(" > ")
        yield f"  extracted  {_shorten(verdict.extracted)}"
        yield f"  found by   {way}"
        if reason and rules not in _DETAILS:
            yield f"  compared   {reason}"
    if verdict.outcome == "scored" and rules in _DETAILS:
        yield from _DETAILS[rules](item, verdict)


def _describe_verdict(verdict: Verdict) -> str:
    if verdict.outcome != "scored":
        return f"no verdict, {verdict.outcome.replace('_', ' ')} (counts as wrong)"
    if verdict.verdict in (0.0, 1.0):
        word = "right" if verdict.verdict else "wrong"
        partial = verdict.credit is not None and 0 < verdict.credit < 1
        return f"{word}, credit {verdict.credit:.3g}" if partial else word
    return f"{verdict.verdict:.3g}" + ("" if verdict.strict is None else ", strict 0")


def _describe_parts(item: ScoredItem, verdict: Verdict) -> Iterator[str]:
    match = robust.compare(item).match
    if match is None:
        return
    rows = [("part", "gold", "found", "verdict", "why"), *map(_make_part_row, match.parts)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        yield f"    {'  '.join(cells)}  {row[4]}"
    if match.tier:
        yield f"  the whole answer equals the gold: {match.tier}"


def _make_part_row(part: PartResult) -> tuple[str, str, str, str, str]:
    gold = "–" if part.gold is None else _shorten(part.gold)
    answer = "–" if part.answer is None else _shorten(part.answer)
    return part.part or "whole", gold, answer, "right" if part.verdict else "wrong", part.reason


def _describe_comparison(item: ScoredItem, verdict: Verdict) -> Iterator[str]:
    if item.answer_type == "mcq":
        yield f"  compared   label or option text: {verdict.method.partition(' > ')[2]}"
        return
    extracted = verdict.extracted or ""
    numbers = [omibench.read_number(text) for text in (item.gold[0], extracted)]
    if len(item.gold) == 1 and None not in numbers:
        distance = abs((numbers[1] or 0.0) - (numbers[0] or 0.0))
        yield (
            f"  compared   as numbers {numbers[0]:g} and {numbers[1]:g}: difference "
            f"{distance:.3g}; up to {omibench.EPSILON:g} is right"
        )
        return
    gold = ", ".join(item.gold)[: omibench.MAX_CHARS]
    ratio = omibench.lcs_ratio(omibench.normalise(extracted), omibench.normalise(gold))
    yield (
        f"  compared   as texts: common subsequence over longer length is {ratio:.3f}; "
        f"{omibench.LCS_RATIO:g} or more is right"
    )


_DETAILS: dict[str, Callable[[ScoredItem, Verdict], Iterator[str]]] = {
    robust.NAME: _describe_parts,
    omibench.NAME: _describe_comparison,
}


def _shorten(text: str) -> str:
    return shorten(plain(text), CELL_CHARS, placeholder=" …") or "(blank)"


# `omibench score --explain ID`: the responses with that id, from a file, a cell or a study.


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
