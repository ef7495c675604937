"""Argument validation of the API: errors name the argument."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import ParamSpec, TypeVar

from pydantic import BaseModel, ValidationError

from omibench.errors import ArgumentError
from omibench.schemas.validation import explain

Part = TypeVar("Part", bound=BaseModel)
P = ParamSpec("P")
R = TypeVar("R")


def check_instance(name: str, value: object, kind: type[Part]) -> Part:
    """Return an object unchanged, or build it from a mapping.

    Args:
        name: Argument name in error messages.
        value: Object, or a mapping of its fields.
        kind: Expected type.

    Raises:
        ArgumentError: If it is neither, or a field is invalid.
    """
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise ArgumentError(
            f"{name}: is {type(value).__name__}; give a {kind.__name__}, or a mapping of its fields"
        )
    try:
        return kind.model_validate(dict(value))
    except ValidationError as error:
        raise ArgumentError(f"{name}: {explain(error, kind)}") from None


def check_path(name: str, value: object) -> Path:
    """Return a text or path as a path.

    Raises:
        ArgumentError: If it is neither, or empty.
    """
    if not isinstance(value, str | PathLike) or not str(value):
        raise ArgumentError(f"{name}: is {value!r}; give the path of a file or folder")
    return Path(value)


def check_kind(name: str, value: object, kind: type, remedy: str) -> None:
    """Check the type of an argument.

    Raises:
        ArgumentError: If it has another type; the message ends in `remedy`.
    """
    if not isinstance(value, kind):
        raise ArgumentError(f"{name}: is {type(value).__name__}; {remedy}")


def takes_scorer(function: Callable[P, R]) -> Callable[P, R]:
    """Also read the argument `scorer` under its former name `rules`, with a DeprecationWarning."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if "rules" in kwargs:
            warnings.warn("`rules` is now called `scorer`", DeprecationWarning, stacklevel=2)
            kwargs.setdefault("scorer", kwargs.pop("rules"))
        return function(*args, **kwargs)

    return call
