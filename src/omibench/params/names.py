"""Names of parts in params.yaml: built-in ones and those of plug-ins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from omibench.plugins.registry import has_part, known_names, runs_files
from omibench.prompts.names import list_prompt_names
from omibench.schemas.validation import UNKNOWN_PART, suggest_name

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
ConditionName = Annotated[str, PartName("conditions", "image condition")]
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
