"""Attributes of problems: additional properties from a benchmark or manifest.

A value is a text, or a list of texts for several labels (EMMA, B.1: skills; MathReal, appendix
C: conditions of a photograph). Tables slice results by attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

Value = str | list[str]
MOST_ATTRIBUTES: Final = 50
LONGEST_NAME, LONGEST_VALUE, MOST_LABELS = 60, 200, 50
RESERVED: Final = (
    "answer_type", "cluster", "dataset", "id", "model", "n_images", "rules", "setting", "subject",
)  # fmt: skip
"""Names reserved for other columns of tables."""
_NAME: Final = re.compile(r"[^\W\d_][\w ./()-]*")


def list_labels(value: Value | None) -> list[str]:
    """Return the labels of a value: the text itself, or each of several; empty without a value."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def join_labels(value: Value | None) -> str:
    """Return a value as one text: labels separated by `; `, or empty."""
    return "; ".join(list_labels(value))


def split_labels(text: str, separator: str = ";") -> Value:
    """Split a text of labels at `separator`; two or more labels give a list."""
    labels = list(dict.fromkeys(filter(None, (part.strip() for part in text.split(separator)))))
    return labels if len(labels) > 1 else "".join(labels)


def keep_stated(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return the attributes that have a value."""
    return {name: value for name, value in values.items() if value}


def _check_attributes(values: Any) -> Any:
    """Normalise attributes written in YAML or JSON: numbers become texts."""
    if not isinstance(values, Mapping):
        return values
    if len(values) > MOST_ATTRIBUTES:
        raise ValueError(f"has {len(values)} attributes; at most {MOST_ATTRIBUTES} are allowed")
    return {_check_name(name): _check_value(str(name), value) for name, value in values.items()}


def _check_name(name: object) -> str:
    text = str(name)
    if text in RESERVED:
        raise ValueError(f"{text!r} is the name of a column of every table; give another name")
    if len(text) > LONGEST_NAME or text != text.strip() or not _NAME.fullmatch(text):
        raise ValueError(
            f"{text[:LONGEST_NAME]!r} is not a name of an attribute: it must begin with a "
            "letter, followed by letters, digits, spaces and _ . / - ( ), at most "
            f"{LONGEST_NAME} characters"
        )
    return text


def _check_value(name: str, value: object) -> object:
    labels = value if isinstance(value, list) else [value]
    if len(labels) > MOST_LABELS:
        raise ValueError(f"{name}: has {len(labels)} labels; at most {MOST_LABELS} are allowed")
    texts = [_check_label(name, label) for label in labels]
    return texts if isinstance(value, list) else texts[0]


def _check_label(name: str, label: object) -> str:
    if isinstance(label, bool):
        return "yes" if label else "no"
    if not isinstance(label, str | int | float):
        raise ValueError(f"{name}: give a text or a list of texts")
    text = str(label).strip()
    if not text or len(text) > LONGEST_VALUE:
        raise ValueError(f"{name}: a label must have 1 to {LONGEST_VALUE} characters")
    return text


StatedAttributes = Annotated[dict[str, Value], BeforeValidator(_check_attributes)]
"""Attributes that a user gives to a source or a problem; names and lengths are limited."""
