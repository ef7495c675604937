"""The part of a booklet that a solver can see: figures and choices, without answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Data = dict[str, Any]
BOOKLETS = Path(__file__).resolve().parents[1] / "booklets"


@dataclass(frozen=True)
class Page:
    """One problem as printed: the data of its figures, its stem's first, and its choices."""

    figures: tuple[Data, ...]
    choices: tuple[str | Data, ...] = ()


def pages(booklet: Data) -> dict[int, Page]:
    """Return the pages of a booklet's problems by number, without other fields of the source."""
    stems = booklet.get("stems") or []
    return {
        problem["number"]: Page(
            figures=tuple(
                figure["data"]
                for holder in [*(s for s in stems if problem["number"] in s["problems"]), problem]
                for figure in holder.get("figures") or []
            ),
            choices=tuple(
                choice if isinstance(choice, str) else choice["data"]
                for choice in problem.get("choices") or []
            ),
        )
        for problem in booklet["problems"]
    }


def load(name: str) -> dict[int, Page]:
    """Return the pages of `booklets/<name>.yaml` by problem number.

    Raises FileNotFoundError if the booklet does not exist.
    """
    return pages(yaml.safe_load((BOOKLETS / f"{name}.yaml").read_text(encoding="utf-8")))
