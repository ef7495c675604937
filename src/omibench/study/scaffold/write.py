"""Write a new plug-in from its template, with a passing test."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from omibench.errors import OutputError, ParamsError
from omibench.plugins.registry import known_names
from omibench.schemas.validation import suggest_name

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class PartKind(NamedTuple):
    """A kind of part: its registry, and its use in params."""

    registry: str
    usage: str


KINDS = {
    "provider": PartKind("providers", "models: {mine: {provider: NAME, id: one, reply: A}}"),
    "scorer": PartKind("scorers", "score: {scorers: [NAME]}"),
    "setting": PartKind("prompts", "settings: {mine: {prompt: NAME}}"),
    "benchmark": PartKind("benchmarks", "benchmark: {name: NAME}"),
    "section": PartKind("sections", "(every report shows it)"),
    "result": PartKind("results", "(every study writes its table)"),
    "judge": PartKind("judges", "judge: {others: {NAME: {models: [my-judge]}}}"),
    "strategy": PartKind("strategies", "settings: {mine: {strategy: NAME}}"),
    "aggregation": PartKind(
        "aggregations", "settings: {mine: {decoding: {samples: 4}, aggregate: NAME}}"
    ),
    "model-reason": PartKind("model_reasons", "filter: {model_reasons: {NAME: [my-judge]}}"),
    "engine": PartKind("engines", "ocr: {engine: NAME}"),
}
"""Argument of `omibench new` -> kind."""


class NewPart(NamedTuple):
    """New files, and the use of the part in params."""

    created: list[Path]
    usage: str


def write_part(kind: str, name: str, folder: Path) -> NewPart:
    """Write the module of a new plug-in and its test.

    Args:
        kind: Key of `KINDS`.
        name: Name in params: lower-case letters, digits and hyphens.
        folder: The folder of a study.

    Returns:
        The written files, and the part's use.

    Raises:
        ParamsError: If the kind is unknown, or the name is invalid or in use.
        OutputError: If one of its files already exists; nothing is written then.
    """
    if kind not in KINDS:
        raise ParamsError(f"new: {kind!r} is not a kind of part{suggest_name(kind, KINDS)}")
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ParamsError(
            f"new: {name!r} is not a valid name; use lower-case letters, digits and hyphens, "
            "such as my-rules"
        )
    if name in known_names(KINDS[kind].registry):
        raise ParamsError(f"new {kind}: the name {name!r} is taken; choose another one")
    module = name.replace("-", "_")
    title = "".join(word.capitalize() for word in name.split("-"))
    templates = files("omibench.study.scaffold") / "templates"
    texts = {
        folder / file: Template((templates / template).read_text("utf-8")).substitute(
            name=name, module=module, title=title
        )
        for file, template in (
            (f"{module}.py", f"{kind}.py.txt"),
            (f"test_{module}.py", f"{kind}_test.py.txt"),
        )
    }
    existing = next((path for path in texts if path.exists()), None)
    if existing:
        raise OutputError(f"{existing}: already exists and is not changed; choose another name")
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    usage = KINDS[kind].usage.replace("NAME", name)
    return NewPart([*texts], f"plugins: [{module}.py]\n{usage}")
