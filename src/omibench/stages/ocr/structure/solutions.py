"""Worked solutions: their problems, and the choice that their words name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from glyphtex.latex import replace_formulas
from omibench.stages.ocr.layout.layout import Item, Line, Picture, get_lines, get_text
from omibench.stages.ocr.layout.reading_order import paragraphs, without_marks
from omibench.stages.ocr.structure.choices import ARROW, NON_ASCII_LETTERS, split_choices
from omibench.stages.ocr.structure.keys import CANCELLED, Key, Names
from omibench.stages.ocr.structure.numbering import figure_numbers, is_heading, split_answers
from omibench.stages.ocr.structure.segment import SOLUTIONS, ProblemBlock, all_blocks

# Find the choice in the words of a worked solution: "so (B) is correct", 故选 C, "letra D".

_LETTER = r"[(（\[]?(?P<letter>[A-H])[)）\]]?(?![\w'’]|\s*[-–=+])"
_ANSWER = r"(?:answer|key|respuesta|resposta|antwort|l[öo]sung|r[ée]ponse|risposta)"
_NOUN = (
    rf"(?:{_ANSWER}|option|choice|response|alternativ[ae]|opci[óo]n|op[çc][ãa]o|letra|letter|item)"
)
_RIGHT = r"(?:correct|right|corret[ao]|correct[ao]|certa|richtige?|bonne|corretta|exacte)"
_IS = r"(?:is|was|would be|must be|é|es|ist|est|è|lautet)"
_FILL = rf"(?:therefore|thus|hence|a|o|la|el|l['’])?\s*(?:{_NOUN}\s*)?[:：]?\s*"
_ENDS = r"\s*(?:[.,;。]|$|because|since|as\b)"
_PATTERNS = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b(?:{_RIGHT}\s+{_NOUN}|{_NOUN}\s+{_RIGHT})\s*{_IS}?\s*{_FILL}{_LETTER}{_ENDS}",
        rf"\b{_ANSWER}\s+{_IS}\s+{_FILL}{_LETTER}{_ENDS}",
        rf"\b{_NOUN}\s+{_LETTER}\s+{_IS}\s+(?:the\s+|a\s+|la\s+|die\s+)?{_RIGHT}",
        rf"[(（](?P<letter>[A-H])[)）]\s+{_IS}\s+(?:the\s+|a\s+|la\s+|die\s+)?{_RIGHT}",
        r"(?:故|应|因此|所以)?(?:本题)?(?:正确)?(?:选|答案)(?:项)?(?:为|是)?\s*[:：]?\s*"
        r"(?P<several>[A-H]{1,4})(?![A-Za-z])(?:\s*[.。．，,；;）)]|\s*$|\s*项)",
        r"\\boxed\{\s*\(?(?:\\text\{)?\s*\(?(?P<letter>[A-H])\)?\s*\}?\)?\s*\}",
    )
]
_DENIED = re.compile(
    r"\b(?:not|isn't|wrong|incorrect|false|n[ãa]o|no|nicht|falsch|incorret[ao])\b|不|错", re.I
)


def read_conclusion(text: str) -> list[str]:
    """Return the letters of the only answer that a text concludes with; none if it has several."""
    conclusions: list[list[str]] = []
    for sentence in re.split(r"(?<=[.。．!?;；\n])\s*(?=\S)", text):
        if _DENIED.search(sentence):
            continue
        for pattern in _PATTERNS:
            for match in pattern.finditer(sentence):
                letters = _letters(match)
                if letters:
                    conclusions.append(letters)
    return (
        conclusions[0]
        if conclusions and all(letters == conclusions[0] for letters in conclusions)
        else []
    )


def _letters(match: re.Match[str]) -> list[str]:
    # Case is ignored above: a small letter without brackets is an article or a variable.
    groups = match.groupdict()
    if letter_list := groups.get("several"):
        return (
            list(letter_list)
            if letter_list.isupper() and letter_list == "".join(sorted(letter_list))
            else []
        )
    letter = groups.get("letter") or ""
    in_brackets = match.string[: match.start("letter")].endswith(("(", "（"))
    return [letter.upper()] if letter.isupper() or (letter and in_brackets) else []


# Worked solutions: separate explanations, repeated questions and the stated answers.

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
_LONE_LETTER = re.compile(r"(?<![A-Za-z])[A-H](?![A-Za-z])")
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
    lines = [line for line in get_lines(block.items) if line.upright]
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
    statement = get_text(split_choices(repeated)[0])
    printed, filled = (
        Counter(_LONE_LETTER.findall(replace_formulas(text, lambda span: " ")))
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
    question_letters = _squeeze(question.statement + question.choices)
    start = 0
    while start < len(lines) and _repeats(lines[start].text, question_letters):
        start += 1
    return list(lines[start:])


def _repeats(text: str, question_letters: str) -> bool:
    from rapidfuzz import fuzz

    letters = _squeeze(text)
    if len(letters) < 4:
        return _squeeze(_LONE_LETTER.sub("", text)) in question_letters
    return bool(fuzz.partial_ratio(letters, question_letters) >= _REPEATED)


def _squeeze(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


# Papers with the key's letters printed in the blanks of multiple-choice problems.

_WIDE = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef_]"
_FILLED = re.compile(
    rf"(?<={_WIDE})\s*(?P<wide>[A-H])\s*(?={_WIDE})|(?<=\()\s+(?P<narrow>[A-H])\s+(?=\))"
)
_CLOSING = re.compile(r"[\s)）_．。.：:]*")
_FEWEST = 2


def empty_blanks(
    problems: Sequence[tuple[Sequence[Item], Collection[str]]],
) -> list[tuple[list[Item], str | None]]:
    """Remove the letters from filled blanks; return each problem's statement and letter, or None.

    `problems` are statements with the letters of their choices. A letter counts as filled in if it
    is the only one alone between brackets or in Chinese text, and only if at least half of
    the multiple-choice statements, and at least two, end with such a letter.
    """
    blanks = [
        _find_filled_blank(items, letters) if letters else None for items, letters in problems
    ]
    with_choices = sum(bool(letters) for _, letters in problems)
    closing = sum(place is not None and place[2] for place in blanks)
    if closing < _FEWEST or 2 * closing < with_choices:
        return [(list(items), None) for items, _ in problems]
    return [
        (list(items), None) if place is None else (_cut(items, place[1]), place[0])
        for (items, _), place in zip(problems, blanks, strict=True)
    ]


def _find_filled_blank(
    items: Sequence[Item], letters: Collection[str]
) -> tuple[str, slice, bool] | None:
    """Return the letter in the blank, its position in the joined lines, and whether it ends
    them."""
    text = _join_lines(items)
    matches = [m for m in _FILLED.finditer(text) if (m["wide"] or m["narrow"]) in letters]
    if len(matches) != 1:
        return None
    (match,) = matches
    ends = _CLOSING.fullmatch(text, match.end()) is not None
    return match["wide"] or match["narrow"], slice(match.start(), match.end()), ends


def _join_lines(items: Sequence[Item]) -> str:
    return "\n".join(line.text for line in get_lines(items))


def _cut(items: Sequence[Item], place: slice) -> list[Item]:
    """Return the items without the characters at `place` of their joined lines."""
    remaining: list[Item] = []
    start = 0
    for item in items:
        if isinstance(item, Line):
            a, b = (min(max(k - start, 0), len(item.text)) for k in (place.start, place.stop))
            remaining.append(replace(item, text=item.text[:a] + item.text[b:]))
            start += len(item.text) + 1
        else:
            remaining.append(item)
    return remaining


# Separate answers and solutions printed in a paper's problems from their statements.
#
# Text after the mark must never be sent to a model, since it reveals the answer.

_PLACE = r"(?:^|(?<=\s)|(?<=[。？！．）]))"
_SOLUTION = re.compile(
    rf"{_PLACE}(?:(?:solutions?|soluci[óo]n|solu[çc][ãa]o|resolu[çc][ãa]o|l[öo]sung|解析|解答?)\s*[:：]|"
    r"【(?:参考)?(?:解析|解答|答案)】)\s*",
    re.I,
)
_ANSWER_INLINE = re.compile(
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
        named = figure_numbers(get_text(statement))
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
    matches = (m for m in _ANSWER_INLINE.finditer(line.text) if _gives(m, items, index))
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
    lines = get_lines(solution)
    match = _ANSWER_INLINE.match(lines[0].text) if lines else None
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
