"""The answer of a response: machine-readable forms, boxes, cues and last sentences."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.extraction.cues import (
    find_conclusion,
    find_cue_end,
    find_cued_answer,
    last_sentence_letters,
)
from omibench.answers.extraction.failures import failure, is_loop
from omibench.answers.extraction.letters import list_labels, positional, read_letters
from omibench.answers.formulas.latex import tidy
from omibench.answers.multipart import SPLITTERS, split_labelled
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.verdict import VerdictOutcome
from omibench.text.boxes import Boxes, are_names_of_each, find_boxes
from omibench.text.visible import drop_hidden_text, find_answering_part

# Answers in machine-readable form: JSON, fenced or at the end of a text, and <answer> tags.

MAX_CHARS = 8_000
_KEYS = (
    "answer", "finalanswer", "answers", "finalanswers", "correctanswer", "choice", "option",
    "result", "finalresult", "respuesta", "réponse", "antwort", "ответ", "答案", "最终答案",
)  # fmt: skip
_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n?(.*?)```", re.DOTALL)
_FENCE = re.compile(r"^```(?:json|JSON)?\s*|\s*```$")
_OBJECT = re.compile(r"\{\s*\"")
_OPENS = re.compile(r"\{\s*\"|\[\s*[\"\d\[-]")
_LATEX = re.compile(r"(?<!\\)((?:\\\\)*)\\(?=[A-Za-z]{2}|[^\"\\/bfnrtu])(?!u[0-9A-Fa-f]{4})")
_TAG = re.compile(r"<(answer|final_answer)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_MAX_ENTRIES = 64
_MAX_STARTS = 40


def tagged_answer(text: str) -> str | None:
    """Return the content of the last <answer>...</answer>."""
    if "</" not in text:
        return None
    tags = _TAG.findall(text[-MAX_CHARS:])
    return tags[-1][1].strip() if tags else None


def json_answer(text: str) -> str | None:
    """Return the answer in JSON: a whole response, its last fenced block, or a final object.

    In an object, the answer is the value of `answer` or a similar key. If a response is only an
    object of plain values under labels, all of them form the answer ("a: 3; b: 7"). Lists are
    joined by ", ", but [0, 4] is kept because it can be an interval.
    """
    if not _OPENS.search(text):
        return None
    bare = _FENCE.sub("", text) if "```" in text else text
    document = _parse_json(bare[:MAX_CHARS])
    if isinstance(document, list) and not any(isinstance(entry, str) for entry in document):
        return text if text[:1] == "[" and _answer(document, alone=True) else None
    if document is not None:
        return _answer(document, alone=True)
    fenced = _FENCED.findall(text[-MAX_CHARS:])
    value = _parse_json(fenced[-1].strip()) if fenced else _last_object(text[-MAX_CHARS:])
    return None if value is None else _answer(value, alone=False)


def _last_object(text: str) -> Any:
    """Return the last object of a text that contains an answer, read from its opening brace."""
    if not _OBJECT.search(text):
        return None
    text, decoder, end, last = _LATEX.sub(r"\1\\\\", text), json.JSONDecoder(), 0, None
    for opened in list(_OPENS.finditer(text))[-_MAX_STARTS:]:
        if opened.start() < end or text[opened.start()] != "{":
            continue
        try:
            value, end = decoder.raw_decode(text, opened.start())
        except (ValueError, RecursionError):
            continue
        last = value if _answer(value, alone=False) else last
    return last


def _parse_json(body: str) -> Any:
    """Parse a text as JSON after escaping LaTeX backslashes; None for any other text."""
    if body[:1] not in ("{", "["):
        return None
    try:
        return json.loads(_LATEX.sub(r"\1\\\\", body))
    except (ValueError, RecursionError):
        return None


def _answer(value: Any, alone: bool) -> str | None:
    if isinstance(value, dict):
        entries = {
            re.sub(r"[\s_-]", "", str(key)).casefold(): entry for key, entry in value.items()
        }
        named = next((entries[key] for key in _KEYS if key in entries), None)
        if named is None and alone:
            named = value
        return _text(named)
    return _text(value) if alone else None


def _text(value: Any) -> str | None:
    if isinstance(value, dict):
        texts = [(key, _scalar(entry)) for key, entry in list(value.items())[:_MAX_ENTRIES]]
        plain = [f"{key}: {text}" for key, text in texts if text is not None]
        return "; ".join(plain) if len(plain) == len(texts) > 0 else None
    if isinstance(value, list):
        entries = [_scalar(entry) for entry in value[:_MAX_ENTRIES]]
        readable = [entry for entry in entries if entry is not None]
        return ", ".join(readable) if len(readable) == len(entries) > 0 else None
    return _scalar(value)


def _scalar(value: Any) -> str | None:
    return None if value is None or isinstance(value, dict | list) else str(value)


# Extraction of the answer from a response, with the method used.
#
# Extraction knows the answer type, the choices and the number of parts, but never the gold answer.
# It does not guess: a single letter in running text is not an answer.

WHOLE_CHARS = 1_200
"""Maximum length of a response that is an answer by itself if it is one paragraph without cue."""
_LAST_LINE_CHARS = 200
_VALUE_WORDS = 8
_TABLE = re.compile(r"[$\s]*\|[^\n]*\n\s*\|?\s*:?-{3}")
"""A response that begins with a table is an answer, regardless of the text below the table."""
_SENTENCE = re.compile(r"[a-z]{3}[.!?][*_]*(?:\s|$)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_TURN = re.compile(
    r"<\|(?:im_start|im_end|eot_id|eot|end_of_text|endoftext|end_of_turn|end)\|>|<end_of_turn>|</s>"
)
_NO_ANSWER = {"", "none", "n/a", "null", "unknown", "nan", "\\text{none}", "?", "..."}


class Extraction(NamedTuple):
    """An answer and its extraction method, or None and the outcome that explains why."""

    answer: str | None
    method: str
    outcome: VerdictOutcome = "scored"


_BOX_OF_ONE = re.compile(r"\\boxed +(\d+|[A-Za-z])(?=\s*(?:\$|\\[)\]]|\.?\s*$))")


def extract_answer(
    text: str,
    answer_type: AnswerType,
    choices: Sequence[Choice] | None = None,
    parts: int = 1,
    finish_reason: str | None = None,
) -> Extraction:
    """Extract the answer of a response.

    For `mcq` the answer is the sorted labels ("B", "AC"). For `open` it is the text of the
    answer; boxes are joined by "; " if `parts` > 1. Never raises; runs in time linear in the
    text.
    """
    body = _drop_next_turn(drop_hidden_text(text))
    if "\\boxed " in body:
        body = _BOX_OF_ONE.sub(r"\\boxed{\1}", body)
    boxes = find_boxes(body)
    find = _find_choice if answer_type == "mcq" else _find_open
    extraction = find(body, boxes, choices, parts, finish_reason)
    if extraction.outcome == "scored":
        return extraction
    outcome = failure(body, finish_reason) if text.strip() else "empty"
    if outcome is None or (outcome == "empty" and extraction.method != "none"):
        outcome = "unparsed"
    return Extraction(None, extraction.method, outcome)


def _drop_next_turn(body: str) -> str:
    """Drop what a model wrote after the end of its turn: <|im_end|> and a next question."""
    end = _TURN.search(body)
    return body[: end.start()] if end and body[: end.start()].strip() else body


_NO_EXTRACTION = Extraction(None, "none", "unparsed")


def _find_choice(
    body: str, boxes: Boxes, choices: Sequence[Choice] | None, parts: int, finish_reason: str | None
) -> Extraction:
    def read(candidate: str | None, method: str) -> Extraction | None:
        named = read_letters(candidate, choices) if candidate else None
        return Extraction(named[0], f"{method}: {named[1]}") if named else None

    box = _choose_box(boxes, parts, finish_reason)
    if box is not None:
        extraction = read(box, "box") if not _is_no_answer(box) else None
        return extraction or Extraction(None, "box names no option", "unparsed")
    labels = list_labels(choices)
    candidates: tuple[tuple[str, Callable[[], str | None]], ...] = (
        ("json", lambda: json_answer(body)),
        ("tag", lambda: tagged_answer(body)),
        ("phrase", lambda: _letter_first(find_cued_answer(body), labels)),
        ("lead", lambda: _lead_line(body, labels)),
        ("conclusion", lambda: last_sentence_letters(body, labels)),
        ("last line", lambda: _short(body.rsplit("\n", 1)[-1])),
        ("whole", lambda: _short(body)),
    )
    for method, candidate in candidates:
        extraction = read(candidate(), method)
        if extraction:
            return extraction
    return _NO_EXTRACTION


def _find_open(
    body: str, boxes: Boxes, choices: Sequence[Choice] | None, parts: int, finish_reason: str | None
) -> Extraction:
    box = _choose_box(boxes, parts, finish_reason)
    if box is not None and _is_no_answer(box):
        return Extraction(None, "empty box", "unparsed")
    if box is not None:
        return Extraction(box, "boxes" if parts > 1 and len(boxes.closed) > 1 else "box")
    return (
        _find_stated_answer(body, parts)
        or _find_implied_answer(body, finish_reason)
        or _NO_EXTRACTION
    )


def _find_stated_answer(body: str, parts: int) -> Extraction | None:
    """Return an answer that the response marks as its answer."""
    value = json_answer(body)
    if value:
        return Extraction(value, "json")
    tagged = tagged_answer(body)
    if tagged is not None:
        return None if _is_no_answer(tagged) else Extraction(tagged, "tag")
    phrase = find_cued_answer(body, parts)
    if phrase and not _is_no_answer(phrase) and not is_loop(body):
        return Extraction(phrase, "phrase")
    return None


def _find_implied_answer(body: str, finish_reason: str | None) -> Extraction | None:
    """Return a response that is an answer by itself, or a last line that states a value."""
    if failure(body, finish_reason):
        return None
    paragraphs = re.split(r"\n\s*\n", body)
    last = paragraphs[-1].rsplit("\n", 1)[-1].strip("*_` \t")
    if len(body) <= WHOLE_CHARS and (_is_labelled(body) or _TABLE.match(body)):
        return Extraction(body, "whole")
    reasoned = len(body) > len(last) and _SENTENCE.search(body[: -len(last) or None])
    if reasoned and _states_value(last, alone="\n" not in paragraphs[-1] and len(paragraphs) > 1):
        return Extraction(last, "last line")
    if len(body) <= WHOLE_CHARS and len(paragraphs) == 1:
        conclusion = find_conclusion(body)
        return Extraction(conclusion or body, "conclusion" if conclusion else "whole")
    conclusion = find_conclusion(last)
    return Extraction(conclusion, "conclusion") if conclusion else None


def _states_value(line: str, alone: bool) -> bool:
    """Return whether the last line is a value: an equation, a number, or a short paragraph."""
    if len(line) > _LAST_LINE_CHARS:
        return False
    if alone and len(_WORD.findall(line)) <= _VALUE_WORDS and not line.endswith((".", ":", "!")):
        return True
    return re.fullmatch(r"\W*[-+]?\d[\d.,]*\W*|[^=≈]{0,40}[=≈]\s*[^=≈]{1,80}", line) is not None


def _is_labelled(body: str) -> bool:
    """Return whether a response consists of labelled parts only: (1) ... (2) ... from its start."""
    return bool(re.match(r"[\s$*]*[(（]?[1aAi][)）]", body)) and len(split_labelled(tidy(body))) > 1


def _choose_box(boxes: Boxes, parts: int, finish_reason: str | None) -> str | None:
    """Return the last box, or the last boxes joined if one has fewer parts than expected."""
    if not boxes.closed:
        unclosed = boxes.unclosed if finish_reason != "length" else None
        return unclosed.split("\n")[0].rstrip(" $.") if unclosed else None
    last = boxes.closed[-1].strip()
    beside = _name_boxes(boxes, boxes.side_by_side)
    if len(set(beside)) > 1:
        return "; ".join(dict.fromkeys(beside))
    if parts > 1 and len(boxes.closed) > 1 and not any(len(s(last)) >= parts for s in SPLITTERS):
        return "; ".join(_name_boxes(boxes, parts))
    return last


def _name_boxes(boxes: Boxes, count: int) -> list[str]:
    r"""Return the last boxes, with their names if each has its own: x = 3 of `x = \boxed{3}`."""
    contents, names = [box.strip() for box in boxes.closed[-count:]], boxes.names[-count:]
    if len(contents) < 2 or not are_names_of_each(names) or any("=" in box for box in contents):
        return contents
    return [f"{name} = {box}" for name, box in zip(names, contents, strict=True)]


def _is_no_answer(text: str) -> bool:
    return text.strip(" $.{}").casefold() in _NO_ANSWER


def _letter_first(phrase: str | None, labels: str) -> str | None:
    """Return the letter at the start of a phrase that continues with words: "B, because ..."."""
    if not phrase:
        return phrase
    lead = positional(labels).opens_phrase.match(phrase)
    if lead is None or lead.group(1) not in labels:
        return phrase
    letters = positional(labels).opens_list.match(phrase)
    return phrase if letters and set(letters.groups()).issubset(labels) else lead.group(1)


def _lead_line(body: str, labels: str) -> str | None:
    """Return a letter on the first line: alone, or before a colon, stop, bracket or "because"."""
    first = body.split("\n", 1)[0].strip()
    lead = positional(labels).opens_line.match(first)
    return lead.group(1) if lead and lead.group(1) in labels else None


def _short(text: str) -> str | None:
    text = text.strip().strip("*_` ")
    return text if 0 < len(text) <= _LAST_LINE_CHARS else None


# Position of the final option letter in a response, and of the answer's start.
#
# To compute the probability of the letter, a model needs the text before it.

NEAR_CHARS = 120
"""Maximum distance between the announcing words and the letter."""
MOST_LINES = 12
"""Maximum number of lines above the letter that can belong to the answer."""
_DECLARING = ("box", "json", "tag", "phrase")
_BOX = re.compile(r"(?:boxed|fbox)\s*\{")
_SENTENCE_END = re.compile(r"[.!?][*_)\]]{0,3}\s+|。")
_WORD_LETTER_PLACE = re.compile(r"\w")


class LetterPlace(NamedTuple):
    """Final letter of a response."""

    letter: str
    start: int
    """Position of the letter: `text[start] == letter`."""
    answer_start: int
    """Start of the answer: the sentence with the letter, and the lines above that announce it."""


class LetterMissing(NamedTuple):
    """Reason why a response has no position for a letter."""

    reason: str


def find_letter_place(text: str, choices: Sequence[Choice] | None) -> LetterPlace | LetterMissing:
    r"""Find the letter read by `extract_answer` at the position where it is declared.

    Depending on the extraction method, this is the last `\boxed{}`, the text after the last cue
    ("the answer is"), the first line or the last line; otherwise the last position where the
    letter is a separate word.

    Args:
        text: Response of the model, unchanged.
        choices: Choices of the problem.

    Returns:
        The position, or the reason if not found: no option is declared, several are declared, or
            the letter does not occur in the response.
    """
    extraction = extract_answer(text, "mcq", choices)
    if extraction.answer is None:
        return LetterMissing(f"no option is declared ({extraction.outcome})")
    letter = extraction.answer
    if len(letter) > 1:
        return LetterMissing(f"several options are declared ({letter})")
    body = find_answering_part(text)
    offset = text.rfind(body)
    start = _find_letter(body, letter, extraction.method.split(":")[0])
    if start is None:
        return LetterMissing(f"option {letter} is declared by its text, not by its letter")
    return LetterPlace(letter, offset + start, offset + _find_answer_start(body, start))


def find_declared_option(text: str, choices: Sequence[Choice] | None) -> str | None:
    """Return the options that a text declares as its answer by a box, a tag or a cue.

    Args:
        text: Response, or its beginning.
        choices: Choices of the problem.
    """
    extraction = extract_answer(text, "mcq", choices)
    return extraction.answer if extraction.method.startswith(_DECLARING) else None


def _find_letter(body: str, letter: str, method: str) -> int | None:
    places = [match.start() for match in _make_pattern(letter).finditer(body)]
    begin = _find_declaration(body, method)
    following = (place for place in places if begin is not None and 0 <= place - begin < NEAR_CHARS)
    return next(following, places[-1] if places else None)


def _find_declaration(body: str, method: str) -> int | None:
    """Return where the declaration read by an extraction method starts; None if it has no mark."""
    if method == "box":
        return max((match.end() for match in _BOX.finditer(body)), default=None)
    if method == "phrase":
        return find_cue_end(body)
    if method in ("lead", "whole"):
        return len(body) - len(body.lstrip())
    if method in ("conclusion", "last line"):
        return _find_sentence(body, len(body.rstrip()))
    return None


def _make_pattern(letter: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9'’\\]){re.escape(letter)}(?![A-Za-z0-9'’])")


def _find_answer_start(body: str, letter: int) -> int:
    """Return the start of the sentence with the letter, including lines above that announce it.

    A line above belongs to the answer if it contains no word or ends in a sentence with a cue.
    """
    start = _find_sentence(body, letter)
    for _ in range(MOST_LINES):
        end = len(body[:start].rstrip())
        line = body.rfind("\n", 0, end) + 1
        sentence = _find_sentence(body, end)
        if end == 0 or not _WORD_LETTER_PLACE.search(body, line, end):
            start = line
        elif find_cue_end(body[sentence:end] + "\n") is not None:
            start = sentence
        else:
            break
    return start


def _find_sentence(body: str, end: int) -> int:
    """Return the start of the sentence at `end`, at the earliest the start of its line."""
    line = body.rfind("\n", 0, end) + 1
    ends = [match.end() for match in _SENTENCE_END.finditer(body, line, end)]
    return ends[-1] if ends else line
