"""Tasks on responses of models: steps, ratings, and sources of disagreements."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from omibench.review.contents import Content
from omibench.review_tasks.drafts import TaskDetails, TaskDraft, draft_task
from omibench.review_tasks.problems import list_picture_files
from omibench.schemas.problem import Answer, Question
from omibench.schemas.review import ReviewedResponse
from omibench.text.steps import split_steps
from omibench.text.visible import drop_hidden_text


@dataclass(frozen=True)
class DatasetHalves:
    """The frozen questions and answers by id, and the folder of their pictures."""

    questions: Mapping[str, Question]
    answers: Mapping[str, Answer]
    folder: Path


@dataclass(frozen=True)
class ShownResponse:
    """A response for review.

    Attributes:
        model: The model.
        setting: The setting.
        id: The problem.
        index: The sample.
        text: The full text.
        simulated: Whether a simulated model gave it.
        facts: Facts shown next to it, such as the extracted answer.
    """

    model: str
    setting: str
    id: str
    index: int
    text: str
    simulated: bool = False
    facts: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        """`MODEL/SETTING/ID#INDEX`."""
        return f"{self.model}/{self.setting}/{self.id}#{self.index}"

    def rank(self, seed: int) -> bytes:
        """Its rank in a draw, which depends only on the seed and the response."""
        return hashlib.sha256(f"{seed}\0{self.name}".encode()).digest()


def draft_steps(
    responses: Iterable[ShownResponse], data: DatasetHalves, types: Mapping[str, str]
) -> list[TaskDraft]:
    """Make a task for the steps of each response (OMIBench, B.2 and F.2.1).

    Args:
        responses: Responses judged wrong.
        data: Their problems.
        types: Types of errors with their definitions.
    """
    options: list[JsonValue] = [
        {"value": name, "title": name.replace("_", " ").capitalize(), "help": meaning}
        for name, meaning in types.items()
    ]
    return [
        _draft("steps", response, data, {
            "steps": list(split_steps(drop_hidden_text(response.text))),
            "error_types": options,
        })
        for response in responses
    ]  # fmt: skip


def draft_ratings(responses: Iterable[ShownResponse], data: DatasetHalves) -> list[TaskDraft]:
    """Make a task for rating each response, without showing any verdict (OMIBench, J)."""
    return [_draft("rating", response, data, _show(response)) for response in responses]


def draft_disagreement_tasks(
    responses: Iterable[ShownResponse], data: DatasetHalves
) -> list[TaskDraft]:
    """Make a task for each response on which scorer and judge disagree (OMIBench, C.3)."""
    return [_draft("disagreement", response, data, _show(response)) for response in responses]


def _show(response: ShownResponse) -> Content:
    return {"response": drop_hidden_text(response.text)}


def _draft(kind: str, response: ShownResponse, data: DatasetHalves, parts: Content) -> TaskDraft:
    question, answer = data.questions[response.id], data.answers[response.id]
    content: dict[str, Any] = {
        "question": question.question,
        "choices": [choice.model_dump(mode="json") for choice in question.choices or []],
        "answer": list(answer.answer),
        "solution": answer.solution or "",
        "facts": dict(response.facts or {}),
    }
    sha256 = hashlib.sha256(response.text.encode("utf-8", "surrogatepass")).hexdigest()
    details = TaskDetails(
        {
            "subject": question.subject,
            "type": question.answer_type,
            "model": response.model,
            "setting": response.setting,
        },
        simulated=response.simulated,
        response=ReviewedResponse(
            model=response.model,
            setting=response.setting,
            id=response.id,
            index=response.index,
            sha256=sha256,
        ),
    )
    pictures = list_picture_files(question, data.folder)
    return draft_task(kind, response.name, content | parts, pictures, details)
