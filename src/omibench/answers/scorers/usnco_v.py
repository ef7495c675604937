"""Scorers `usnco-v` and `usnco-v-last-letter`: one option letter A to D (USNCO-V, methods).

The paper accepts a response that is a single option letter, extracts "a standalone option
letter" from a longer one by a strict pattern that it does not print, and counts anything else as
wrong. Two readings of that pattern:

* `usnco-v` looks for a declared answer first: the last of a box that contains one letter, of "the
  answer is", "answer:" and similar before a letter, and of a last line that is a letter; else
  the last letter that is called right or chosen ("B is correct", "I choose B"); else a letter that
  the response begins with ("B. Water boils first"), if no other line begins with another. Only
  if there is none does the last standalone letter count. A declared E to H is not a valid option.
* `usnco-v-last-letter` takes the last standalone letter, because the chain-of-thought template
  puts it at the end. A later remark on another option, or a unit (100 °C), replaces the answer.

Known weaknesses of both, reproduced: the article in "A simple titration" is a letter if there is
no other, and a lower-case letter is not.
Problems with other options than A to D and open answers are outside these rules: every response
to an open problem is `unparsed`. Declarations are parsed in English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from glyphtex import lazy_re as re
from omibench.answers.extraction.failures import failure
from omibench.answers.scorers.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.boxes import find_boxes
from omibench.text.visible import drop_hidden_text

NAME = "usnco-v"
VERSION = 2
LAST_LETTER = "usnco-v-last-letter"
LAST_LETTER_VERSION = 1

OPTIONS = "ABCD"
"""Valid options (methods, evaluation metrics)."""

_STANDALONE = re.compile(r"(?<![A-Za-z0-9'’_\\])[A-D](?![A-Za-z0-9'’_])")
_DRESS = r"(?:[\s*_`$(\[{\"'“‘]|\\(?:text|textbf|mathrm|mathbf|boxed)(?=\{)|\\[(\[]){0,12}+"
_ENDS = r"(?!['’]?[A-Za-z0-9_]|[-–—=]\w|\s+or\s|/|\s*[,&]\s*[A-H]\b|,?\s+and\s+[A-H]\b)"
_LETTER = rf"([A-H]){_ENDS}"
_NAMED = r"(?:(?i:option|choice|letter|statement)\s*)?"
_NOUNS = ("answer", "option", "choice", "letter")
_CHOSEN = re.compile(r"\b(?:correct|right|best|final|chosen|selected)\s+$")
"""Words within its last characters exclude a noun that is not `answer`."""
_CHOSEN_CHARS = 12
_SAYS_LETTER = re.compile(
    r"[\s*_]{0,4}(?i:is|would\s+be|should\s+be|must\s+be|will\s+be|[:=]|[-–—](?=\s))"
    r"(?:\s*(?:(?i:therefore|thus|then|hence|indeed|the|clearly)\b|:))?"
    rf"{_DRESS}{_NAMED}{_DRESS}{_LETTER}(?!\W{{0,3}}\s+(?i:is\s+(?:not|wrong|incorrect|false)))"
    r"(?!(?<=A)\s+(?!(?:because|since|as|which|is|for)\b)[a-z])"
)
_CALLED_RIGHT = re.compile(
    rf"(?<![A-Za-z0-9'’_\\°-]){_LETTER}[)\]}}*_`$\"'”’.]{{0,6}}\s+(?i:is)\s+(?i:the\s+)?(?i:only\s+)?"
    r"(?i:correct|right|best)\b"
    rf"|\b(?i:choose|select|pick|go\s+with)\s+(?i:the\s+)?{_NAMED}{_DRESS}{_LETTER}"
)
_BARE_LETTER = re.compile(rf"{_DRESS}{_NAMED}{_DRESS}([A-H])[)\]}}*_`$\"'”’.\s]{{0,12}}")
_LEAD = re.compile(
    rf"^{_DRESS}([A-H])(?:[)\]}}*_`$]{{0,6}}[.:)\]]|\s+[-–—]\s|,?\s+because\b)"
    r"(?!\W{0,3}(?:,|and\b|or\b|is\b|are\b))",
    re.MULTILINE,
)


@scorer(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Score one response by its declared letter, otherwise by its last one."""
    return _score_letter(item, find_declared_or_last, NAME, VERSION)


@scorer(LAST_LETTER, LAST_LETTER_VERSION)
def score_last_letter(item: ScoredItem) -> Verdict:
    """Score one response by its last standalone letter."""
    return _score_letter(item, find_last_letter, LAST_LETTER, LAST_LETTER_VERSION)


def find_declared_or_last(body: str) -> tuple[str, str] | None:
    """Return the letter of a response and its method: declared, otherwise the last one."""
    return find_declared_letter(body) or find_last_letter(body)


def find_declared_letter(body: str) -> tuple[str, str] | None:
    """Return the letter A to H that a response declares as its answer, and how; None without one.

    Args:
        body: Visible part of a response.
    """
    if bare := _BARE_LETTER.fullmatch(body):
        return bare.group(1), "letter"
    declared = max(_iterate_declared(body), default=None)
    if declared:
        return declared[1:]
    called = [first or second for first, second in _CALLED_RIGHT.findall(body)]
    if called:
        return called[-1], "called right"
    leads = {match.group(1): match.start() for match in _LEAD.finditer(body)}
    if len(leads) == 1 and _LEAD.match(body):
        return next(iter(leads)), "first letter"
    return None


def find_last_letter(body: str) -> tuple[str, str] | None:
    """Return the last standalone letter A to D of a response, and how; None without one."""
    letters = _STANDALONE.findall(body)
    if not letters:
        return None
    return letters[-1], "letter" if body == letters[-1] else "last standalone letter"


def _iterate_declared(body: str) -> Iterator[tuple[int, str, str]]:
    """A declaration: its position, letter and form."""
    for box in find_boxes(body).closed:
        if bare := _BARE_LETTER.fullmatch(box):
            yield body.rfind(f"{{{box}}}"), bare.group(1), "box"
    for match in _find_phrases(body):
        yield match.start(1), match.group(1), "phrase"
    start = body.rfind("\n") + 1
    if start and (bare := _BARE_LETTER.fullmatch(body, start)):
        yield bare.start(1), bare.group(1), "last line"


def _find_phrases(body: str) -> Iterator[re.Match[str]]:
    """Yield every "answer is" and "correct option is" before a letter. Nouns are found by plain
    search, several times as fast as a pattern at each position.
    """
    folded = body.lower()
    if len(folded) != len(body):  # lower case has a different length here
        folded = body
    for noun in _NOUNS:
        at = folded.find(noun)
        while at >= 0:
            before = folded[max(0, at - _CHOSEN_CHARS) : at]
            is_named = noun == "answer" and not before[-1:].isalnum()
            if is_named or _CHOSEN.search(before):
                match = _SAYS_LETTER.match(body, at + len(noun))
                if match:
                    yield match
            at = folded.find(noun, at + 1)


def _score_letter(
    item: ScoredItem, find: Callable[[str], tuple[str, str] | None], rules: str, version: int
) -> Verdict:
    blocked = passes_through(item, rules, version)
    if blocked:
        return blocked
    body = drop_hidden_text(item.prediction)
    reading = find(body) if item.answer_type == "mcq" else None
    letter, method = reading or (None, "none")
    if letter is None or letter not in OPTIONS:
        outcome = failure(body, find_finish_reason(item)) or "unparsed"
        return make_failed_verdict(outcome, method, rules, version)
    right = letter == "".join(item.gold).strip().upper()
    return Verdict(
        extracted=letter, method=method, verdict=float(right), rules=rules, version=version
    )
