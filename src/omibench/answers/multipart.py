"""Texts that look like formulas but are not: sequences, names of points, compounds, ranges.

A parser would read `CAG` as C times A times G and `1-2-3` as minus four. Their order has
meaning, so they are compared as texts, never as mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.latex import fold
from omibench.text.pieces import MOST_PIECES, split_outside_brackets, trim_piece

_RUN = re.compile(r"[A-Za-z](?:\s*[A-Za-z0-9'])*|\d+(?:\s*[A-Za-z]+\s*\d+)+[A-Za-z0-9'\s]*")
_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:\s*-\s*\d+(?:\.\d+)?)+")
_DASHED = re.compile(r"[A-Za-z]{1,12}(?:\s*-\s*[A-Za-z]{1,12}){2,}|\d{1,2}(?:\s*-\s*\d{1,2}){2,}")
_STRAND = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9']+(?:\s*-\s*[A-Za-z0-9']+)*")
_COMPOUND = re.compile(
    r"(?=.*_\{(?:[2-9]|[1-9]\d+)\})(?=.*[CHNO])"
    r"(?:[()\s=-]|(?:[A-Z][a-z]|[HBCNOFPSKVYIWU])(?:\s*_\{(?!1\})[1-9]\d*\})?)+"
)


def is_name(text: str) -> bool:
    """Return whether a tidied text is a run of letters and digits, or names and numbers with
    dashes.

    A number before letters is a factor (2ab); a digit after a letter belongs to a name (H2O).
    """
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    if _RUN.fullmatch(text) or is_dashed(text) or _COMPOUND.fullmatch(text):
        return True
    long_or_primed = re.search(r"[A-Z]{3}|\d'", text)
    return bool(long_or_primed and _STRAND.fullmatch(text))


def is_numbered(text: str) -> bool:
    """Return whether a text is a name with digits (H2O) or numbers joined by dashes."""
    text = text.strip()
    named = _RUN.fullmatch(text) and re.search(r"[A-Za-z]\d", text)
    return bool(named or _NUMBERS.fullmatch(text))


def is_dashed(text: str) -> bool:
    """Return whether a text is three or more short names or small integers: A-C-B, 1-3-2."""
    return _DASHED.fullmatch(text.strip()) is not None


# Parts of one answer: labelled parts, lists, sequences. A splitter returns [] without parts.
#
# The lists are cached for the next comparison: do not modify them.

MAX_PARTS = MOST_PIECES


class AnswerPart(NamedTuple):
    """One part of an answer; `key` is its folded label, or ""."""

    key: str
    text: str


_ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"]
_FAMILIES = (
    [str(n) for n in range(1, MAX_PARTS)],
    list("abcdefghijklmnopqrstuvwxyz"),
    list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    _ROMAN,
    [r.upper() for r in _ROMAN],
)
_LABEL = re.compile(
    r"(?:(?<=^)|(?<=[\s;,.(（{$\"“]))[(（]?\s*([0-9]{1,2}|[A-Za-z]|[ivxIVX]{2,4})\s*"
    r"(?:[)）]\s*[:.]?|:|(?:-|->|\\to)(?=\s*(?:[IVX]+|TRUE|FALSE|[A-Z])\b))\s*"
)
_DOTTED = re.compile(r"(?:^|(?<=[\s;,.]))[*]{0,2}([1a-zA-Z]|\d{1,2}|[ivx]{1,4})\.[*]{0,2}\s+(?=\S)")
"""Labels such as "1. " count only in a text that begins with one."""
_LEADING = re.compile(r"\s*[(（]?([a-z]|\d{1,2}|[ivx]{1,4})[)）]\s*[:.]?\s*(?=\S)")
_KEYED = re.compile(
    r"\s*([^:=]{1,60}?)\s*(?::|\s-|-\s|-(?=[A-Z]\b)|(?<=^[A-Z])-(?=(?:\d{1,2}|[a-z]|[ivx]{1,4})$)|=|\\to)\s*(.*)",
    re.DOTALL,
)
_CALCULATES = re.compile(r"[+=^*/<>]")
_IN_FORMULA = re.compile(r"[\^+*/×]|^[-+]?\d+\s*[a-z(\\]|\\(?:frac|sqrt|pi)(?![A-Za-z])")
_PAIR = re.compile(r"(\d{1,2})\s*(?:-|:|\\to|=)?\s*([A-Za-z]|[IVX]{1,4})")
"""Pairs such as 1-c, 2 -> a or 1c, 2a: numbers from one on, each with a letter."""
_TRUTH_RUN = re.compile(
    r"[TF]{3,}|[VF]{3,}|[TFtf](?: [TFtf]){2,}|[VFvf](?: [VFvf]){2,}"
    r"|(?i:true|false)(?i: true| false)+|[√✓✔×✗✘](?:[ ,]*[√✓✔×✗✘])+"
)


@lru_cache(maxsize=4096)
def split_labelled(text: str) -> list[AnswerPart]:
    """Return parts with consecutive labels from the first on: (1) (2), a) b), A: B:, (i) (ii)."""
    best: list[AnswerPart] = []
    candidates = islice(_LABEL.finditer(text), 4 * MAX_PARTS)
    labels = [match for match in candidates if not _closes_bracket(text, match)]
    if len(labels) < 2 and _DOTTED.match(text):
        labels = list(_DOTTED.finditer(text))[: 4 * MAX_PARTS]
    for family in _FAMILIES:
        marks: list[re.Match[str]] = []
        for match in labels:
            if len(marks) < len(family) and match.group(1) == family[len(marks)]:
                marks.append(match)
        if len(marks) >= 2 and len(marks) > len(best) and marks[0].start() <= 40:
            ends = [m.start() for m in marks[1:]] + [len(text)]
            best = [
                AnswerPart(m.group(1).lower(), trim_piece(text[m.end() : end]))
                for m, end in zip(marks, ends, strict=True)
            ]
    return best if len(best) == len(labels) else _in_any_order(text, labels) or best


def _closes_bracket(text: str, label: re.Match[str]) -> bool:
    """Return whether an apparent label, `5)`, ends a bracket that begins before it: (3, 5)."""
    if label[0].lstrip().startswith(("(", "（")) or not re.search("[)）]", label[0]):
        return False
    depth = 0
    for sign in text[: label.start()]:
        if sign in "(（":
            depth += 1
        elif sign in ")）" and depth:
            depth -= 1
    return depth > 0


def _in_any_order(text: str, labels_found: Sequence[re.Match[str]]) -> list[AnswerPart]:
    """Return parts whose labels are the first of a series in another order: (2) 45 (1) 90."""
    labels = [match.group(1) for match in labels_found]
    if len(labels) < 2 or labels_found[0].start() > 40:
        return []
    for family in _FAMILIES:
        if sorted(labels) == sorted(family[: len(labels)]):
            ends = [m.start() for m in labels_found[1:]] + [len(text)]
            pieces = zip(labels_found, ends, strict=True)
            parts = {m.group(1): trim_piece(text[m.end() : end]) for m, end in pieces}
            return [AnswerPart(label.lower(), parts[label]) for label in family[: len(labels)]]
    return []


@lru_cache(maxsize=4096)
def by_semicolon(text: str) -> list[AnswerPart]:
    """Return parts between semicolons or line breaks at the top level."""
    return key_pieces(split_outside_brackets(text, {";", "；", "\n"}))


@lru_cache(maxsize=4096)
def by_comma(text: str) -> list[AnswerPart]:
    """Return parts between commas, semicolons, "and", "or" at the top level of brackets."""
    return key_pieces(
        split_outside_brackets(text, {";", "；", ",", "，", "、", "\n", "and", "or", "&"})
    )


@lru_cache(maxsize=4096)
def by_arrow(text: str) -> list[AnswerPart]:
    """Return the steps of a sequence of short names: b - e - f, A -> E -> D, 2-1-3."""
    pieces = (
        text.split("-") if is_dashed(text) else split_outside_brackets(text, {"\\to", "->", "-"})
    )
    if len(pieces) < 3 or any(len(p) > 12 or _CALCULATES.search(p) for p in pieces):
        return []
    # The position is the key: the order of a sequence matters.
    return [AnswerPart(str(place), piece.strip()) for place, piece in enumerate(pieces, 1)]


def by_truth(text: str) -> list[AnswerPart]:
    """Return the values of a run of truth letters or words: TFFT, T F F T, TRUE FALSE."""
    if not _TRUTH_RUN.fullmatch(text):
        return []
    return [AnswerPart("", value) for value in (re.split("[ ,]+", text) if " " in text else text)]


SPLITTERS: tuple[Callable[[str], list[AnswerPart]], ...] = (
    split_labelled, by_semicolon, by_comma, by_arrow, by_truth,
)  # fmt: skip


@lru_cache(maxsize=4096)
def labelled_part(text: str) -> AnswerPart:
    """Split a text and its leading label: "a) FALSE" is FALSE under a, "(2) 45" is 45 under 2."""
    match = _LEADING.match(text)
    return (
        AnswerPart(match.group(1).lower(), text[match.end() :]) if match else AnswerPart("", text)
    )


def named_part(text: str) -> AnswerPart:
    """Split a text and its leading name ("B: 4" is 4 under b); otherwise as `labelled_part`."""
    match = _KEYED.fullmatch(text)
    if match and _is_key(match):
        return AnswerPart(fold(match.group(1)), match.group(2).strip())
    return labelled_part(text)


def _is_key(match: re.Match[str]) -> bool:
    """Return whether the text before a sign is a name, and the sign not a minus in a formula."""
    key, sign = match[1], match.string[match.end(1) :].lstrip()[:1]
    if not re.search(r"[A-Za-z]", key) or key.count("(") != key.count(")"):
        return False
    return sign != "-" or not _IN_FORMULA.search(key)


def without_label(text: str) -> str:
    """Return a text without its leading label."""
    return labelled_part(text).text


def key_pieces(pieces: list[str]) -> list[AnswerPart]:
    """Return pieces that all begin with a name (R_1 = 5, Xylem: b) under it, others unchanged."""
    if len(pieces) < 2:
        return []
    pairs = [_PAIR.fullmatch(piece) for piece in pieces]
    if [pair.group(1) for pair in pairs if pair] == [str(n) for n in range(1, len(pieces) + 1)]:
        return [AnswerPart(pair.group(1), pair.group(2)) for pair in pairs if pair]
    matches = [_KEYED.fullmatch(piece) for piece in pieces]
    if all(m and _is_key(m) for m in matches):
        return [AnswerPart(fold(m.group(1)), m.group(2).strip()) for m in matches if m]
    return [labelled_part(piece) for piece in pieces]
