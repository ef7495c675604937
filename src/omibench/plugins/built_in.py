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
}
"""Kinds are named as the groups of entry points: `rule_books` is `omibench.rule_books`."""
