"""Convert printed answers of multiple-choice problems to letters of choices, if certain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.schemas.problem import Choice
from omibench.stages.ocr.keys.equal_formulas import name_text, say_the_same
from omibench.stages.ocr.structure.lettering import LATIN, is_foreign, read_labels, same_letter

_LETTER_AND_TEXT = re.compile(r"[(（\[]?(?P<letter>[A-Za-z])[)）\].:．、\s]\s*(?P<text>.+)")
_LETTER_AND_REST = re.compile(r"(?P<letter>[(（\[]?\w[)）\].:．、：\s]+|[①-⑳])\s*(?P<text>.+)")
_LETTERS = re.compile(r"[A-Z]{2,8}|[(（]?[a-z][)）]?\.?(?:\s*[,/&、]\s*[(（]?[a-z][)）]?)*")
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
    if _LETTERS.fullmatch(text):
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
