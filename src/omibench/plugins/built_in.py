"""The built-in parts of each kind: name -> the module that registers it on import.

They are read from the text of the modules, without importing them: a new built-in part is one new
module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_PACKAGE: Final = Path(__file__).parents[1]
_CONSTANT: Final = r'^{}(?:: [^=\n]+)? = "([^"\n]+)"'


class PartKind(NamedTuple):
    """The place of the built-in parts of one kind.

    Attributes:
        registry: Module with the registry. Code that imports it uses every built-in part, so that
            the hash of this code covers them.
        decorator: The function that registers a part; its first argument is the name.
        folder: Folder of the modules, below the package.
    """

    registry: str
    decorator: str
    folder: str


KINDS: Final[Mapping[str, PartKind]] = {
    "providers": PartKind("models.registry", "provider", "models"),
    "scorers": PartKind("answers.scorers.registry", "scorer", "answers/scorers"),
    "benchmarks": PartKind("datasets.registry", "benchmark", "datasets"),
    "generators": PartKind("datasets.generators.registry", "generator", "datasets/generators"),
    "sections": PartKind("stages.analyze.sections.section", "section", "stages/analyze/sections"),
    "results": PartKind("stages.analyze.results.result", "result", "stages/analyze/results"),
    "figures": PartKind("stages.analyze.figures.figure", "figure", "stages/analyze/figures"),
    "engines": PartKind("stages.ocr.engines.registry", "engine", "stages/ocr/engines"),
    "reasons": PartKind("stages.filter.reasons.registry", "reason", "stages/filter/reasons"),
    "prompts": PartKind("settings.registry", "prompt", "settings"),
    "conditions": PartKind("settings.registry", "condition", "settings"),
    "strategies": PartKind("settings.registry", "strategy", "settings"),
    "aggregations": PartKind("stages.aggregate.registry", "aggregation", "stages/aggregate"),
    "model_reasons": PartKind(
        "stages.filter.reasons.registry", "model_reason", "stages/filter/reasons"
    ),
    "judges": PartKind("answers.judges.registry", "judge", "answers/judges"),
}
"""Kinds as in the groups of entry points: `scorers` is `omibench.scorers`."""


@cache
def built_in_parts(kind: str) -> Mapping[str, str]:
    """Return the module of each built-in part of a kind, in the order of modules and lines.

    Args:
        kind: A key of `KINDS`; others have no built-in parts.
    """
    place = KINDS.get(kind)
    return find_registered([place.folder], [f"@{place.decorator}"]) if place else {}


def built_in_modules(registry: str) -> list[str]:
    """Return the modules of the built-in parts with the given registry module."""
    kinds = [kind for kind, place in KINDS.items() if f"omibench.{place.registry}" == registry]
    return [module for kind in kinds for module in built_in_parts(kind).values()]


def find_registered(folders: Iterable[str], calls: Sequence[str]) -> dict[str, str]:
    """Find the names that modules register, without importing them.

    Args:
        folders: Folders of the package, such as `scorers`.
        calls: The functions that register a name, such as `@scorer`. The name is a literal, or a
            constant of the module, and the first argument of the function or of the call in its
            place.

    Returns:
        Name -> module, by folder, path and line.
    """
    starts = "|".join(("^" if name.startswith("@") else r"\b") + name for name in calls)
    name_pattern = r'(?:"([^"\n]+)"|([A-Z_]+)\b)'
    pattern = re.compile(rf"(?:{starts})\(\s*(?:\w+\(\s*)?(?:name=)?{name_pattern}", re.M)
    found: dict[str, str] = {}
    for folder in folders:
        for path in sorted((_PACKAGE / folder).rglob("*.py")):
            text = path.read_text("utf-8")
            if not any(f"{name}(" in text for name in calls):
                continue
            for literal, constant in pattern.findall(text):
                value = re.search(_CONSTANT.format(constant), text, re.M) if constant else None
                if name := literal or (value and value[1]):
                    found[name] = _module_name(path)
    return found


def _module_name(path: Path) -> str:
    parts = path.relative_to(_PACKAGE).with_suffix("").parts
    return ".".join(["omibench", *parts]).removesuffix(".__init__")
