"""Content hash of a task: a decision becomes stale if the hash changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from omibench.review.kinds import find_kind
from omibench.schemas.problem import Choice, Problem, Question, join_labels
from omibench.schemas.review import ReviewTask, TaskPicture

if TYPE_CHECKING:
    from omibench.review.kinds.declaration import Kind


def hash_content(
    kind: Kind, content: Mapping[str, JsonValue], pictures: Sequence[TaskPicture] = ()
) -> str:
    """Return the SHA-256 of the parts that decisions of a kind are about, and of the problem's
    pictures.

    Pages of the paper and parts that are not `hashed` are excluded. Line ends are normalized to
    `\\n` because browser forms change them.

    Args:
        kind: The kind of task; its parts state what is hashed.
        content: The parts by name.
        pictures: Pictures of the task; only those of the problem count, in order.
    """
    names = [part.name for part in kind.parts if part.hashed and part.name in content]
    parts: JsonValue = {name: content[name] for name in names}
    images = [picture.sha256 for picture in pictures if picture.part == "image"]
    document = {"kind": kind.name, "parts": normalise_lines(parts), "images": images}
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_statement(task: ReviewTask) -> str:
    """Return the hash of what a reader sees before their own answer, without the key."""
    kind = find_kind(task.kind)
    withheld = kind.list_withheld_parts(task.content)
    parts = {name: part for name, part in task.content.items() if name not in withheld}
    return hash_content(kind, parts, task.pictures)


def normalise_lines(value: JsonValue) -> JsonValue:
    """Return the value with line ends normalized to `\\n` in all texts."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(value, list):
        return [normalise_lines(item) for item in value]
    if isinstance(value, dict):
        return {name: normalise_lines(item) for name, item in value.items()}
    return value


# Content of tasks on a problem, written by `assign` and computed again by `freeze`.
#
# A decision applies to the content that its author saw. Each kind sees the problem as changed by
# the kinds before it in `PROBLEM_KINDS`: page corrections change the text to translate, and items
# are judged in their final form.

Content = dict[str, JsonValue]
PROBLEM_KINDS: Final = ("page", "translation", "difficulty", "rationale", "label", "item")
"""Kinds of tasks about one problem, in the order in which they apply."""
_LABELS: Final = ("subfield", "difficulty", "skills")
"""Label attributes of an item, in addition to its subject and topic."""
PICTURE_SUFFIXES: Final = ("png", "jpg", "jpeg", "gif", "webp", "bmp")


def make_content(kind: str, problem: Problem) -> Content | None:
    """Return the content of a task on a problem.

    Args:
        kind: One of `PROBLEM_KINDS`.
        problem: The problem as changed by the kinds before it.

    Returns:
        Parts by name, without empty ones, or None if the kind does not apply: a translation check
        of a problem that was not translated, or a page check of one that was not read from a page.
    """
    original = problem.original
    if kind == "translation" and original is None:
        return None
    if kind == "page" and not problem.pages:
        return None
    texts = original if kind == "page" and original is not None else problem
    content: Content = {
        "question": texts.question,
        "choices": _show_choices(texts.choices),
        "answer": list(problem.answer or []),
    }
    facts: Content = {
        "source": problem.source,
        "number": problem.number,
        "pages": ", ".join(map(str, problem.pages)),
        "competition": problem.competition or "",
        "year": str(problem.year or ""),
    }
    facts = drop_empty(facts)
    if kind == "page":  # as read, in the language of its page
        content["facts"] = {**facts, "language": texts.language}
    elif kind == "translation" and original is not None:
        translated: Content = {"language": original.language, "translated by": original.translator}
        content |= {
            "original_question": original.question,
            "original_choices": _show_choices(original.choices),
            "facts": translated,
        }
    elif kind == "difficulty":
        content["facts"] = facts
    elif kind == "rationale":
        content |= {"reference": problem.sketch or "", "facts": facts}
    else:
        labels = {name: join_labels(problem.attributes.get(name)) for name in _LABELS}
        stated: Content = {
            "subject": problem.subject,
            "topic": problem.topic or "",
            **labels,
        }
        if kind == "label":
            content |= {name: stated[name] for name in ("subject", "subfield", "topic")}
        else:
            stated = drop_empty(stated)
            content |= {"solution": problem.solution or "", "labels": stated, "facts": facts}
    return drop_empty(content)


def compute_hash(task: ReviewTask, problem: Problem) -> str | None:
    """Return the content hash of a task on the problem in its current form.

    Parts from other sources, such as the candidates of a rationale, are taken from the task.

    Args:
        task: A task of one of `PROBLEM_KINDS`.
        problem: The problem as changed by the kinds before it.

    Returns:
        The hash, or None if the kind no longer applies to the problem.
    """
    content = make_content(task.kind, problem)
    if content is None:
        return None
    from_elsewhere = {k: v for k, v in task.content.items() if k not in _PROBLEM_PARTS}
    return hash_content(find_kind(task.kind), from_elsewhere | content, list_pictures(problem))


def list_pictures(problem: Problem | Question) -> list[TaskPicture]:
    """Return the pictures of a problem in the order of their marks, without those that lack bytes.

    A picture is labelled with its caption, unless the question already contains the caption.
    """
    pictures = []
    for figure in problem.images:
        if figure.sha256:
            caption = figure.caption or ""
            label = "" if caption.strip() in problem.question else caption
            suffix = find_suffix(figure.file)
            pictures.append(TaskPicture(sha256=figure.sha256, suffix=suffix, label=label))
    return pictures


def find_suffix(name: str) -> str:
    """Return the file suffix of a picture in a review folder; `png` for unknown names."""
    suffix = name.rpartition(".")[2].lower()
    return suffix if suffix in PICTURE_SUFFIXES else "png"


def get_solution(task: ReviewTask, fields: Mapping[str, JsonValue]) -> str | None:
    """Return the rationale that a decision on a `rationale` task selects.

    Args:
        task: The task.
        fields: Fields of the decision: the edited text, if any, else the chosen candidate.

    Returns:
        The text, or None if no candidate was chosen and no text was written.
    """
    text = fields.get("solution")
    if isinstance(text, str):
        return text
    candidates = task.content.get("candidates")
    for entry in candidates if isinstance(candidates, list) else []:
        if isinstance(entry, dict) and entry.get("id") == fields.get("candidate"):
            return str(entry.get("text") or "") or None
    return None


def _show_choices(choices: list[Choice] | None) -> list[JsonValue]:
    return [choice.model_dump(mode="json") for choice in choices or []]


def drop_empty(content: Content) -> Content:
    """Return the parts that are not empty, with normalized line ends."""
    empty: tuple[JsonValue, ...] = (None, "", [], {})
    return {name: normalise_lines(part) for name, part in content.items() if part not in empty}


_PROBLEM_PARTS: Final = frozenset(
    {
        "question", "choices", "answer", "solution", "reference", "original_question",
        "original_choices", "subject", "subfield", "topic", "labels", "facts",
    }
)  # fmt: skip
"""The parts that `make_content` returns."""
