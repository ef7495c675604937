"""Addresses of synthetic problems and `oracle` files: `synthetic:<study>[:<seed>]`."""

from __future__ import annotations

from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.schemas.validation import suggest_name
from omibench.synthetic.profiles import LIKES, Like

SCHEME = "synthetic"


class Made(NamedTuple):
    """Synthetic problems: the study whose shape they have, and the seed."""

    like: Like
    seed: int = 0

    def __str__(self) -> str:
        return ":".join((SCHEME, self.like, *([str(self.seed)] if self.seed else [])))


def is_made_up(source: str) -> bool:
    """Return whether `source` is the address of synthetic problems."""
    return source.startswith(f"{SCHEME}:")


def parse_address(address: str) -> Made | None:
    """Parse an address; None for anything else, such as the path of a file.

    Raises ParamsError for an unknown study, or a seed that is not a number.
    """
    scheme, *parts = address.split(":")
    if scheme != SCHEME or not parts:
        return None
    if parts[0] not in LIKES:
        hint = suggest_name(parts[0], list(LIKES))
        raise ParamsError(f"{address!r}: there are no synthetic problems like {parts[0]!r}{hint}")
    seed = parts[1] if len(parts) == 2 else "0"
    if len(parts) > 2 or not seed.isdecimal():
        raise ParamsError(
            f"{address!r}: needs the form {SCHEME}:{parts[0]}:SEED with a whole number"
        )
    return Made(parts[0], int(seed))
