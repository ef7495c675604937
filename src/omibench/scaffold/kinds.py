"""Kinds of parts with templates, and their location in a checkout."""

from __future__ import annotations

from typing import NamedTuple


class PartKind(NamedTuple):
    """A kind of part: its registry, the folder of its modules, and its use in params."""

    registry: str
    folder: str
    usage: str


KINDS = {
    "provider": PartKind(
        "providers", "models", "models: {mine: {provider: NAME, id: one, reply: A}}"
    ),
    "rules": PartKind("scorers", "scorers", "score: {rules: [NAME]}"),
    "setting": PartKind("prompts", "settings", "settings: {mine: {prompt: NAME}}"),
    "benchmark": PartKind("benchmarks", "datasets", "benchmark: {name: NAME}"),
    "section": PartKind("sections", "stages/analyze/sections", "(every report shows it)"),
    "result": PartKind("results", "stages/analyze/results", "(every study writes its table)"),
    "judge": PartKind("judges", "judges", "judge: {others: {NAME: {models: [my-judge]}}}"),
    "engine": PartKind("engines", "stages/ocr/engines", "ocr: {engine: NAME}"),
}
"""Argument of `omibench new` -> kind."""
