"""Explanation of a verdict: the extracted answer, and the comparison of each part.

The text comes from the functions that score. Responses are shown without control characters, so
they cannot control the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from textwrap import shorten

from omibench.answers.comparison import PartResult
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.scorers import omibench, robust
from omibench.scorers.registry import score_item
from omibench.text.terminal import printable

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
    if verdict.outcome == "scored":
        yield from _DETAILS.get(rules, _no_details)(item, verdict)


def _describe_verdict(verdict: Verdict) -> str:
    if verdict.outcome != "scored":
        return f"no verdict, {verdict.outcome.replace('_', ' ')} (counts as wrong)"
    if verdict.verdict in (0.0, 1.0):
        word = "right" if verdict.verdict else "wrong"
        partial = verdict.credit is not None and 0 < verdict.credit < 1
        return f"{word}, credit {verdict.credit:.3g}" if partial else word
    return f"{verdict.verdict:.3g}" + ("" if verdict.strict is None else ", strict 0")


def _no_details(item: ScoredItem, verdict: Verdict) -> Iterator[str]:
    return iter(())


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
