"""Separate answers and solutions printed in a paper's problems from their statements.

Text after the mark must never be sent to a model, since it reveals the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from omibench.stages.ocr.keys.solutions import read_stated_answer
from omibench.stages.ocr.layout.layout import Item, Line, Picture
from omibench.stages.ocr.structure.choices import ARROW, split_choices
from omibench.stages.ocr.structure.lettering import NON_ASCII_LETTERS
from omibench.stages.ocr.structure.references import figure_numbers

_PLACE = r"(?:^|(?<=\s)|(?<=[。？！．）]))"
_SOLUTION = re.compile(
    rf"{_PLACE}(?:(?:solutions?|soluci[óo]n|solu[çc][ãa]o|resolu[çc][ãa]o|l[öo]sung|解析|解答?)\s*[:：]|"
    r"【(?:参考)?(?:解析|解答|答案)】)\s*",
    re.I,
)
_ANSWER = re.compile(
    rf"{_PLACE}(?:(?:(?:final|correct|right)\s+)?(?:answers?|ans\.?|respuestas?|respostas?|gabarito|"
    r"antwort|(?:правильный\s+)?ответ|(?:правильна\s+)?відповідь|отговор|одговор|απάντηση|정답|"
    r"正解|答案?)\s*[:：]|ans(?:wer)?\.?\s*(?=[(（][A-Ha-h][)）]\W*$)|(?:the\s+)?(?:(?:final|correct|right)\s+)?answer\s+is\s+(?=[(（]?[A-H]\b))"
    r"\s*(?P<answer>.*)",
    re.I,
)
_HEADING = re.compile(
    r"(?:worked )?solution|soluci[óo]n|solu[çc][ãa]o|resolu[çc][ãa]o|l[öo]sung", re.I
)
_FIELD = re.compile(r"_{2}|\.{3}|…|□")
_LETTERS = re.compile(r"[(（]?[A-H][)）]?(?:\s*[,/&]\s*[(（]?[A-H][)）]?)*\.?")
_LABEL = re.compile(r"[(（]([A-H])[)）]|([A-H])[).:](?=\s)")
_ELSEWHERE = re.compile(rf"[(（]?[{NON_ASCII_LETTERS}](?!\w)[)）]?\.?|[(（][1-8][)）]")
_VALUE = re.compile(r"[-+−]?\s*[\d$\\]")


class Parts(NamedTuple):
    """The statement of a problem, and its answer and solution in the paper."""

    statement: list[Item]
    solution: list[Item]
    answer: list[str]
    """The answer in the solution, as printed; empty if unknown."""


def split_inline(items: Sequence[Item]) -> Parts:
    """Cut a problem's items at the first `Solution:`, `Answer: B`, 【解析】 or the like.

    A blank such as `Answer: ____ m/s` is not a mark. A figure after the mark stays with the
    statement if the statement refers to its number. A figure around the mark, such as a frame with
    the whole solution, belongs to the solution.
    """
    for index, item in enumerate(items):
        mark = _mark(items, index) if isinstance(item, Line) and item.upright else None
        if mark is None or not isinstance(item, Line):
            continue
        before, after = item.text[: mark.start].rstrip(), item.text[mark.end :]
        answer = _read_marked_answer(after) if "答案" in item.text[mark.start : mark.end] else ""
        after = after[len(answer) :]
        frames = [i for i in items[:index] if isinstance(i, Picture) and _encloses(i, item)]
        statement = _without(items[:index], frames)
        statement += [replace(item, text=before)] if before else []
        behind = [*([replace(item, text=after)] if after else []), *items[index + 1 :]]
        explanation = [*frames, *(_strip_mark(behind) if answer else behind)]
        named = figure_numbers(" ".join(i.text for i in statement if isinstance(i, Line)))
        solution_pictures = [i for i in explanation if isinstance(i, Picture) and i.number in named]
        solution = _without(explanation, solution_pictures)
        return Parts(
            [*statement, *solution_pictures],
            solution,
            [answer.strip().rstrip(".。")] if answer else _answer(solution),
        )
    return Parts(list(items), [], [])


def _read_marked_answer(text: str) -> str:
    """Return the answer after 【答案】, up to the next such mark; empty if it is not definite."""
    answer = text.partition("【")[0]
    return answer if _is_definite(answer.strip()) else ""


def _strip_mark(items: Sequence[Item]) -> list[Item]:
    """Return the items without a leading 【解析】."""
    first = items[0] if items else None
    mark = _SOLUTION.match(first.text) if isinstance(first, Line) else None
    if not isinstance(first, Line) or mark is None:
        return list(items)
    text = first.text[mark.end() :]
    return [*([replace(first, text=text)] if text else []), *items[1:]]


def without_arrows(items: Sequence[Item]) -> list[Item]:
    """Return the items without the arrows that point at the right choice."""
    return [replace(i, text=ARROW.sub("", i.text)) if isinstance(i, Line) else i for i in items]


class _Mark(NamedTuple):
    """Return the positions in a line where the statement ends and the kept solution begins."""

    start: int
    end: int


def _mark(items: Sequence[Item], index: int) -> _Mark | None:
    line = items[index]
    if not isinstance(line, Line):
        return None
    if line.bold and _HEADING.fullmatch(line.text) and _stands_alone(items, line):
        return _Mark(0, len(line.text))
    marks = [_Mark(m.start(), m.end()) for m in _SOLUTION.finditer(line.text) if _is_title(m)]
    matches = (m for m in _ANSWER.finditer(line.text) if _gives(m, items, index))
    marks += [_Mark(m.start(), m.start()) for m in matches]
    return min(marks, default=None)


def _is_title(match: re.Match[str]) -> bool:
    return not match[0][:1].islower()


def _gives(match: re.Match[str], items: Sequence[Item], index: int) -> bool:
    """Return whether an answer follows, instead of a blank or the choices."""
    answer = match["answer"]
    if not _is_title(match) or not any(c.isalnum() for c in answer) or _FIELD.search(answer):
        return False
    line = items[index]
    remaining = [replace(line, text=answer)] if isinstance(line, Line) else []
    asks = split_choices([*remaining, *items[index + 1 :]])[1]
    return not asks or bool(split_choices(items[:index])[1])


def _stands_alone(items: Sequence[Item], line: Line) -> bool:
    """Return whether a line is alone in its row, unlike a cell of a table."""
    return line.starts and not any(
        isinstance(item, Line)
        and item is not line
        and item.page == line.page
        and abs(item.baseline - line.baseline) < 0.5 * line.size
        for item in items
    )


def _answer(solution: Sequence[Item]) -> list[str]:
    lines = [item for item in solution if isinstance(item, Line)]
    match = _ANSWER.match(lines[0].text) if lines else None
    if not match:
        return read_stated_answer(lines)
    answer = match["answer"].strip()
    if label := _LABEL.match(answer):
        return [label[1] or label[2]]
    return [answer.rstrip(".")] if _is_definite(answer) else []


def _is_definite(answer: str) -> bool:
    """Return whether it is letters or a value; other text may be the unit of a drawn blank."""
    letters = _LETTERS.fullmatch(answer) or _ELSEWHERE.fullmatch(answer)
    return bool(letters or _VALUE.match(answer))


def _without(items: Sequence[Item], pictures: Sequence[Picture]) -> list[Item]:
    return [item for item in items if not any(item is picture for picture in pictures)]


def _encloses(picture: Picture, line: Line) -> bool:
    return picture.page == line.page and picture.box.holds(line.box)
