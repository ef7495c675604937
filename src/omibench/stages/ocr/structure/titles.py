"""Titles inside a paper: starts of sections and answers, and the end of the paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.structure.numbering import read_number, read_rare_number
from omibench.stages.ocr.structure.subjects import is_heading, subject_word
from omibench.stages.ocr.structure.tasks import asks_for_work

_KINDS = (
    r"multiple[- ]choice|single[- ]choice|short[- ]answers?|long[- ]answers?|free[- ]response|"
    r"true(?:[ /-]+| or )false|fill in the blanks?|theor(?:y|etical)|experimental|practical|"
    r"data analysis|"
    r"opci[óo]n m[úu]ltiple|m[úu]ltipla escolha|respuesta (?:corta|abierta)|"
    r"quest[õo]es (?:abertas|objetivas|"
    r"discursivas)|problemas|einfachauswahl|mehrfachauswahl|选择题|填空题|简答题|计算题|解答题|"
    r"判断题|实验题|"
    r"論述題|選擇題|non[- ]?multiple"
)
_TITLE = re.compile(
    rf"(?:(?:section|part|paper|round|day|teil|secci[óo]n|parte|se[çc][ãa]o|abschnitt|partie|"
    rf"sezione|"
    rf"раздел|часть)\s+(?P<name>[A-H]|[IVX]{{1,4}}|\d)\b|(?P<letter>[A-H]|[IVX]{{1,4}}|"
    rf"[一二三四五六七八九十])\s*"
    rf"[、.．:)])|{_KINDS}",
    re.I,
)
_NOT_PROBLEMS = re.compile(
    r"instruction|rule|note|guideline|direction|constant|formula|contents|credit|information|"
    r"data sheet|"
    r"注意|说明|须知|常数|instru[çc]|instruc|regla|regra|constante|hinweis|konstante|normas",
    re.I,
)
_ANSWERS = re.compile(
    r"[\W\d_]*(?:(?:official|suggested|brief|short|final|worked|model|full|detailed|correct|right|"
    r"richtige|korrekte)\s+|(?:plantilla|hoja|tabla|folha|tabela|grille|table|list)\s+(?:des?|of)\s+"
    r"(?:las\s+|les\s+)?)*"
    r"(?:answers?(?:\s*(?:keys?|sheet key|and (?:explanations|solutions)))?|solutions?|"
    r"keys?(?: to .{3,40})?|"
    r"(?:(?:answers?|solutions?) (?:to|for) .{3,60})|mark(?:ing)? schemes?|"
    r"clave(?: de respuestas)?|respuestas|soluciones|gabarito(?: oficial)?|respostas|"
    r"resolu[çc](?:[ãa]o|[õo]es)|solu[çc](?:[ãa]o|[õo]es)|corrig[ée]s?|r[ée]ponses|"
    r"l[öo]sungen|l[öo]sungsschl[üu]ssel|antworten|soluzioni|risposte|ответы|решения|"
    r"rozwi[ąa]zania|"
    r"odpowiedzi|参考答案(?:[及与和](?:解析|评分标准|详解))?|答案(?:[及与和]解析)?|试题答案|"
    r"解答|解析|正解|模範解答|정답)"
    r"(?:\s+(?:correctas?|corretas|corrette|correctes|oficiales|oficiais|esatte))?[\W_]*",
    re.I,
)
_LETTER_OF_KEY = re.compile(r"[\W_]*\d{1,3}[\W_]+[A-Ja-j][\W_]*")
_FEWEST_OF_KEY = 3
_FEW_WORDS = re.compile(r"[^\W\d_]{2,}(?: [^\W\d_]+){0,4}\s*[:：]?")
_KEY = re.compile(
    r"[\W_]*(?:answer keys?|key|mark(?:ing)? schemes?|clave de respuestas|gabarito(?: oficial)?|"
    r"l[öo]sungsschl[üu]ssel|参考答案)[\W_]*",
    re.I,
)
_END = re.compile(
    r"[\W_]*(?:the\s+)?end(?: of (?:the )?(?:paper|exam(?:ination)?|test|questions?|problems?|"
    r"section .))?[\W_]*|"
    r"[\W_]*(?:fin del examen|fim da prova|ende der (?:klausur|pr[üu]fung)|全卷完|试题结束|"
    r"試題完)[\W_]*",
    re.I,
)
_LISTED = re.compile(r"[(（]?(?:[a-hA-H]|\d{1,2}|[ivx]{1,4})[)）.]")
_POINTS = re.compile(r"\b(?:points?|pts|marks?|puntos|pontos|punkte)\b", re.I)
_LONGEST = 60
_INTRODUCTION = 8
"""The maximum number of lines between the title of a section and its first problem."""


def section_name(text: str) -> str:
    """Return the letter or number in the title of a section, if any."""
    match = _TITLE.match(text)
    return ((match["name"] or match["letter"] or "") if match else "").upper()


def opens_section(item: Item, size: float) -> bool:
    """Return whether an item is the title of a section of problems.

    It has the words of a section title ("Section B", "二、填空题", "Multiple choice"), or it is
    short, stands out from the body by weight or size, and is not a title of instructions, constants
    or answers.
    """
    if not isinstance(item, Line) or not item.upright or not item.starts:
        return False
    text = item.text
    if len(text) > _LONGEST or _NOT_PROBLEMS.search(text) or _ANSWERS.fullmatch(text):
        return False
    if is_heading(text) and (_TITLE.match(text) or subject_word(text)):
        return True
    stands_out = item.bold or item.size > 1.1 * size
    if _TITLE.match(text):
        return stands_out or text.isupper() or _TITLE.fullmatch(text) is not None
    return stands_out and read_number(text) is None and not re.search(r"[.?!:,;。？，]$", text)


def without_titles(
    items: Sequence[Item], size: float, *, restarts: bool
) -> tuple[list[Item], list[Item]]:
    """Return the items of a problem without the section that starts after it, and without titles.

    `restarts`: the next problem is number 1, so a section does start here. Otherwise only titles
    are left out, with introductions of the section ("Each problem is worth four points.") but no
    questions.
    """
    if restarts:
        begins = range(len(items) - 1, max(0, len(items) - 1 - _INTRODUCTION), -1)
        opening = next((k for k in begins if opens_section(items[k], size)), len(items))
        return list(items[:opening]), list(items[opening:])
    titles = [k for k in range(1, len(items)) if _is_prominent_heading(items[k], size)]
    kept_items = [item for k, item in enumerate(items) if k not in titles]
    after = items[titles[-1] + 1 :] if titles else []
    if len(after) <= _INTRODUCTION and all(isinstance(i, Line) and _tells(i.text) for i in after):
        kept_items = kept_items[: len(kept_items) - len(after)]
    return kept_items, [items[k] for k in titles]


def _is_prominent_heading(item: Item, size: float) -> bool:
    if not isinstance(item, Line) or not item.starts:
        return False
    return (item.bold or item.size > 1.05 * size) and is_heading(item.text)


def _tells(text: str) -> bool:
    """Return whether a line can introduce a section: it neither asks nor starts a part or a
    choice."""
    return not (asks_for_work(_POINTS.sub("", text)) or _LISTED.match(text))


def is_end(item: Item) -> bool:
    """Return whether a line marks the end of the paper."""
    return isinstance(item, Line) and item.starts and _END.fullmatch(item.text) is not None


def split_answers(flow: Sequence[Item], size: float) -> tuple[list[Item], list[Item]]:
    """Return the paper and the section of answers at its end, if any.

    The section has a title, such as "Answer key" or 参考答案, after at least two numbered lines. A
    title in the type of the body counts only if it is alone in its row and the numbers after it
    restart; if they continue, it belongs to a single problem. Unknown titles are detected by the
    text after them: numbers that restart, each with only a letter.
    """
    lines = [(k, i) for k, i in enumerate(flow) if isinstance(i, Line) and i.upright and i.starts]
    usual = {k: number.value for k, line in lines if (number := read_number(line.text))}
    rare = {k: number.value for k, line in lines if (number := read_rare_number(line.text))}
    titles = {
        k: title
        for k, line in lines
        if k not in usual and _ANSWERS.fullmatch(title := _close_letter_spaces(line.text))
    }
    inside: set[str] = set()
    for index, title in titles.items():
        before = [value for k, value in usual.items() if k < index]
        if len(before) < 2:
            before = [value for k, value in rare.items() if k < index]
        after = [v for k, v in usual.items() if k > index] or [
            v for k, v in rare.items() if k > index
        ]
        if len(before) < 2:
            continue
        follows = max(before) + 1
        repeated = list(titles.values()).count(title) > 1
        if title in inside or (follows in after and (after[0] == follows or repeated)):
            inside.add(title)
            continue
        line = flow[index]
        prominent = isinstance(line, Line) and (line.bold or line.size > 1.1 * size)
        alone = not any(_beside(line, neighbour) for neighbour in flow[index + 1 : index + 3])
        restarts = bool(after) and after[0] < follows
        if prominent or (alone and (restarts or _KEY.fullmatch(title))):
            return list(flow[:index]), list(flow[index + 1 :])
    begin = _key_begins(lines, usual)
    if begin is None:
        return list(flow), []
    end = begin - 1 if _may_be_title(flow[begin - 1]) else begin
    return list(flow[:end]), list(flow[begin:])


def _key_begins(lines: Sequence[tuple[int, Line]], values: Mapping[int, int]) -> int | None:
    """Return the start of numbered letters that restart and end the paper, if any."""
    numbered = [(k, line.text) for k, line in lines if k in values]
    tail: list[int] = []
    while numbered and _LETTER_OF_KEY.fullmatch(numbered[-1][1]):
        tail.insert(0, numbered.pop()[0])
    question_numbers = [values[k] for k, _ in numbered]
    restarts = bool(tail) and bool(question_numbers) and values[tail[0]] <= question_numbers[0]
    other_texts = [line.text for k, line in lines if tail and k > tail[0] and k not in values]
    short = all(len(text) <= _LONGEST for text in other_texts)
    if restarts and short and len(tail) >= max(_FEWEST_OF_KEY, len(question_numbers) / 2):
        return tail[0]
    return None


def _may_be_title(item: Item) -> bool:
    """Return whether a line is only a few words: not a choice, a value or the end of a sentence."""
    return isinstance(item, Line) and item.starts and _FEW_WORDS.fullmatch(item.text) is not None


def _close_letter_spaces(text: str) -> str:
    """Remove the space between spaced-out letters: 参 考 答 案."""
    return re.sub(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])", "", text)


def _beside(line: Item, item: Item) -> bool:
    return (
        isinstance(line, Line)
        and isinstance(item, Line)
        and item.page == line.page
        and abs(item.baseline - line.baseline) < 0.5 * line.size
    )
