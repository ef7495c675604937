"""Worked solutions: what is explanation, what repeats the question, and the answer they state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from omibench.ocr.choices import split_choices
from omibench.ocr.keys import Key
from omibench.ocr.layout import Item, Line
from omibench.ocr.numbering import number_of
from omibench.ocr.segment import Block, best_chain, blocks_of, candidates_of
from omibench.ocr.text import paragraphs

_STATED = re.compile(
    r"(?:^|(?<=[\s.。;]))(?:(?:final |correct )?answers?|ans\.?|respuestas?|respostas?|gabarito|antwort|"
    r"答案)\s*(?:is\b)?\s*[:：]\s*(?P<answer>.+?)\s*$",
    re.I,
)
_ITEM = re.compile(r"(?:item|option|choice|alternativa|letra|opci[óo]n)\s+[(（]?([a-hA-H])[)）.](?=\s|$)", re.I)
_ONLY = re.compile(r"[(（]?([A-H])[)）]?\.?|(anulad[ao]|cancel+ed|void)\b.*", re.I)
_BEGINS = re.compile(r"(?:solution|soluci[óo]n|solu[çc][ãa]o|resolu[çc][ãa]o|l[öo]sung|解|解析|【解析】)\s*[:：.】]?\s*", re.I)
_REPEATED = 88.0


def read_solutions(
    flow: Sequence[Item], questions: Mapping[int, str], words: frozenset[str]
) -> tuple[Key, dict[int, str]]:
    """The answers that worked solutions state and the solutions themselves, by problem number.

    `questions` are the statements of the paper: lines that repeat them are left out.
    """
    key, texts = Key(), {}
    for block in blocks_of(flow, best_chain(candidates_of(flow))):
        if block.number not in questions:
            continue
        lines = _body(block)
        for answer in _stated(block, lines):
            key.add(block.number, answer)
        text = paragraphs(_explanation(lines, questions[block.number]), words)
        if text and block.number not in texts:
            texts[block.number] = text
    return key, texts


def _body(block: Block) -> list[Line]:
    lines = [item for item in block.items if isinstance(item, Line) and item.upright]
    if lines and (number := number_of(lines[0].text)):
        lines[0] = replace(lines[0], text=lines[0].text[number.end :])
    return [line for line in lines if line.text]


def _stated(block: Block, lines: Sequence[Line]) -> list[str]:
    """What a solution says the answer is: a marked choice, its first words, or `Answer: ...`."""
    marked = [option.letter for option in split_choices(lines)[1] if option.correct]
    if marked:
        return [", ".join(marked)]
    if lines and (match := _ONLY.fullmatch(lines[0].text)):
        return [(match[1] or match[2]).upper()]
    if lines and (match := _ITEM.match(lines[0].text)):
        return [match[1].upper()]
    last = paragraphs(lines).split("\n\n")
    for text in reversed(last):
        if match := _STATED.search(text):
            return [match["answer"].rstrip(".") if len(match["answer"]) < 3 else match["answer"]]
    return []


def _explanation(lines: Sequence[Line], question: str) -> list[Line]:
    """The lines after `Solution:`, or after those that repeat the question."""
    for index, line in enumerate(lines):
        if (match := _BEGINS.match(line.text)) and index:
            rest = replace(line, text=line.text[match.end() :])
            return [rest, *lines[index + 1 :]] if rest.text else list(lines[index + 1 :])
    known = _letters(question)
    start = 0
    while start < len(lines) and _repeats(lines[start].text, known):
        start += 1
    return list(lines[start:])


def _repeats(text: str, known: str) -> bool:
    from rapidfuzz import fuzz

    letters = _letters(text)
    return len(letters) >= 4 and bool(fuzz.partial_ratio(letters, known) >= _REPEATED)


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())
