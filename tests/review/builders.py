"""Tasks and decisions for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from omibench.review.contents import hash_content
from omibench.review.kinds import find_kind
from omibench.schemas.problem import Choice, Problem
from omibench.schemas.review import ReviewDecision, ReviewTask

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
GOOD: dict[str, Any] = {"valid": "valid", "quality": 4}


CHOICES = [Choice(label="A", text="1 m"), Choice(label="B", text="2 m")]


def make_problem(name: str = "p1", **values: Any) -> Problem:
    """A problem of physics with two choices, its key and a solution."""
    fields: dict[str, Any] = {
        "id": name, "question": "How far?", "choices": CHOICES, "answer": ["A"],
        "subject": "physics", "source": "s", "source_sha256": "0" * 64, "number": "1",
        "pages": [1], "solution": "It rolls.",
    }  # fmt: skip
    return Problem(**(fields | values))


def make_task(
    problem: str = "p1", kind: str = "item", content: dict[str, Any] | None = None, **values: Any
) -> ReviewTask:
    """A task on a problem; by default on an item with a question and an answer."""
    content = {"question": "Why?", "answer": ["A"]} if content is None else content
    return ReviewTask(
        id=values.pop("id", f"{kind}:{problem}"),
        kind=kind,
        problem=problem,
        content=content,
        **({"content_hash": hash_content(find_kind(kind), content)} | values),
    )


def decide(
    number: int, person: str, role: Any, task: ReviewTask, fields: Any = None, **values: Any
) -> ReviewDecision:
    """The event `number` minutes after the start; by default it calls an item good."""
    return ReviewDecision(
        id=f"d{number}",
        task=task.id,
        kind=task.kind,
        person=person,
        role=role,
        time=START + timedelta(minutes=number),
        content_hash=values.pop("content_hash", task.content_hash),
        fields=GOOD if fields is None else fields,
        **values,
    )


def write_lines(path: Path, *rows: BaseModel | str) -> Path:
    """Write rows, and lines as they are, into a JSON Lines file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else row.model_dump_json() for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
