"""Worked solutions: separate explanations, repeated questions and the stated answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from omibench.latex import replace_formulas
from omibench.stages.ocr.keys.conclusions import read_conclusion
from omibench.stages.ocr.keys.keys import CANCELLED, Key, Names
from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.layout.text import paragraphs, without_marks
from omibench.stages.ocr.structure.chains import SOLUTIONS
from omibench.stages.ocr.structure.choices import split_choices
from omibench.stages.ocr.structure.segment import ProblemBlock, all_blocks
from omibench.stages.ocr.structure.subjects import is_heading
from omibench.stages.ocr.structure.titles import split_answers

_STATED = re.compile(
    r"(?:^|(?<=[\s.。;]))(?:(?:final |correct )?answers?|ans\.?|respuestas?|respostas?|gabarito|"
    r"antwort|risposta|r[ée]ponse|ответ|答案)\s*(?:is\b)?\s*"
    r"(?:[:：]\s*(?P<answer>.+?)\s*$|(?P<only>[(（][A-Ha-h][)）])(?=[\s.,;]|$))",
    re.I,
)
_ITEM = re.compile(
    r"(?:item|option|choice|alternativa|letra|opci[óo]n)\s+[(（]?([a-hA-H])[)）.]{1,2}(?=\s|$)",
    re.I,
)
_LONE_ANSWER = re.compile(
    rf"[(（\[]?([A-H])[)）\]]?\.?|((?:{CANCELLED.pattern})(?:\b|(?<=[.:,;–-])).*)", re.I
)
_BEFORE_WORDS = re.compile(r"[(（]?([A-H])(?:[)）.:．：]|\s*[-–—])?\s+(?=\S)")
_DISTINCT = 3
_BEGINS = re.compile(
    r"(?:solution|soluci[óo]n|solu[çc][ãa]o|resolu[çc][ãa]o|l[öo]sung|【解析】|解析|解)\s*[:：.】]?\s*",
    re.I,
)
_LETTER = re.compile(r"(?<![A-Za-z])[A-H](?![A-Za-z])")
_REPEATED = 80.0


@dataclass(frozen=True, slots=True)
class PrintedQuestion:
    """The statement and printed choices of a problem, to compare with solutions."""

    statement: str
    choices: str = ""


def read_solutions(
    flow: Sequence[Item],
    questions: Mapping[str, PrintedQuestion],
    words: frozenset[str],
    size: float = 10.0,
) -> tuple[Key, dict[str, str]]:
    """Return the stated answers and the texts of worked solutions, by problem number.

    `questions` are the problems of the paper: lines that repeat them are left out. If questions and
    a section of answers are in one file, both are read and the section takes precedence.
    """
    key, texts = Key(), dict[str, str]()
    names = Names(questions)
    for part in split_answers(flow, size):
        blocks = all_blocks(part, size, SOLUTIONS)[1]
        headed = read_heading_answers(blocks)
        for block in blocks:
            label = names.label(block.value, block.section)
            if label is None:
                continue
            lines, question = _body(block), questions[label]
            explanation = _explanation(lines, question)
            for answer in (
                read_stated_answer(lines)
                or headed.get(block.number)
                or _read_filled_letter(lines[: len(lines) - len(explanation)], question)
                or _read_concluded_letters(explanation, question)
            ):
                key.add(label, answer)
            text = paragraphs(explanation, words)
            if text:
                texts[label] = without_marks(text)
    return key, texts


def read_heading_answers(blocks: Sequence[ProblemBlock]) -> Key:
    """Return the answers at the start of each block of a list of solutions.

    Empty unless at least half of the blocks begin with a letter ("7) C", "Item b) ..."). Letters
    before words ("7) C because ...") may be words themselves: three of them must differ.
    """
    key = Key()
    bodies = {block.number: _body(block) for block in blocks}
    alone = {number: _heading_answer(lines) for number, lines in bodies.items()}
    alone = {number: answer for number, answer in alone.items() if answer}
    before = {number: _letter_before_words(lines) for number, lines in bodies.items()}
    before = {number: answer for number, answer in before.items() if answer}
    numbers = before | alone
    letters = {answer[0] for answer in before.values()}
    if len(blocks) < 2 or 2 * len(numbers) < len(blocks):
        return key
    if 2 * len(alone) < len(blocks) and len(letters) < _DISTINCT:
        return key
    for number, (answer,) in numbers.items():
        key.add(number, answer)
    return key


def _letter_before_words(lines: Sequence[Line]) -> list[str]:
    match = _BEFORE_WORDS.match(lines[0].text) if lines else None
    return [match[1]] if match and not split_choices(lines)[1] else []


def _body(block: ProblemBlock) -> list[Line]:
    lines = [item for item in block.items if isinstance(item, Line) and item.upright]
    lines = [line for line in lines if not is_heading(line.text)]
    if lines and block.end:
        lines[0] = replace(lines[0], text=lines[0].text[block.end :])
    return [line for line in lines if line.text]


def read_stated_answer(lines: Sequence[Line]) -> list[str]:
    """Return the stated answer of a solution: a marked choice, its first words, or `Answer:
    ...`."""
    marked = [option.letter for option in split_choices(lines)[1] if option.correct]
    if marked:
        return [", ".join(marked)]
    if heading := _heading_answer(lines):
        return heading
    for text in reversed(paragraphs(lines).split("\n\n")):
        if match := _STATED.search(text):
            answer = match["answer"] or match["only"]
            return [answer.rstrip(".") if len(answer) < 3 else answer]
    return []


def _heading_answer(lines: Sequence[Line]) -> list[str]:
    if lines and (match := _LONE_ANSWER.fullmatch(lines[0].text)):
        return [(match[1] or match[2]).upper()]
    if lines and (match := _ITEM.match(lines[0].text)):
        return [match[1].upper()]
    return []


def _read_concluded_letters(lines: Sequence[Line], question: PrintedQuestion) -> list[str]:
    letters = read_conclusion(paragraphs(lines)) if question.choices else []
    return [", ".join(letters)] if letters else []


def _read_filled_letter(repeated: Sequence[Line], question: PrintedQuestion) -> list[str]:
    """Return the only letter that is in a blank of the repeated question but not in the paper's.

    Letters in formulas are variables, and those of an explanation are not in a blank.
    """
    if not question.choices:
        return []
    statement = " ".join(i.text for i in split_choices(repeated)[0] if isinstance(i, Line))
    printed, filled = (
        Counter(_LETTER.findall(replace_formulas(text, lambda span: " ")))
        for text in (question.statement, statement)
    )
    extra = filled - printed
    return list(extra) if extra.total() == 1 else []


def _explanation(lines: Sequence[Line], question: PrintedQuestion) -> list[Line]:
    """Return the lines after `Solution:`, or after those that repeat the question."""
    for index, line in enumerate(lines):
        if match := _BEGINS.match(line.text):
            remainder = replace(line, text=line.text[match.end() :])
            return [remainder, *lines[index + 1 :]] if remainder.text else list(lines[index + 1 :])
    question_letters = _letters(question.statement + question.choices)
    start = 0
    while start < len(lines) and _repeats(lines[start].text, question_letters):
        start += 1
    return list(lines[start:])


def _repeats(text: str, question_letters: str) -> bool:
    from rapidfuzz import fuzz

    letters = _letters(text)
    if len(letters) < 4:
        return _letters(_LETTER.sub("", text)) in question_letters
    return bool(fuzz.partial_ratio(letters, question_letters) >= _REPEATED)


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())
