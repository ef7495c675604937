"""Find the formulas of a paper that were read exactly, from the text of its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from glyphtex.latex import find_formulas, normalise

_WORD: Final = re.compile(r"[^\W_]+|[^\s]")
_TOKEN: Final = re.compile(r"\\mathrm\{([^{}]*)\}|\\[A-Za-z]+|\\.|\S", re.DOTALL)
_UPRIGHT: Final = "rm:"
_OUTSIDE: Final = frozenset("0123456789.,;:()%/-")
"""Tokens that can be outside the dollar signs of a formula although the truth has them inside."""
_MARGIN: Final = 3
"""Maximum number of extra pieces around a difference, for a formula that was read too wide."""
Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """Word, sign or formula of a text."""

    tokens: Tokens
    formula: int | None = None
    """Its index among the formulas of the text; None outside dollar signs."""


def split_pieces(text: str) -> list[Piece]:
    """Split a text into words, signs and formulas, each as tokens of the normal form.

    Args:
        text: Prose with formulas between dollar signs.
    """
    pieces: list[Piece] = []
    end = 0
    for number, span in enumerate(find_formulas(text)):
        pieces += _split_prose(text[end : span.start])
        pieces.append(Piece(list_tokens(normalise(span.latex)), number))
        end = span.end
    return pieces + list(_split_prose(text[end:]))


def list_tokens(form: str) -> Tokens:
    """Return the tokens of a normal form; each upright letter is a token, as in prose."""
    tokens: list[str] = []
    for match in _TOKEN.finditer(form):
        upright = match.group(1)
        tokens += [match.group()] if upright is None else [_UPRIGHT + c for c in upright]
    return tuple(tokens)


def find_exact(truth: str, reading: str) -> tuple[set[int], set[int]]:
    """Find the formulas of a text that a reading has exactly.

    A formula is exact if its normal form is at its place in the reading between one pair of dollar
    signs. Numbers, units and punctuation can be on the other side of a dollar sign, and a formula
    that is printed like prose, such as `3/4`, needs none.

    Args:
        truth: Text as typeset.
        reading: Text as read.

    Returns:
        Indices of the exact formulas, and of the words of prose that the reading lacks (as pieces
        of the truth).
    """
    expected, pieces = split_pieces(truth), split_pieces(reading)
    matcher = SequenceMatcher(None, [p.tokens for p in expected], [p.tokens for p in pieces], False)
    exact: set[int] = set()
    lost: set[int] = set()
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(expected[i1:i2], pieces[j1:j2], strict=True)
            exact |= {
                p.formula
                for p, q in pairs
                if p.formula is not None and (q.formula is not None or _is_prose(p.tokens))
            }
            lost |= {
                place
                for place, q in zip(range(i1, i2), pieces[j1:j2], strict=True)
                if expected[place].formula is None and _adds_dollars(expected[place], q)
            }
            continue
        start, stop = max(0, j1 - _MARGIN), min(len(pieces), j2 + _MARGIN)
        block = _Block(expected[max(0, i1 - _MARGIN) : i2 + _MARGIN], pieces[start:stop])
        exact |= block.find_exact({p.formula for p in expected[i1:i2] if p.formula is not None})
        lost |= {
            place
            for place in range(i1, i2)
            if expected[place].formula is None and not block.holds_prose(expected[place])
        }
    return exact, lost


def _is_prose(tokens: Sequence[str]) -> bool:
    """Return whether a formula is printed like prose: only upright letters, numbers and signs."""
    structure = {"^", "_", "{", r"\frac", r"\sqrt"}
    return not any(token.isalpha() or token in structure for token in tokens)


def _adds_dollars(expected: Piece, piece: Piece) -> bool:
    return piece.formula is not None and expected.formula is None and len(expected.tokens) > 1


class _Block:
    """Return the pieces of the truth and of the reading around a difference."""

    def __init__(self, expected: Sequence[Piece], pieces: Sequence[Piece]) -> None:
        self._expected = expected
        self._pieces = pieces
        self._truth = [token for piece in expected for token in piece.tokens]
        self._tokens = [token for piece in pieces for token in piece.tokens]
        self._taken: set[int] = set()

    def find_exact(self, formulas: set[int]) -> set[int]:
        exact = set()
        start = 0
        for piece in self._expected:
            if piece.formula in formulas and self._stands_exact(piece, start):
                exact.add(piece.formula)
            start += len(piece.tokens)
        return {number for number in exact if number is not None}

    def holds_prose(self, piece: Piece) -> bool:
        """Return whether a word is in the reading outside of formulas, or as a part of a word."""
        return any(True for _ in self._find(piece.tokens))

    def _stands_exact(self, piece: Piece, start: int) -> bool:
        for place in self._find(piece.tokens):
            span = range(place, place + len(piece.tokens))
            if not self._taken.intersection(span) and self._fits(piece, start, place):
                self._taken.update(span)
                return True
        return False

    def _find(self, tokens: Tokens) -> Iterator[int]:
        for place in range(len(self._tokens) - len(tokens) + 1):
            if tuple(self._tokens[place : place + len(tokens)]) == tokens:
                yield place

    def _fits(self, piece: Piece, start: int, place: int) -> bool:
        """Return whether every formula of the reading in the span matches the truth."""
        end = place + len(piece.tokens)
        first = 0
        formulas, outside = 0, list[str]()
        for candidate in self._pieces:
            last = first + len(candidate.tokens)
            if first < end and last > place:
                if candidate.formula is None:
                    outside += self._tokens[max(first, place) : min(last, end)]
                else:
                    formulas += 1
                    shift = start - place
                    twin = self._truth[max(0, first + shift) : last + shift]
                    if first + shift < 0 or tuple(twin) != candidate.tokens:
                        return False
            first = last
        if formulas == 0:
            return _is_prose(piece.tokens)
        return formulas == 1 and all(t in _OUTSIDE or t.startswith(_UPRIGHT) for t in outside)


def _split_prose(text: str) -> Iterator[Piece]:
    for match in _WORD.finditer(text.replace(r"\$", "$")):
        word = match.group()
        form = normalise(rf"\mathrm{{{word}}}") if word not in "{}\\&^_$%#~" else word
        yield Piece(list_tokens(form))
