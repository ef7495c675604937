"""The role of each field of a model's block, declared with the field.

A field without a role is part of the model's identity, so that none is forgotten. Keys of the
store, certificates, parameters of jobs and their environment are derived from the roles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class Role(Enum):
    """The effect of a change of a field."""

    IDENTITY = "identity"
    """Another model: it is queried again, and certificates of the old one do not apply."""
    REQUEST = "request"
    """The same model, queried or read differently: its jobs run again and find the stored
    responses."""
    RUNTIME = "runtime"
    """How it is reached, loaded and billed here: no job runs again."""
    DISPLAY = "display"
    """How tables show it: only the report is rebuilt."""


Request = Annotated[T, Role.REQUEST]
Runtime = Annotated[T, Role.RUNTIME]
Display = Annotated[T, Role.DISPLAY]

JOB: Final = (Role.IDENTITY, Role.REQUEST)
"""The roles of fields that determine whether a job runs again."""


@cache
def field_roles(block: type[BaseModel]) -> Mapping[str, Role | type[BaseModel]]:
    """Return the role of each field of a block.

    Args:
        block: A block of params.yaml.

    Returns:
        For each field its role, or the inner block whose fields have roles.
    """
    return {
        name: _role(field.annotation, field.metadata) for name, field in block.model_fields.items()
    }


def select_fields(
    block: type[BaseModel], values: Mapping[str, Any], roles: Collection[Role]
) -> dict[str, Any]:
    """Select the values of a block whose fields have one of these roles.

    Args:
        block: The block's class.
        values: Plain values from params.yaml. Keys that the block lacks are identity.
        roles: The roles to keep.

    Returns:
        The selected values, in order; empty inner blocks are omitted.
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
    """Join two selections of the same block's values, including inner blocks."""
    joined = dict(values)
    for name, value in additions.items():
        inner = joined.get(name)
        nested = isinstance(inner, Mapping) and isinstance(value, Mapping)
        joined[name] = {**inner, **value} if nested else value  # type: ignore[dict-item]
    return joined


def _role(annotation: Any, marks: Collection[object]) -> Role | type[BaseModel]:
    marked = next((mark for mark in marks if isinstance(mark, Role)), None)
    if marked is not None:
        return marked
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return Role.IDENTITY
