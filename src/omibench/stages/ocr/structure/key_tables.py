"""Keys as files or pages: tables, grids and lists of numbers and answers."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Final, NamedTuple

from glyphtex.latex import find_formulas, replace_formulas
from omibench.errors import FileFormatError, MissingInputError, PaperError
from omibench.files.reading import decode, read_bytes
from omibench.stages.ocr.layout.layout import Item, Line, get_lines
from omibench.stages.ocr.layout.reading_order import rows
from omibench.stages.ocr.structure.choices import NON_ASCII_LETTERS
from omibench.stages.ocr.structure.keys import CANCELLED, Key, Names, ProblemReference, is_number
from omibench.stages.ocr.structure.numbering import parse_label, section_name

KEY_SUFFIXES: Final = (".csv", ".tsv", ".txt")
LIMIT: Final = 4 * 2**20
"""The maximum size of a key in bytes: a thousand times that of a long exam."""
LONGEST: Final = 2_000
"""The maximum length of an answer in characters."""
_NUMBER_HEADS = {
    "number", "no", "no.", "nr", "nr.", "n", "#", "problem", "question", "item", "id", "q",
}  # fmt: skip
_ANSWER_HEADS = {"answer", "answers", "key", "solution", "correct", "gold", "a"}
_SEPARATORS = ".):=,、：．\t "
_MAX_EXCERPT = 60


class KeyLine(NamedTuple):
    """A line of the file: its line number, the problem's number, the answer."""

    line: int
    number: str
    answer: str


class Read(NamedTuple):
    """A key, and the lines whose number matches no problem."""

    key: Key
    strange: list[KeyLine]


def is_key_file(path: str) -> bool:
    """Return whether a key is a table or text, by its suffix."""
    return PurePath(path).suffix.lower() in KEY_SUFFIXES


def read_key_file(path: str, sha256: str | None, labels: Collection[str]) -> Read:
    """Return the key for the problems with these labels; `sha256` is the hash in the manifest.

    Raises PaperError `file_missing`, `sha256_mismatch`, or `key_unreadable` with the first line
    without a number.
    """
    try:
        content = read_bytes(path, LIMIT)
        text = decode(content, path)
    except MissingInputError as error:
        raise PaperError("file_missing", str(error)) from None
    except FileFormatError as error:
        raise PaperError("key_unreadable", str(error)) from None
    digest = hashlib.sha256(content).hexdigest()
    if sha256 and digest != sha256.lower():
        raise PaperError(
            "sha256_mismatch", f"{path}: has SHA-256 {digest}, but the manifest has {sha256}"
        )
    table = PurePath(path).suffix.lower() != ".txt"
    names, key, strange = Names(labels), Key(), list[KeyLine]()
    for entry in _table(path, text) if table else _lines(path, text):
        if len(entry.answer) > LONGEST:
            place = f"{path}, line {entry.line}"
            raise PaperError("key_unreadable", f"{place}: its answer has over {LONGEST} characters")
        label = names.find(entry.number)
        if label is None:
            strange.append(entry)
        else:
            key.add(label.label, entry.answer, label.part)
    return Read(key, strange)


def _table(path: str, text: str) -> Iterator[KeyLine]:
    rows = list(_rows(path, text))
    if not rows:
        return
    number, answer = _columns(rows[0][1])
    for line, cells in rows if number is None else rows[1:]:
        fewest_cells = max(number or 0, 1 if answer is None else answer)
        if len(cells) <= fewest_cells:
            raise _no_answer(path, line, ", ".join(cells))
        number_text = cells[number or 0].strip()
        if not is_number(number_text):
            raise _no_number(path, line, number_text)
        yield KeyLine(line, number_text, cells[1 if answer is None else answer].strip())


def _rows(path: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the non-empty rows, with the line on which each ends."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    marks = re.search(r"[\t;,]", first)
    delimiter = marks[0] if marks else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise PaperError(
            "key_unreadable", f"{path}, line {reader.line_num}: is not CSV: {error}"
        ) from None


def _columns(head: Sequence[str]) -> tuple[int, int] | tuple[None, None]:
    """Return the columns of number and answer if the first row has their headings."""
    names = [cell.strip().casefold() for cell in head]
    number = next((k for k, name in enumerate(names) if name in _NUMBER_HEADS), None)
    answer = next((k for k, name in enumerate(names) if name in _ANSWER_HEADS), None)
    return (None, None) if number is None or answer is None else (number, answer)


def _lines(path: str, text: str) -> Iterator[KeyLine]:
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if content and not content.startswith("#"):
            yield _entry(path, number, content)


def _entry(path: str, line: int, text: str) -> KeyLine:
    """Parse `3. C`, `3) C`, `3 C`, `B2: 5 m`, `4(a) 12`: the number ends at a mark or a space."""
    token = re.split(r"[\s,=:：、]", text, maxsplit=1)[0]
    answer = text[len(token) :].strip(_SEPARATORS)
    if answer and is_number(token):
        return KeyLine(line, token, answer)
    for end in range(1, len(text)):
        if text[end] in _SEPARATORS and is_number(text[:end]):
            return KeyLine(line, text[:end], text[end:].strip(_SEPARATORS))
    if is_number(text):
        raise _no_answer(path, line, text)
    raise _no_number(path, line, text)


def _no_number(path: str, line: int, text: str) -> PaperError:
    excerpt = text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]}..."
    return PaperError(
        "key_unreadable",
        f"{path}, line {line}: {excerpt!r} does not begin with the number of a problem",
    )


def _no_answer(path: str, line: int, text: str) -> PaperError:
    return PaperError(
        "key_unreadable", f"{path}, line {line}: {text[:_MAX_EXCERPT]!r} has no answer"
    )


# Keys that are lists of values: one line per problem, such as `2. $h=\frac{g}{2}t^{2}$`.

_ENTRY: Final = re.compile(
    r"(?P<number>[(（]?(?:[A-Z][-.]?)?\d{1,3}\s?(?:[)）.:：．、]|[(（]?[a-h][)）]))\s+(?P<answer>\S.*)"
)
_LETTERS: Final = re.compile(r"[(（]?[A-H][)）]?\.?(?:\s*[,/&]\s*[(（]?[A-H][)）]?\.?)*")
_POINTS: Final = re.compile(
    r"[\d.,½/ ]+(?:points?|pts|marks?|puntos?|pontos?|punkte?|punti|分)\.?", re.I
)
"""Points of a problem; a key of nothing else is a scheme of marks."""
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_MOST_WORDS: Final = 1
"""Words of four letters in a value, such as the name of a unit."""
_LONGEST: Final = 200
_FEWEST: Final = 2


def read_value_list(table: Sequence[Sequence[Line]], names: Names, key: Key) -> None:
    """Add the answers of a page whose lines are all a number and a value, after its title.

    A page with any other line adds nothing: it may be a list of worked solutions. Nor does one that
    lists the points of each problem.

    Args:
        table: Rows of a page.
        names: Labels of the problems.
        key: Key to extend.
    """
    answers: list[tuple[str, str]] = []
    for row in table:
        match = _ENTRY.fullmatch(" ".join(line.text for line in row))
        if match and _is_value(match["answer"]):
            answers.append((match["number"], match["answer"]))
        elif answers or match:
            return
    if len(answers) < _FEWEST or all(_POINTS.fullmatch(answer) for _, answer in answers):
        return
    # The key of a problem that was not read, or dropped, belongs to no other problem.
    found = [(names.find(number), answer) for number, answer in answers]
    entries = [(entry, answer) for entry, answer in found if entry]
    if len({entry for entry, _ in entries}) < len(entries):
        return
    for entry, answer in entries:
        key.add(entry.label, answer, entry.part)


def _is_value(answer: str) -> bool:
    """Return whether a text is letters of choices, or a number or formula with few words."""
    if _LETTERS.fullmatch(answer):
        return True
    words = _WORD.findall(replace_formulas(answer, lambda span: " "))
    holds_value = bool(find_formulas(answer)) or any(c.isdigit() for c in answer)
    return holds_value and len(words) <= _MOST_WORDS and len(answer) <= _LONGEST


# Keys that are tables, grids or lists: match answers with numbers.

Rows = Sequence[Sequence[Line]]

_ANSWERS = (
    r"answers?|(?:correct |right |final )?answer|keys?|correct(?: (?:choice|option))?|"
    r"solutions?|respuestas?|"
    r"respostas?|gabarito|claves?|alternativas?|antwort(?:en)?|l[öo]sung(?:en)?|r[ée]ponses?|"
    r"risposta|(?:ans|antw|resp|r[ée]p|sol)\.?|答案|正确答案"
)
_HEADS = re.compile(
    rf"problems?|questions?|numbers?|no\.?|nº|n°|#|items?|q\.?|problemas?|preguntas?|"
    rf"quest[õo]es|quest[ãa]o|"
    rf"aufgaben?|题号|编号|序号|{_ANSWERS}",
    re.I,
)
_ANSWER_HEAD = re.compile(_ANSWERS, re.I)
_OPENING = re.compile(rf"(?:{_ANSWERS}|answer key|参考答案)\s*[:：]\s*", re.I)
_DECIMAL = re.compile(r"[-+−]?\d+(?:[.,]\d+)?")
_SEPARATOR = r"\s*[.):\]】\-–.．、：]?\s*"
_LETTERS_TABULAR = (
    r"[(（]?[A-H](?![a-z])[)）]?(?:\s*[,/&、]\s*[(（]?[A-H][)）]?(?!\w))*|[A-H]{2,5}(?!\w)"
)
_ELSEWHERE = (
    rf"[(（]?[{NON_ASCII_LETTERS}](?!\w)[)）]?"
    rf"(?:\s*[,/&、]\s*[(（]?[{NON_ASCII_LETTERS}][)）]?(?!\w))*|[(（][1-8][)）]"
)
_SMALL = r"[(（]?[a-h][)）]?(?!\w)(?:\s*[,/&、]\s*[(（]?[a-h][)）]?(?!\w))*"
_PAIR = re.compile(
    rf"(?:(?P<section>[A-Z])[-.]?)?(?P<n>\d{{1,3}}){_SEPARATOR}"
    rf"(?P<answer>{_LETTERS_TABULAR}|{_ELSEWHERE}|{_SMALL}|(?i:{CANCELLED.pattern}))(?!\w)[\s,;|.；，。]*"
)
_MARK = re.compile(r"(?<!\S)(?P<n>\d{1,3})\s?[-–.):．、]\s*(?=\S)")
_LONGEST_PAIR = 24
_RANGE = re.compile(
    r"(?P<first>\d{1,3})\s*(?:[-–—~～]|至|to)\s*(?P<last>\d{1,3})\s*(?:题)?\s*[:：.．、]?\s*"
    r"(?P<letters>[A-H]{1,4}(?:[\s,，、]*[A-H]{1,4})*)(?!\w)[\s,;|.；，。]*"
)


def read_key(flow: Sequence[Item], labels: Collection[str]) -> Key:
    """Read a key for the problems `labels` as a table or a list, whichever gives more answers.

    If problems of several sections share a number, the titles of the key's sections decide.
    """
    sections = {section for section, _ in map(parse_label, labels)}
    keys = [Key() for _ in _READERS]
    for section, lines in _parts(flow, sections):
        names = Names(labels, section)
        for page in sorted({line.page for line in lines}):
            readings = [
                get_lines(row) for row in rows([line for line in lines if line.page == page])
            ]
            for key, read in zip(keys, _READERS, strict=True):
                read(readings, names, key)
    return max(keys, key=len)


def _parts(flow: Sequence[Item], sections: Collection[str]) -> list[tuple[str, list[Line]]]:
    """Return the lines of a key by section title; the first section has no title."""
    parts: list[tuple[str, list[Line]]] = [("", [])]
    for item in flow:
        if isinstance(item, Line) and item.upright:
            name = section_name(item.text) if item.starts and len(item.text) < 60 else ""
            if name and name in sections:
                parts.append((name, []))
            else:
                parts[-1][1].append(item)
    return parts


def _read_table(table: Rows, names: Names, key: Key) -> None:
    """Return rows of number and answer, once or several times side by side; an answer may wrap."""
    entries: list[tuple[ProblemReference, list[str]]] = []
    answer_edge = None
    for row in table:
        cells = [] if _is_data(row) else _cells(row, names)
        if cells:
            entries += [(entry, [text] if text else []) for entry, text, _ in cells]
            answer_edge = cells[-1][2]
        elif entries and answer_edge is not None and row and abs(row[0].box.x0 - answer_edge) < 2.5:
            if not _HEADS.fullmatch(row[0].text):
                entries[-1][1].append(" ".join(line.text for line in row))
        else:
            answer_edge = None
    for entry, texts in entries:
        key.add(entry.label, " ".join(texts), entry.part)


def _is_data(row: Sequence[Line]) -> bool:
    """Return whether a row has measured values: a number and four more are not a number with its
    key."""
    if len(row) < 5 or not all(_DECIMAL.fullmatch(line.text) for line in row[:5]):
        return False
    return not all(line.text.isdigit() for line in row[:5:2])


def _cells(row: Sequence[Line], names: Names) -> list[tuple[ProblemReference, str, float]]:
    """Return (problem, answer, left edge of the answer) of each pair of a row; empty if not a row
    of pairs."""
    cells: list[tuple[ProblemReference, str, float]] = []
    expects_answer = False
    for line in row:
        entry = names.find(line.text)
        if entry and not expects_answer:
            cells.append((entry, "", line.box.x1))
            expects_answer = True
        elif not cells:
            return []
        else:
            number, text, _ = cells[-1]
            edge = line.box.x0 if expects_answer else cells[-1][2]
            cells[-1] = (number, f"{text} {line.text}".strip(), edge)
            expects_answer = False
    return [cell for cell in cells if cell[1]]


def _read_headed(table: Rows, names: Names, key: Key) -> None:
    """Return a table of at least three columns, one of them headed `Answer`."""
    column: Line | None = None
    remaining_lines: list[Line] = []
    for row in table:
        heads = [line for line in row if _ANSWER_HEAD.fullmatch(line.text)]
        if len(row) >= 3 and len(heads) == 1 and names.find(row[0].text) is None:
            column, remaining_lines = heads[0], [line for line in row if line is not heads[0]]
            continue
        entry = names.find(row[0].text) if row else None
        if column is None or entry is None:
            continue
        cells = [line for line in row[1:] if _nearest(line, [column, *remaining_lines]) is column]
        if len(cells) == 1:
            key.add(entry.label, cells[0].text, entry.part)
        elif not cells and row[1:] and not entry.part:
            key.blank.add(entry.label)


def _nearest(line: Line, heads: Sequence[Line]) -> Line:
    return min(heads, key=lambda h: (max(0.0, line.box.gap_x(h.box)), abs(line.box.x0 - h.box.x0)))


def _read_grid(table: Rows, names: Names, key: Key) -> None:
    """Return a row of numbers above a row of answers, paired by position."""
    for above, below in pairwise(table):
        heads = [(line, names.find(line.text)) for line in above if _is_count(line.text)]
        counts = [(line, entry.label) for line, entry in heads if entry]
        cells = [line for line in below if not _HEADS.fullmatch(line.text)]
        if len(cells) == len(counts) + 1 and _is_head(cells[0], [line for line, _ in heads]):
            cells = cells[1:]
        # A grid that continues below can end with a short row.
        fewest_numbers = 1 if len(key) and above and _HEADS.fullmatch(above[0].text) else 3
        if (
            len(counts) < fewest_numbers
            or len(counts) != len(cells)
            or any(_is_count(c.text) for c in cells)
        ):
            continue
        for (head, number), cell in zip(counts, cells, strict=True):
            if head.box.grow(6, 0).gap_x(cell.box) < 0:
                key.add(number, cell.text)


def _is_head(cell: Line, numbers: Sequence[Line]) -> bool:
    """Return whether a cell is the heading left of a row of consecutive numbers."""
    values = [int(digits[0]) for line in numbers if (digits := re.findall(r"\d+", line.text))]
    return (
        len(values) == len(numbers) > 2
        and values == list(range(values[0], values[0] + len(values)))
        and cell.box.x1 < numbers[0].box.x0 - 6
        and not re.fullmatch(r"\W*[A-Za-z\d]?\W*", cell.text)
    )


def _is_count(text: str) -> bool:
    return re.fullmatch(r"[A-Z]?\d{1,3}[.)]?", text) is not None


def _read_list(table: Rows, names: Names, key: Key) -> None:
    """Return lines that consist of pairs such as `1. B`, `2) C`, `3-A`, or runs such as `1-5
    ABCDA`."""
    for row in table:
        text = _OPENING.sub("", " ".join(line.text for line in row), count=1)
        place = 0
        read: list[tuple[str | None, str]] = []
        while place < len(text):
            run, pair = _RANGE.match(text, place), _PAIR.match(text, place)
            entries = _run(run, names) if run else None
            if run and entries is not None:
                read += entries
                place = run.end()
            elif pair:
                label = names.label(int(pair["n"]), pair["section"] or "")
                read.append((label, _spell_answer(pair["answer"])))
                place = pair.end()
            else:
                break
        if not place or place < len(text):
            read = _around_gaps(text, names, key)
        for label, answer in read:
            if label:
                key.add(label, answer)


def _around_gaps(text: str, names: Names, key: Key) -> list[tuple[str | None, str]]:
    """Return the pairs of a line of at least three numbers in a row, some without a clear answer.

    Those are noted in the key as unread. None if most are unclear, since it may not be a list.
    """
    marks = list(_MARK.finditer(text))
    values = [int(mark["n"]) for mark in marks]
    if len(marks) < 3 or marks[0].start() or values != list(range(values[0], values[-1] + 1)):
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    chunks = [text[m.start() : end].strip() for m, end in zip(marks, ends, strict=True)]
    pairs = [_PAIR.fullmatch(chunk) for chunk in chunks]
    if 2 * sum(map(bool, pairs)) <= len(pairs) or max(map(len, chunks)) > _LONGEST_PAIR:
        return []
    for value, chunk, pair in zip(values, chunks, pairs, strict=True):
        if not pair and (label := names.label(value)):
            key.unread[label] = chunk
    answers = [(names.label(int(p["n"]), p["section"] or ""), p["answer"]) for p in pairs if p]
    return [(label, _spell_answer(answer)) for label, answer in answers]


def _spell_answer(answer: str) -> str:
    """Return a list of letters as `A, C`, one letter as `B`; other text as printed."""
    answer = answer.strip()
    if CANCELLED.fullmatch(answer):
        return answer
    return ", ".join(re.findall(r"[A-H]", answer.upper())) or answer


def _run(run: re.Match[str], names: Names) -> list[tuple[str | None, str]] | None:
    """Return the answers of `1-5 ABCDA` or `1-3 A BC D`; None unless there is one per number."""
    first, last = int(run["first"]), int(run["last"])
    words, letters = re.findall(r"[A-H]+", run["letters"]), re.findall(r"[A-H]", run["letters"])
    answers = next((a for a in (letters, words) if len(a) == last - first + 1), None)
    if answers is None or last <= first:
        return None
    return [(names.label(first + k), ", ".join(answer)) for k, answer in enumerate(answers)]


_READERS = (_read_headed, _read_table, _read_grid, _read_list, read_value_list)
