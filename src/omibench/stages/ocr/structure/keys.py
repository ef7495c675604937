"""The contents of a key, and the printed forms of an answer.

An answer that is missing or contradictory in a key is None, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from glyphtex.latex import find_formulas, normalise, replace_formulas, split_outside
from omibench.schemas.problem import Choice
from omibench.stages.ocr.structure.choices import LATIN, is_foreign, read_labels, same_letter
from omibench.stages.ocr.structure.numbering import format_label, parse_label, roman_value

_NUMBER = re.compile(
    r"[(（\[【]?(?:(?:problems?|questions?|problemas?|preguntas?|quest[ãa]o|aufgabe|frage|item|"
    r"task|exercise|"
    r"probl[èe]me|exercice|第|Q|№|#|n[oº°]\.?)\s*)?"
    r"(?:(?P<section>[A-Z]|[IVX]{1,4}(?=[-.]))[-.]?)?(?P<n>\d{1,3}|[IVX]{1,5})"
    r"\s*(?P<part>[(（.]?[a-h][)）]?)?\s*[.):\]】．、：]*\s*题?\s*[)）】]?",
    re.I,
)
_DASH = re.compile(r"[\s—–\-_.·]*")
CANCELLED = re.compile(
    r"(?:cancel+ed|void(?:ed)?|annul+ed|deleted|removed|withdrawn|anulad[ao]|annul[ée]e?|"
    r"annullat[ao]|"
    r"gestrichen|作废|删除)\W*",
    re.I,
)
_SEMICOLON = re.compile(r"\s*[;；](?=\s|$)")
_LETTER = re.compile(r"[(（\[]?([A-H])[)）\]]?[.)]?")
_LETTERS = re.compile(r"[(（]?[A-H][)）]?(?:\s*[,/&、]\s*[(（]?[A-H][)）]?)+")


@dataclass(slots=True)
class Key:
    """The answers of a key by label; `doubtful` ones are contradictory.

    `unread` contains texts for a number that are not readable as its answer.
    """

    answers: dict[str, list[str]] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    unread: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, number: str, text: str, part: str = "") -> None:
        """Add the text for a number; a second, different answer makes it doubtful.

        With a `part`, such as "a", it is the answer of one sub-question.
        """
        if _DASH.fullmatch(text):
            self.blank.add(number)
        elif CANCELLED.fullmatch(text):
            self.cancelled.add(number)
        elif part:
            parts = self.parts.setdefault(number, {})
            if parts.setdefault(part, text) != text:
                self.doubtful.add(number)
            self.answers[number] = [f"({name}) {answer}" for name, answer in parts.items()]
        else:
            answer = parse_answer(text)
            if self.answers.setdefault(number, answer) != answer:
                self.doubtful.add(number)

    def get(self, number: str) -> list[str] | None:
        """Return the answer of a number; None unless the key has exactly one."""
        if number in self.doubtful | self.cancelled | self.blank | self.unread.keys():
            return None
        return self.answers.get(number)

    def __len__(self) -> int:
        return len(self.answers) + len(self.cancelled) + len(self.blank)


class ProblemReference(NamedTuple):
    """Return the problem of a printed number, and the sub-question if given."""

    label: str
    part: str = ""


class Names:
    """The labels of a paper's problems, and the lookup of a printed number.

    A number alone means a problem of `section`, or, without one, the only problem of that number.
    """

    def __init__(self, labels: Collection[str], section: str = "") -> None:
        self._labels = set(labels)
        self._by_value: dict[int, str] = {}
        twice: set[int] = set()
        for label in labels:
            within, value = parse_label(label)
            if not section or within == section:
                twice |= {value} & self._by_value.keys()
                self._by_value[value] = label
        for value in twice:
            del self._by_value[value]

    def find(self, text: str) -> ProblemReference | None:
        """Return the problem of a cell such as `3`, `Q3.`, `B2` or `4 (a)`, if any."""
        match = _NUMBER.fullmatch(text)
        if match is None:
            return None
        digits = match["n"]
        value = int(digits) if digits.isdecimal() else roman_value(digits)
        label = self.label(value, match["section"] or "")
        part = re.sub(r"\W", "", match["part"] or "").lower()
        return ProblemReference(label, part) if label else None

    def label(self, value: int, section: str = "") -> str | None:
        """Return the problem with this number in the printed section, if any."""
        if section and (label := format_label(section.upper(), value)) in self._labels:
            return label
        return None if section and section.upper() not in "QP" else self._by_value.get(value)


def is_number(text: str) -> bool:
    """Return whether a text is a printed problem number, such as `3`, `Q3.`, `B2` or `4 (a)`."""
    return _NUMBER.fullmatch(text) is not None


def parse_answer(text: str) -> list[str]:
    """Split a printed answer: letters of a list such as `A, C`, or texts between `;`."""
    text = " ".join(text.split())
    if _LETTERS.fullmatch(text):
        return re.findall(r"[A-H]", text)
    if match := _LETTER.fullmatch(text):
        return [match[1]]
    return [part.strip() for part in split_outside(_SEMICOLON, text) if part.strip()]


# Compare the answer of a key with the text of a choice, exactly or by value.

_DRESS = re.compile(r"[\s.$。．]+")
_MARK = "\x00"


def name_text(text: str) -> str:
    """Normalise a text, so that all printings of it are equal.

    Case, spaces and full stops are ignored outside of formulas; formulas are normalised.
    """
    formulas: list[str] = []

    def keep_formula(latex: str) -> str:
        formulas.append(normalise(latex))
        return _MARK

    marked = replace_formulas(text, lambda span: keep_formula(span.latex))
    parts = _DRESS.sub("", marked).casefold().split(_MARK)
    return parts[0] + "".join(f + part for f, part in zip(formulas, parts[1:], strict=True))


def say_the_same(first: str, second: str) -> bool:
    """Return whether two texts are equal exactly or, if either has a formula, by value.

    For example, `0.5` equals `$\\frac{1}{2}$`; lengths in different units are converted.
    """
    if name_text(first) == name_text(second):
        return True
    if not (find_formulas(first) or find_formulas(second)):
        return False
    from omibench.answers.compare import compare_answers

    return bool(first.strip()) and compare_answers(first, second).equal


# Convert printed answers of multiple-choice problems to letters of choices, if certain.

_LETTER_AND_TEXT = re.compile(r"[(（\[]?(?P<letter>[A-Za-z])[)）\].:．、\s]\s*(?P<text>.+)")
_LETTER_AND_REST = re.compile(r"(?P<letter>[(（\[]?\w[)）\].:．、：\s]+|[①-⑳])\s*(?P<text>.+)")
_LETTERS_CHOSEN = re.compile(r"[A-Z]{2,8}|[(（]?[a-z][)）]?\.?(?:\s*[,/&、]\s*[(（]?[a-z][)）]?)*")
_BEFORE_WORDS = re.compile(
    r"[(（\[]?(?P<letter>[A-Ha-h])(?:[)）\].:：．]+[;；]?\s*|\s*[;；]\s*|\s+[-–—]\s+|\s*[–—]\s+)"
    r"(?P<words>.+)",
    re.S,
)
_WORDS = re.compile(r"[^\W\d_]{2,}\W+\w|[A-Z][^\W\d_]{2,}|[\u3400-\u9fff]{2}")
_DENIES = re.compile(
    r"\W*(?:(?:is|são|é|es|ist)\s+)?(?:not?|false|wrong|incorrect|fals[oa]|errad[oa]|falsch|错|不)\b",
    re.I,
)
_JOINS = re.compile(r"\b(?:or|and|ou?|y|oder|und|или|и|και|ή)\b|[和或]")


def as_letters(answer: Sequence[str], choices: Sequence[Choice] | None) -> list[str]:
    """Return the answer as letters of choices; as printed if there are none.

    `b` and `(b)` are B, `ACD` is A, C, D; `B) 5 m` is B because of the bracket or the text of
    choice B, and `B. Because ...` is B; the text of exactly one choice is its letter. Other scripts
    work likewise, with their letters. Letters that are not an ordered list, such as `B or D`, stay
    as printed. Empty if the answer is no choice or ambiguous: a letter of another script than the
    choices', a letter before another choice's text, or a bare number that is one choice's label and
    another's text.
    """
    if not choices:
        return list(answer)
    labels = [choice.label for choice in choices]
    if any(is_foreign(text, labels) or _is_torn(text, choices) for text in answer):
        return []
    read = _letters if labels[0] in LATIN else _letters_elsewhere
    letter_lists = [read(text, choices, labels) for text in answer]
    if all(letters and _are_labels(letters, labels) for letters in letter_lists):
        return [letter for letters in letter_lists for letter in letters]
    letter, _ = _before_words("; ".join(answer), choices)
    return [letter] if letter else []


def read_words_behind_letter(answer: Sequence[str], choices: Sequence[Choice] | None) -> str:
    """Return the text after the letter of a choice in a key, as in `C. Because ...`, if any."""
    return _before_words("; ".join(answer), choices)[1] if choices else ""


def _before_words(text: str, choices: Sequence[Choice]) -> tuple[str, str]:
    """Return the letter at the start of a text and the words after it; both empty if uncertain.

    A letter is uncertain if its words are another choice's text, deny it, or treat other letters
    alike, as in `A: true, B: false`.
    """
    match = _BEFORE_WORDS.fullmatch(text)
    labels = [choice.label for choice in choices]
    if not match or match["letter"].upper() not in labels or labels[0] not in LATIN:
        return "", ""
    letter, words = match["letter"].upper(), match["words"]
    label_class = re.escape("".join(labels))
    listed = re.search(rf"(?<!\w)[{label_class}]\s*[.:)：．、=-]\s*\S", words, re.I)
    other_choices = [choice for choice in choices if choice.label != letter]
    bracketed = text[match.end("letter")] in ")）]"
    if listed or _DENIES.match(words) or not (bracketed or _WORDS.search(words)):
        return "", ""
    if any(_opens(choice, text) or _opens(choice, words) for choice in other_choices):
        return "", ""
    return letter, words


def _opens(choice: Choice, text: str) -> bool:
    """Return whether a text begins with the words of a choice."""
    choice_text = " ".join((choice.text or "").split()).rstrip(".。． ")
    return (
        bool(choice_text) and re.match(rf"{re.escape(choice_text)}(?!\w)", text, re.I) is not None
    )


def _are_labels(texts: Sequence[str], labels: Sequence[str]) -> bool:
    """Return whether texts consist only of labels, in any order: `B or D`, `CAD`, `(d), (a)`."""
    known_letters = {same_letter(label) for label in labels}
    words = [word for text in texts for word in re.findall(r"[^\W_]+|[①-⑳]", _JOINS.sub(" ", text))]
    alone = all(len(word) == 1 or word.isupper() or not word.isalpha() for word in words)
    return (
        bool(words)
        and alone
        and all(same_letter(c) in known_letters for word in words for c in word)
    )


def _is_torn(text: str, choices: Sequence[Choice]) -> bool:
    """Return whether a bare number is the label of one choice and the text of another."""
    matching_labels = [
        choice.label for choice in choices if choice.text and name_text(choice.text) == text
    ]
    named = read_labels(text, [choice.label for choice in choices])
    return text.isdecimal() and bool(matching_labels) and bool(named) and matching_labels != named


def _letters(text: str, choices: Sequence[Choice], labels: Sequence[str]) -> list[str]:
    if text in labels:
        return [text]
    if _LETTERS_CHOSEN.fullmatch(text):
        letters = re.findall(r"[A-Z]", text.upper())
        in_order = all(letter in labels for letter in letters) and letters == sorted(set(letters))
        return letters if in_order else [text]
    match = _LETTER_AND_TEXT.fullmatch(text)
    if match and match["letter"].upper() in labels:
        choice_text = choices[labels.index(match["letter"].upper())].text or ""
        if say_the_same(choice_text, match["text"]):
            return [match["letter"].upper()]
        if re.match(r"[(（\[]?[A-Z][)）\]]", text) and (letter := _before_words(text, choices)[0]):
            return [letter]
    return _match_text(text, choices)


def _letters_elsewhere(text: str, choices: Sequence[Choice], labels: Sequence[str]) -> list[str]:
    if labels_found := read_labels(text, labels):
        return labels_found
    match = _LETTER_AND_REST.fullmatch(text)
    named = read_labels(match["letter"], labels) if match else []
    if match and len(named) == 1:
        choice_text = choices[labels.index(named[0])].text or ""
        if say_the_same(choice_text, match["text"]):
            return named
    return _match_text(text, choices)


def _match_text(text: str, choices: Sequence[Choice]) -> list[str]:
    """Return the label of the choice equal to a text: exactly, otherwise by value."""
    with_texts = [choice for choice in choices if choice.text]
    for is_same in (_is_same_text, say_the_same):
        labels = [choice.label for choice in with_texts if is_same(choice.text or "", text)]
        if labels:
            return labels if len(labels) == 1 else [text]
    return [text]


def _is_same_text(first: str, second: str) -> bool:
    return name_text(first) == name_text(second)
