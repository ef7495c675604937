"""Conversion of a validation error into one actionable line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LONGEST = 80
"""Maximum characters shown of an invalid value."""
UNSHOWN = "unshown"
"""Error type for a value that can be a secret: it is never printed."""
UNKNOWN_PART = "unknown_part"
"""Error type whose message contains the value: no registered part has this name."""
_NESTED = "nested"
_BLOCKS = {"model_type", "model_attributes_type", "dict_type"}


def explain(error: ValidationError, root: type[BaseModel]) -> str:
    """Describe the first error: its location, the problem, the value, and the number of others."""
    remaining = _count(error) - 1
    path, blocks, first = _first(error, root)
    dotted_path, ending = (
        ".".join(path),
        f" (and {remaining} more mistake{'s' * (remaining > 1)})" if remaining else "",
    )
    if first["type"] == "extra_forbidden":
        candidates = [name for block in blocks for name in block.model_fields]
        return f"{dotted_path}: unknown key{suggest_name(path[-1], candidates)}{ending}"
    if first["type"] == "union_tag_invalid":
        tag = first["ctx"]["discriminator"].strip("'")
        candidates = [name.strip(" '") for name in first["ctx"]["expected_tags"].split(",")]
        tag_value = first["ctx"]["tag"]
        hint = suggest_name(tag_value, candidates)
        return f"{dotted_path}.{tag}: unknown value {tag_value!r}{hint}{ending}"
    if first["type"] in _BLOCKS:
        place = f"{dotted_path}: " if dotted_path else ""
        return f"{place}is {_short(first['input'])}, but must be a block of keys{ending}"
    value = first["input"]
    hidden = isinstance(value, Mapping | BaseModel) or first["type"] in (UNSHOWN, UNKNOWN_PART)
    value_note = "" if hidden else f" (got {_short(value)})"
    message = first["msg"].removeprefix("Value error, ")
    return f"{dotted_path + ': ' if dotted_path else ''}{message}{value_note}{ending}"


def explain_all(error: ValidationError, root: type[BaseModel]) -> list[str]:
    """Describe every error as `explain` does, in order; those of one value once.

    A missing key is left out if its name was misspelt: the unknown key is listed.
    """
    lines: dict[tuple[int | str, ...], str] = {}
    details = error.errors()
    unknown = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    for detail in details:
        if detail["type"] == "missing" and _is_misspelt(detail["loc"], unknown):
            continue
        line = InitErrorDetails(
            type=detail["type"], loc=detail["loc"], input=detail["input"],
            ctx=detail.get("ctx", {}),
        )  # fmt: skip
        try:
            single = ValidationError.from_exception_data(error.title, [line])
        except (KeyError, TypeError, ValueError):  # an error of our own type
            return [explain(error, root)]
        lines.setdefault(detail["loc"], explain(single, root))
    return list(lines.values())


def _is_misspelt(missing: tuple[int | str, ...], unknown: Iterable[tuple[int | str, ...]]) -> bool:
    beside = [str(path[-1]) for path in unknown if path[:-1] == missing[:-1]]
    return bool(get_close_matches(str(missing[-1]), beside, n=1))


def nested_error(error: ValidationError, block: type[BaseModel]) -> PydanticCustomError:
    """Return the errors of a block, whose class depends on its values, as one error of its parent.

    Args:
        error: Error from validating the block.
        block: Class of the block.

    Returns:
        An error to raise in a validator; `explain` extracts the original errors.
    """
    return PydanticCustomError(_NESTED, "is not a valid block", {"error": error, "block": block})


def _first(
    error: ValidationError, root: type[BaseModel]
) -> tuple[list[str], list[type[BaseModel]], ErrorDetails]:
    """Return the path of the error to report, the candidate blocks, and the error."""
    first = _worst(error)
    path, blocks = _follow([str(part) for part in first["loc"]], root)
    if first["type"] != _NESTED:
        return path, blocks, first
    inner, blocks, first = _first(first["ctx"]["error"], first["ctx"]["block"])
    return path + inner, blocks, first


def _count(error: ValidationError) -> int:
    nested = [e["ctx"]["error"] for e in error.errors() if e["type"] == _NESTED]
    return error.error_count() - len(nested) + sum(_count(inner) for inner in nested)


def _worst(error: ValidationError) -> ErrorDetails:
    """Return the error to report: a misspelt key before the required one it leaves missing."""
    first, *later = error.errors()
    if first["type"] != "missing":
        return first
    block = first["loc"][:-1]
    unknown = (e for e in later if e["type"] == "extra_forbidden" and e["loc"][:-1] == block)
    return next(unknown, first)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def suggest_name(name: str, known_names: Iterable[str]) -> str:
    """Return a final hint: the nearest known name, or the list of all names."""
    near = get_close_matches(name, list(known_names), n=1)
    return (
        f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known_names) or 'none'}"
    )


def _follow(path: list[str], root: type[BaseModel]) -> tuple[list[str], list[type[BaseModel]]]:
    """Return the keys of the path as written, and the types of the block it ends in.

    pydantic adds the tag of a tagged union to the path; it is not a key of the file.
    """
    keys: list[str] = []
    current_types: list[object] = [root]
    for key in path[:-1]:
        inner = [
            a for block in current_types for value in _values(block, key) for a in _options(value)
        ]
        if inner or not keys:
            keys.append(key)
            current_types = inner
    blocks = [b for b in current_types if isinstance(b, type) and issubclass(b, BaseModel)]
    return [*keys, *path[-1:]], blocks


def _values(block: object, key: str) -> list[object]:
    if isinstance(block, type) and issubclass(block, BaseModel):
        field = block.model_fields.get(key)
        return [field.annotation] if field else []
    if get_origin(block) in (dict, list, tuple):
        return [get_args(block)[-1]]
    return []


def _options(annotation: object) -> list[object]:
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [inner for arg in get_args(annotation) for inner in _options(arg)]
    return [annotation]
