"""The answers and solutions of one paper, from its section, its key and its solutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.schemas.problem import Problem, ProblemWarning
from omibench.stages.ocr.layout.layout import Item
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure.document import FAILED, UNREAD, Document
from omibench.stages.ocr.structure.key_tables import is_key_file, read_key, read_key_file
from omibench.stages.ocr.structure.keys import Key, as_letters, read_words_behind_letter
from omibench.stages.ocr.structure.solutions import PrintedQuestion, read_solutions
from omibench.text.lists import list_first

if TYPE_CHECKING:
    import pymupdf

    OpenFile = Callable[[str], tuple[pymupdf.Document, Document, list[str]]]

_MAX_EXCERPT = 60


class Answers:
    """The answers and solutions of one source, from all its files."""

    def __init__(self, source: Source, problems: Sequence[Problem], block_key: Key) -> None:
        """Set the problems, and the answers in their own blocks."""
        self._source, self._block_key = source, block_key
        self._asked = {p.number: _build_question(p) for p in problems}
        self._key, self._stated = Key(), Key()
        self._solutions: dict[str, str] = {}
        self.codes: list[str] = []
        self.where: dict[str, str] = {}
        self.unread: dict[str, list[str]] = {}
        """By code, the pages of key and solutions that were not read in time, or that failed."""

    def add_section(self, flow: Sequence[Item], document: Document) -> None:
        """Read the section of answers at the end of the paper itself."""
        if flow:
            self._key = read_key(flow, self._asked.keys())
            self._stated, self._solutions = read_solutions(flow, self._asked, document.words)

    def add_files(self, open_file: OpenFile) -> None:
        """Read the key and solutions given in the manifest; they override the section."""
        source = self._source
        for path in dict.fromkeys(p for p in (source.key, source.solutions) if p):
            if path == source.key and is_key_file(path):
                self._add_key_file(path)
                continue
            _, document, codes = open_file(path)
            self.codes += [*codes, *document.codes]
            for code in {UNREAD, FAILED} & set(document.codes):
                pages = f"{document.locate_codes()[code]} of {Path(path).name}"
                self.unread.setdefault(code, []).append(pages)
            stated, texts = read_solutions(
                document.flow, self._asked, document.words, document.size
            )
            key = read_key(document.flow, self._asked.keys())
            if path == source.key:
                self._key = key if len(key) >= len(stated) else stated
            else:
                self._stated = stated
            if path == source.solutions:
                self._solutions |= texts
            explains = path == source.solutions and bool(texts)
            if self._asked and not len(key) and not len(stated) and not explains:
                self.codes.append("key_unread")

    def _add_key_file(self, path: str) -> None:
        sha256 = self._source.sha256.get(path)
        self._key, strange = read_key_file(path, sha256, self._asked.keys())
        if strange:
            self.codes.append("key_number_unknown")
            lines = [f"line {entry.line} ({entry.number!r})" for entry in strange]
            self.where["key_number_unknown"] = f"{Path(path).name}: {list_first(lines, 5)}"
        if self._asked and not len(self._key):
            self.codes.append("key_unread")

    def complete(self, problem: Problem) -> Problem:
        """Return a problem with its answer and solution."""
        keys = (self._key, self._stated, self._block_key)
        return with_answers(problem, keys, self._solutions.get(problem.number))


def _build_question(problem: Problem) -> PrintedQuestion:
    choices = " ".join(f"({c.label}) {c.text or ''}" for c in problem.choices or [])
    return PrintedQuestion(problem.question, choices)


def with_answers(problem: Problem, keys: Sequence[Key], solution: str | None) -> Problem:
    """Return the problem with the answer of the first key that has one, and its solution.

    `keys` are ordered by reliability: the key, the worked solutions, and the problems' own blocks.
    The answer is missing if one of them cancels the problem or has the number twice, or if the
    first is unreadable or not one of the problem's choices. Text after the letter in a key is the
    solution if it is the only one.
    """
    number = problem.number
    printed = [answer for key in keys if (answer := key.get(number))]
    answers = [letters for answer in printed if (letters := as_letters(answer, problem.choices))]
    unread = next(
        (f"{key.unread[number]} is no answer" for key in keys if number in key.unread), ""
    )
    if not unread and printed and not as_letters(printed[0], problem.choices):
        unread = f"{_shorten('; '.join(printed[0]))} is not a choice"
    behind = (
        words for answer in printed if (words := read_words_behind_letter(answer, problem.choices))
    )
    warnings = list(problem.warnings)
    conflict = next((answer for answer in answers if answer != answers[0]), None)
    if conflict:
        detail = f"key {answers[0]}, solution {conflict}"
        warnings.append(ProblemWarning("answer_conflict", detail))
    doubtful = any(number in key.doubtful for key in keys)
    cancelled = any(number in key.cancelled for key in keys)
    if doubtful:
        warnings.append(ProblemWarning("answer_doubtful", "the key gives this number twice"))
    if cancelled:
        warnings.append(ProblemWarning("answer_cancelled"))
    if unread:
        warnings.append(ProblemWarning("answer_unread", unread))
    return problem.model_copy(
        update={
            "answer": None if doubtful or cancelled or unread or not answers else answers[0],
            "solution": solution or problem.solution or next(behind, None),
            "warnings": warnings,
        }
    )


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]}..."
