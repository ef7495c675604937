"""The built-in parts of each kind: name -> the module that registers it when it is imported.

A new built-in part is a module of its own and one line here.
"""

from __future__ import annotations

from typing import Final

BUILT_IN: Final[dict[str, dict[str, str]]] = {
    "rule_books": {
        "omibench": "omibench.rule_books.omibench",
        "emma": "omibench.rule_books.emma",
        "usnco-v": "omibench.rule_books.usnco_v",
        "mathreal": "omibench.rule_books.mathreal",
        "robust": "omibench.rule_books.robust",
        "published": "omibench.rule_books.published",
    },
    "sections": {
        "main": "omibench.stages.analyze.sections.main",
        "published": "omibench.stages.analyze.sections.published",
        "accuracy": "omibench.stages.analyze.sections.accuracy",
        "images": "omibench.stages.analyze.sections.images",
        "rules": "omibench.stages.analyze.sections.rules",
        "failures": "omibench.stages.analyze.sections.failures",
        "samples": "omibench.stages.analyze.sections.samples",
        "judge": "omibench.stages.analyze.sections.judge",
        "reasoning": "omibench.stages.analyze.sections.reasoning",
        "saliency": "omibench.stages.analyze.sections.saliency",
        "provenance": "omibench.stages.analyze.sections.provenance",
    },
}
"""Kinds are named as the groups of entry points: `rule_books` is `omibench.rule_books`."""
