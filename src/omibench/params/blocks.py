"""What every block of params.yaml is made of."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from omibench.schemas.validation import UNSHOWN
from omibench.text.masking import literal_secret, looks_secret

_PATH_SIGNS = " ./_-+,=@%:#~()"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


def _check_variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        raise PydanticCustomError(
            UNSHOWN,
            "names an environment variable, in capital letters, digits and _; "
            "a key itself never stands in a file (the value is not shown)",
        )
    return text


def _plain(path: str) -> str:
    odd = next((c for c in path if not (_is_letter(c) or c in _PATH_SIGNS)), None)
    if odd is not None:
        raise ValueError(
            f"holds {odd!r}: this path stands in commands and patterns of the graph, so that it is "
            f"made of letters, digits, spaces and {' '.join(_PATH_SIGNS.strip())} alone"
        )
    if path != path.strip() or path.startswith("-") or not path:
        raise ValueError("is no path: it is empty, or begins with - or a space, or ends with one")
    return path


def _is_letter(character: str) -> bool:
    # Marks are parts of letters: accents as macOS writes them, vowels of Indian scripts.
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _check_address(text: str) -> str:
    try:
        url = urlsplit(text)
        host, user = url.hostname, url.username or url.password
    except ValueError:
        host = user = None
    if user:
        raise PydanticCustomError(
            UNSHOWN,
            "holds a name or password; give them by an environment variable "
            "(the value is not shown)",
        )
    odd = any(unicodedata.category(c)[0] in "CZ" for c in text)
    if not host or url.scheme not in ("http", "https") or odd:
        raise ValueError("is no address: give one such as https://host/v1")
    if looks_secret(text):
        raise PydanticCustomError(
            UNSHOWN,
            "holds a key; name the environment variable that holds it in `key_env` "
            "(the value is not shown)",
        )
    return text


def _without_secrets(values: dict[str, Any]) -> dict[str, Any]:
    name = literal_secret(values)
    if name is not None:
        raise PydanticCustomError(
            UNSHOWN,
            "holds a key in `{field}`; write `${NAME}` there, and put the key into the "
            "environment variable NAME (the value is not shown)",
            {"field": name},
        )
    return values


Rate = Annotated[float, Field(ge=0, le=1)]
MOST_USD = 1e9
Dollars = Annotated[float, Field(ge=0, le=MOST_USD, allow_inf_nan=False)]
"""An amount of US dollars that the ledger can count; no cap is said by leaving it out."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
Variable = Annotated[str, AfterValidator(_check_variable)]
"""The name of an environment variable that holds a secret."""
PlainPath = Annotated[str, AfterValidator(_plain)]
"""A path without what a shell, or Snakemake's patterns, give a meaning of their own."""
Url = Annotated[str, AfterValidator(_check_address)]
Extra = Annotated[dict[str, Any], AfterValidator(_without_secrets)]
"""Fields of somebody else's; a secret among them is named as `${NAME}`, never written."""


class Block(BaseModel):
    """A block of params.yaml: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
