"""Tasks of every kind, with formulas, pictures and steps."""

from __future__ import annotations

from typing import Any, Final

from omibench.review.app.demo import invent_content
from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewTask, TaskPicture

QUESTION: Final = r"""A rod of mass $m$ hangs from the pivot of [IMAGE0]. It costs $5, or \$6.

(a) Show that $$T = 2\pi\sqrt{\frac{2\ell}{3g}}$$
(b) Balance $\ce{2H2 + O2 -> 2H2O}$.

| quantity | value |
|---|---|
| $g$ | 9.81 |
"""
CONTENT: Final[dict[str, Any]] = {
    "question": QUESTION,
    "choices": [{"label": "A", "text": r"It grows with $\ell$"}, {"label": "B", "image": 1}],
}


def make_task(
    kind: str, name: str, pictures: list[TaskPicture], content: dict[str, Any] | None = None
) -> ReviewTask:
    """A task of a kind, open to everybody who has the role."""
    invented = invent_content(KINDS[kind])
    given = CONTENT | (content or {})
    parts = {part: given.get(part, value) for part, value in invented.items()}
    return ReviewTask(
        id=f"{kind}:{name}",
        kind=kind,
        problem=name,
        content=parts,
        content_hash=hash_content(KINDS[kind], parts, pictures),
        pictures=[p for p in pictures if kind == "page" or p.part == "image"],
    )
