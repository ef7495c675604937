"""Parts of your own: a decorator for each kind that registers one under a name."""

from __future__ import annotations

from omibench.datasets.registry import benchmark
from omibench.rule_books.registry import rule_book
from omibench.settings.registry import condition, prompt
from omibench.stages.analyze.sections.section import section
from omibench.stages.filter.reasons.registry import reason
from omibench.stages.ocr.engines.registry import engine

__all__ = ["benchmark", "condition", "engine", "prompt", "reason", "rule_book", "section"]
