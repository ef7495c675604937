"""Conversion of values from other tools: texts in lists, lists in texts, options by letter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NEVER_CAME: Final = frozenset((
    "failed to obtain answer via api.", "failed to obtain answer via api",
    "no response (bad request).",
))  # fmt: skip
"""Predictions that VLMEvalKit and simple-evals write if an endpoint failed."""
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_BETWEEN: Final = re.compile(r"\s*,?\s*")


def extract_text(value: Any) -> str | None:
    """Return one text: the first of nested lists; numbers and truth values as written."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    if value is None or isinstance(value, list | tuple | dict):
        return None
    return value if isinstance(value, str) else plain(value)


def extract_texts(value: Any) -> list[str]:
    """Return every text of a value in order; for a list in a text (`['a', 'b']`), its entries."""
    if isinstance(value, str):
        return parse_list(value) or ([value] if value.strip() else [])
    if isinstance(value, list | tuple):
        return [text for entry in value if (text := extract_text(entry)) is not None]
    text = extract_text(value)
    return [] if text is None else [text]


def plain(value: object) -> str:
    """Format a number without a spurious decimal: 3 for 3.0, as tables store whole numbers."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return str(int(value)) if is_whole and isinstance(value, float) else str(value)


def parse_options(value: Any) -> dict[str, str] | None:
    """Return options by label from a list, an object, a text of either, or parallel lists."""
    if isinstance(value, str):
        value = _load_json(value) or parse_list(value)
    if isinstance(value, Mapping):
        texts, labels = value.get("text"), value.get("label")
        if isinstance(texts, Sequence) and isinstance(labels, Sequence) and len(value) == 2:
            pairs = zip(map(str, labels), texts, strict=False)
            return {label: extract_text(text) or "" for label, text in pairs} or None
        return {str(label): extract_text(text) or "" for label, text in value.items()} or None
    if isinstance(value, list | tuple):
        texts = [extract_text(option) or "" for option in value[: len(CAPITALS)]]
        return dict(zip(CAPITALS, texts, strict=False)) or None
    return None


def read_option_columns(row: Mapping[str, Any]) -> dict[str, str] | None:
    """Return options from columns A, B, C, ...: the non-empty ones, up to the last of them."""
    options = {
        label: text
        for label in CAPITALS
        if (text := extract_text(row.get(label))) not in (None, "")
    }
    return {label: str(text) for label, text in options.items()} if len(options) > 1 else None


def parse_list(text: str) -> list[str] | None:
    """Parse a list in a text, as JSON or Python; None if it is not a list."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    value = _load_json(text)
    if isinstance(value, list):
        return [entry for item in value if (entry := extract_text(item)) is not None]
    entries, at, inner = list[str](), 0, text[1:-1].strip()
    while at < len(inner):
        match = _QUOTED.match(inner, at)
        if match is None:
            return None
        entries.append(re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2]))
        between = _BETWEEN.match(inner, match.end())
        at = between.end() if between else len(inner)
    return entries or None


def _load_json(text: str) -> Any:
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
