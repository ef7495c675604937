"""The common base and field types of the blocks of params.yaml."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from omibench.plugins.registry import has_part, known_names, runs_files
from omibench.schemas.validation import UNKNOWN_PART, UNSHOWN, suggest_name
from omibench.settings.prompt_names import list_prompt_names
from omibench.text.masking import literal_secret, looks_secret

_PATH_SIGNS = " ./_-+,=@%:#~()"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


def _check_variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        raise PydanticCustomError(
            UNSHOWN,
            "is not the name of an environment variable (capital letters, digits and _); a key "
            "itself must never be in a file (the value is not shown)",
        )
    return text


def _plain(path: str) -> str:
    odd = next((c for c in path if not (_is_letter(c) or c in _PATH_SIGNS)), None)
    if odd is not None:
        raise ValueError(
            f"contains {odd!r}; this path is used in commands and patterns of the graph, so it "
            f"can only contain letters, digits, spaces and {' '.join(_PATH_SIGNS.strip())}"
        )
    if path != path.strip() or path.startswith("-") or not path:
        raise ValueError(
            "is not a valid path: it is empty, begins with - or a space, or ends with a space"
        )
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
            "contains a name or password; set them in an environment variable (the value is not "
            "shown)",
        )
    odd = any(unicodedata.category(c)[0] in "CZ" for c in text)
    if not host or url.scheme not in ("http", "https") or odd:
        raise ValueError("is not an address; give one such as https://host/v1")
    if looks_secret(text):
        raise PydanticCustomError(
            UNSHOWN,
            "contains a key; set `key_env` to the environment variable with the key (the value is "
            "not shown)",
        )
    return text


def _without_secrets(values: dict[str, Any]) -> dict[str, Any]:
    name = literal_secret(values)
    if name is not None:
        raise PydanticCustomError(
            UNSHOWN,
            "contains a key in `{field}`; write `${NAME}` there, and set the environment variable "
            "NAME to the key (the value is not shown)",
            {"field": name},
        )
    return values


Rate = Annotated[float, Field(ge=0, le=1)]
MOST_USD = 1e9
Dollars = Annotated[float, Field(ge=0, le=MOST_USD, allow_inf_nan=False)]
"""An amount in US dollars that the ledger can count; omit it for no cap."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
Variable = Annotated[str, AfterValidator(_check_variable)]
"""The name of an environment variable with a secret."""
PlainPath = Annotated[str, AfterValidator(_plain)]
"""A path without characters that are special in a shell or in Snakemake's patterns."""
Url = Annotated[str, AfterValidator(_check_address)]
Extra = Annotated[dict[str, Any], AfterValidator(_without_secrets)]
"""Additional fields of a third party; a secret in them is written as `${NAME}`."""


class Block(BaseModel):
    """A block of params.yaml: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def short_form(key: str, accepted: Any) -> BeforeValidator:
    """Accept a text in place of a block, as the value of one key of it.

    Args:
        key: The key.
        accepted: Type of the text or the block, for the JSON schema.
    """

    def expand(value: object) -> object:
        return {key: value} if isinstance(value, str) else value

    return BeforeValidator(expand, json_schema_input_type=accepted)


# Names of parts in params.yaml: built-in ones and those of plug-ins.

PART_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]*$"


@dataclass(frozen=True)
class PartName:
    """A text that must be the name of a part of one kind when params are parsed.

    Its JSON schema lists the built-in names for editors and allows others.

    Attributes:
        kind: The kind in the registry: `scorers`.
        noun: The term in messages: `scorer`.
        first: Further valid names, listed first.
        last: Further valid names, listed last.
        without: Built-in names that are not valid here, because they have another key.
    """

    kind: str
    noun: str
    first: Sequence[str] = ()
    last: Sequence[str] = ()
    without: Sequence[str] = ()

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        from omibench.plugins.built_in import built_in_parts

        built_in = [name for name in built_in_parts(self.kind) if name not in self.without]
        names = [*self.first, *built_in, *self.last]
        others = {
            "description": f"A {self.noun} of a plug-in.", "pattern": PART_NAME, "type": "string"
        }  # fmt: skip
        return {"anyOf": [{"enum": names, "type": "string"}, others]} if names else others

    def _check(self, name: str) -> str:
        is_allowed = name not in self.without and has_part(self.kind, name)
        if name in (*self.first, *self.last) or is_allowed or not runs_files():
            return name
        parts = [part for part in known_names(self.kind) if part not in self.without]
        names = [*self.first, *parts, *self.last]
        raise PydanticCustomError(
            UNKNOWN_PART,
            "unknown {noun} {name}{hint}",
            {"noun": self.noun, "name": repr(name), "hint": suggest_name(name, names)},
        )


ScorerName = Annotated[str, PartName("scorers", "scorer")]
BenchmarkName = Annotated[str, PartName("benchmarks", "benchmark", first=("papers",))]
"""`papers` is built from exam papers by the stages before freeze."""
EngineName = Annotated[
    str, PartName("engines", "OCR engine", first=("textlayer",), last=("mathpix", "vision"))
]
"""`textlayer` reads no pixels; `mathpix` and `vision` are called over a network."""
ReasonName = Annotated[str, PartName("reasons", "reason of the filter")]
ModelReasonName = Annotated[str, PartName("model_reasons", "reason of models")]
ConditionName = Annotated[str, PartName("conditions", "image condition")]
StrategyName = Annotated[str, PartName("strategies", "strategy")]
JudgeName = Annotated[
    str,
    PartName(
        "judges", "judge of reasoning", without=("quality", "alignment", "error_type", "transcript")
    ),
]
"""The built-in judges have separate keys."""


def _check_prompt(name: str) -> str:
    names = list_prompt_names()
    if name not in names and runs_files():
        raise ValueError(f"unknown prompt {name!r}{suggest_name(name, names)}")
    return name


PromptFiles = dict[Annotated[str, AfterValidator(_check_prompt)], str]
"""Paths of text files by the names of the prompts that they replace."""
