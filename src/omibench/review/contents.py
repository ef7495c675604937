"""What tasks on a problem show: the content that `assign` writes and `freeze` computes again.

A decision counts for the content that its person saw. Each kind is about the problem as the kinds
before it in `PROBLEM_KINDS` have left it: who corrects a page changes what is translated, and an
item is judged in its final form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pydantic import JsonValue

from omibench.review.hashing import hash_content, normalise_lines
from omibench.review.kinds import find_kind
from omibench.schemas.attributes import join_labels
from omibench.schemas.problem import Choice, Problem, Question
from omibench.schemas.review import ReviewTask, TaskPicture

Content = dict[str, JsonValue]
PROBLEM_KINDS: Final = ("page", "translation", "difficulty", "rationale", "label", "item")
"""Kinds of tasks that are about one problem, in the order in which they come."""
_LABELS: Final = ("subfield", "difficulty", "skills")
"""Attributes of an item that are labels, beside its subject and topic."""
PICTURE_SUFFIXES: Final = ("png", "jpg", "jpeg", "gif", "webp", "bmp")


def make_content(kind: str, problem: Problem) -> Content | None:
    """What a task of a kind shows of a problem.

    Args:
        kind: One of `PROBLEM_KINDS`.
        problem: As the kinds before it have left it.

    Returns:
        Parts by name, those that are empty left out; None where the kind does not apply: a
        translation check of a problem that was never translated, a page check of one that was read
        from no page.
    """
    if kind == "translation" and problem.original is None:
        return None
    if kind == "page" and not problem.pages:
        return None
    return _drop_empty(_MAKERS[kind](problem))


def compute_hash(task: ReviewTask, problem: Problem) -> str | None:
    """The content hash that a task has for a problem as it is now.

    Parts that come from elsewhere, such as the candidates of a rationale, count as the task has
    them.

    Args:
        task: A task of one of `PROBLEM_KINDS`.
        problem: The problem as the kinds before it have left it.

    Returns:
        The hash; None where the kind no longer applies to the problem.
    """
    content = make_content(task.kind, problem)
    if content is None:
        return None
    from_elsewhere = {k: v for k, v in task.content.items() if k not in _PROBLEM_PARTS}
    return hash_content(find_kind(task.kind), from_elsewhere | content, list_pictures(problem))


def list_pictures(problem: Problem | Question) -> list[TaskPicture]:
    """The pictures of a problem in the order of their marks; one without bytes is left out.

    A picture has its caption as label, unless the question prints the caption itself.
    """
    return [
        TaskPicture(
            sha256=figure.sha256,
            suffix=find_suffix(figure.file),
            label=_find_label(figure.caption, problem.question),
        )
        for figure in problem.images
        if figure.sha256
    ]


def _find_label(caption: str | None, question: str) -> str:
    return "" if caption is None or caption.strip() in question else caption


def find_suffix(name: str) -> str:
    """The suffix under which the folder of a review keeps a picture; `png` for any other name."""
    suffix = name.rpartition(".")[2].lower()
    return suffix if suffix in PICTURE_SUFFIXES else "png"


def get_solution(task: ReviewTask, fields: Mapping[str, JsonValue]) -> str | None:
    """The rationale that a decision on a `rationale` task settles on.

    Args:
        task: The task.
        fields: Of the decision: the edited text counts, else the chosen candidate as it stands.

    Returns:
        The text; None where no candidate was chosen and nothing was written.
    """
    text = fields.get("solution")
    if isinstance(text, str):
        return text
    candidates = task.content.get("candidates")
    for entry in candidates if isinstance(candidates, list) else []:
        if isinstance(entry, dict) and entry.get("id") == fields.get("candidate"):
            return str(entry.get("text") or "") or None
    return None


def show_problem(problem: Problem) -> Content:
    """Question, choices and answer, as most kinds show them."""
    return {
        "question": problem.question,
        "choices": _show_choices(problem.choices),
        "answer": list(problem.answer or []),
    }


def state_facts(problem: Problem) -> dict[str, JsonValue]:
    """Where a problem is from, for its reader; what is not known is left out."""
    facts = {
        "source": problem.source,
        "number": problem.number,
        "pages": ", ".join(map(str, problem.pages)),
        "competition": problem.competition or "",
        "year": str(problem.year or ""),
    }
    return {name: value for name, value in facts.items() if value}


def state_labels(problem: Problem) -> dict[str, JsonValue]:
    """The labels that models and people gave a problem; what it lacks is left out."""
    attributes = {name: join_labels(problem.attributes.get(name)) for name in _LABELS}
    labels = {"subject": problem.subject, "topic": problem.topic or "", **attributes}
    return {name: value for name, value in labels.items() if value}


def _show_choices(choices: list[Choice] | None) -> list[JsonValue]:
    return [choice.model_dump(mode="json") for choice in choices or []]


def _drop_empty(content: Content) -> Content:
    empty: tuple[JsonValue, ...] = (None, "", [], {})
    return {name: normalise_lines(part) for name, part in content.items() if part not in empty}


def _show_page(problem: Problem) -> Content:
    """As it was read, in the language of its page."""
    original = problem.original
    texts = problem if original is None else original
    language = problem.language if original is None else original.language
    return {
        **show_problem(problem),
        "question": texts.question,
        "choices": _show_choices(texts.choices),
        "facts": {**state_facts(problem), "language": language},
    }


def _show_translation(problem: Problem) -> Content:
    original = problem.original
    if original is None:
        return {}
    return {
        **show_problem(problem),
        "original_question": original.question,
        "original_choices": _show_choices(original.choices),
        "facts": {"language": original.language, "translated by": original.translator},
    }


def _show_difficulty(problem: Problem) -> Content:
    return {**show_problem(problem), "facts": state_facts(problem)}


def _show_rationale(problem: Problem) -> Content:
    return {
        **show_problem(problem),
        "reference": problem.sketch or "",
        "facts": state_facts(problem),
    }


def _show_label(problem: Problem) -> Content:
    return {
        **show_problem(problem),
        "subject": problem.subject,
        "subfield": join_labels(problem.attributes.get("subfield")),
        "topic": problem.topic or "",
    }


def _show_item(problem: Problem) -> Content:
    return {
        **show_problem(problem),
        "solution": problem.solution or "",
        "labels": state_labels(problem),
        "facts": state_facts(problem),
    }


_MAKERS: Final[Mapping[str, Callable[[Problem], Content]]] = {
    "page": _show_page,
    "translation": _show_translation,
    "difficulty": _show_difficulty,
    "rationale": _show_rationale,
    "label": _show_label,
    "item": _show_item,
}
_PROBLEM_PARTS: Final = frozenset(
    {
        "question", "choices", "answer", "solution", "reference", "original_question",
        "original_choices", "subject", "subfield", "topic", "labels", "facts",
    }
)  # fmt: skip
"""Parts that `make_content` gives."""
