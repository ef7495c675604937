"""Answers in machine-readable form: JSON, fenced or at the end of a text, and <answer> tags."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_CHARS = 8_000
_KEYS = (
    "answer", "finalanswer", "answers", "finalanswers", "correctanswer", "choice", "option",
    "result", "finalresult", "respuesta", "réponse", "antwort", "ответ", "答案", "最终答案",
)  # fmt: skip
_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n?(.*?)```", re.DOTALL)
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
    document = _parse_json(re.sub(r"^```(?:json|JSON)?\s*|\s*```$", "", text)[:MAX_CHARS])
    if isinstance(document, list) and not any(isinstance(entry, str) for entry in document):
        return text if text[:1] == "[" and _answer(document, alone=True) else None
    if document is not None:
        return _answer(document, alone=True)
    fenced = _FENCED.findall(text[-MAX_CHARS:])
    value = _parse_json(fenced[-1].strip()) if fenced else _last_object(text[-MAX_CHARS:])
    return None if value is None else _answer(value, alone=False)


def _last_object(text: str) -> Any:
    """Return the last object of a text that contains an answer, read from its opening brace."""
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
