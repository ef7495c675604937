"""What a field of a model's block is for, said where the field is defined.

A field without a mark is part of the model's identity, so that none is forgotten. What enters keys
of the store, certificates, the parameters of jobs and their environment is derived from here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class Role(Enum):
    """What a change of a field means."""

    IDENTITY = "identity"
    """It is another model: it is asked again, and certificates of the old one are not its own."""
    REQUEST = "request"
    """The same model, asked or read in another way: its jobs run again and find what is stored."""
    RUNTIME = "runtime"
    """How it is reached, loaded and paid here: no job runs again."""
    DISPLAY = "display"
    """What tables say of it: the report alone is rebuilt."""


Request = Annotated[T, Role.REQUEST]
Runtime = Annotated[T, Role.RUNTIME]
Display = Annotated[T, Role.DISPLAY]

JOB: Final = (Role.IDENTITY, Role.REQUEST)
"""The roles of fields that decide whether a job runs again."""


@cache
def field_roles(block: type[BaseModel]) -> Mapping[str, Role | type[BaseModel]]:
    """The role of each field of a block.

    Args:
        block: A block of params.yaml.

    Returns:
        For each field its role, or the inner block whose own fields have roles.
    """
    return {name: _role(field.annotation, field.metadata) for name, field in _fields(block)}


def select_fields(
    block: type[BaseModel], values: Mapping[str, Any], roles: Collection[Role]
) -> dict[str, Any]:
    """The part of a block's values whose fields have one of these roles.

    Args:
        block: The block's class.
        values: Plain values, as params.yaml holds them. Keys that the block lacks are identity.
        roles: The roles to keep.

    Returns:
        The values that are kept, in their order; inner blocks of which nothing is left are absent.
    """
    selected: dict[str, Any] = {}
    by_field = field_roles(block)
    for name, value in values.items():
        role = by_field.get(name, Role.IDENTITY)
        if not isinstance(role, Role):
            inner = select_fields(role, value, roles) if isinstance(value, Mapping) else value
            if inner:
                selected[name] = inner
        elif role in roles:
            selected[name] = value
    return selected


def join_fields(values: Mapping[str, Any], additions: Mapping[str, Any]) -> dict[str, Any]:
    """Two selections of the same block's values as one, inner blocks joined as well."""
    joined = dict(values)
    for name, value in additions.items():
        inner = joined.get(name)
        nested = isinstance(inner, Mapping) and isinstance(value, Mapping)
        joined[name] = {**inner, **value} if nested else value  # type: ignore[dict-item]
    return joined


def _fields(block: type[BaseModel]) -> list[tuple[str, Any]]:
    return list(block.model_fields.items())


def _role(annotation: Any, marks: Collection[object]) -> Role | type[BaseModel]:
    marked = next((mark for mark in marks if isinstance(mark, Role)), None)
    if marked is not None:
        return marked
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return Role.IDENTITY
