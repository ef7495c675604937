"""Output of an adapter: questions and answers in the same order, and the folder of pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError
from omibench.models.synthetic.items import make_random
from omibench.models.synthetic.profiles import equal
from omibench.schemas.problem import Answer, AnswerType, Choice, Question, Value, keep_stated


class Dataset(NamedTuple):
    """A benchmark after reading. Paths of pictures are relative to `folder`."""

    questions: list[Question]
    answers: list[Answer]
    folder: Path


def make_choices(texts: Iterable[str]) -> list[Choice]:
    """Return choices with these texts, lettered from A."""
    return [Choice(label=chr(ord("A") + i), text=text) for i, text in enumerate(texts)]


def read_letter(answer: str, question: Question) -> str:
    """Return the gold letter of a question with choices; FileFormatError if it is none of them."""
    letter, labels = answer.strip().upper(), [choice.label for choice in question.choices or []]
    if letter not in labels:
        raise FileFormatError(f"answer: {answer!r} is none of the choices A to {labels[-1]}")
    return letter


def make_answer(  # noqa: PLR0913 - the columns of a benchmark
    question: Question,
    answer: Sequence[str],
    *,
    answer_type: AnswerType | None = None,
    solution: str | None = None,
    topic: str | None = None,
    n_images: int | None = None,
    attributes: Mapping[str, Value | None] | None = None,
) -> Answer:
    """Return the gold half of a question.

    Args:
        question: The question, with which the answer shares its id, group, subject and choices.
        answer: The gold answers, one per part.
        answer_type: The type; by default `mcq` if the question has choices.
        solution: The reference rationale.
        topic: The topic.
        n_images: The number of pictures; by default that of the question.
        attributes: Other properties; those without a value are omitted.
    """
    return Answer(
        id=question.id,
        answer=list(answer),
        answer_type=answer_type or question.answer_type,
        choices=question.choices,
        solution=solution,
        subject=question.subject,
        topic=topic,
        group=question.group,
        n_images=len(question.images) if n_images is None else n_images,
        attributes=keep_stated(attributes or {}),
    )


# Conversion of picture marks in the texts of published benchmarks.


def replace_marks(text: str, mark: re.Pattern[str], places: Mapping[str, int]) -> str:
    """Return a text with its picture marks written as `[IMAGEi]`.

    Args:
        text: Text of a question or a choice.
        mark: Pattern of a picture mark; its first group is the picture's name.
        places: Name of a picture -> its index among the problem's pictures, from 0. The mark of
            a missing picture is kept unchanged.
    """
    return mark.sub(
        lambda match: f"[IMAGE{places[match[1]]}]" if match[1] in places else match[0], text
    )


# Groups of problems that share a stem, identified by shared pictures.


def link_by_keys(keys: Sequence[Sequence[str]]) -> list[int]:
    """Return for each item the position of the first item linked to it by common keys.

    Links are transitive: an item that shares one key with a second and another with a third
    joins all.
    """
    root = list(range(len(keys)))

    def find(item: int) -> int:
        while root[item] != item:
            root[item] = root[root[item]]
            item = root[item]
        return item

    first: dict[str, int] = {}
    for item, item_keys in enumerate(keys):
        for key in item_keys:
            holder, current = find(first.setdefault(key, item)), find(item)
            root[max(holder, current)] = min(holder, current)
    return [find(item) for item in range(len(keys))]


def group_problems(dataset: Dataset, keys: Sequence[Sequence[str]]) -> Dataset:
    """Put problems that are linked by keys into one group, named by its first problem.

    Args:
        dataset: The problems.
        keys: The keys of each, such as the hashes of its pictures.
    """
    names = [{"group": dataset.questions[root].id} for root in link_by_keys(keys)]
    return Dataset(
        [q.model_copy(update=g) for q, g in zip(dataset.questions, names, strict=True)],
        [a.model_copy(update=g) for a, g in zip(dataset.answers, names, strict=True)],
        dataset.folder,
    )


# Balanced samples of a benchmark: equally many per subject, evenly over its strata.


def draw_stratified(
    dataset: Dataset, stratum: Callable[[Answer], str], per_subject: int, seed: int
) -> Dataset:
    """Draw `per_subject` problems of each subject with `seed`, in the order of `dataset`.

    Strata contribute equally, up to their size. A subject with fewer problems contributes all.
    The draw from a stratum depends on its problems' ids, not on their order.
    """
    strata: dict[str, dict[str, list[str]]] = {}
    for answer in dataset.answers:
        strata.setdefault(answer.subject, {}).setdefault(stratum(answer), []).append(answer.id)
    drawn: set[str] = set()
    for subject, by_stratum in strata.items():
        shares = equal({name: len(ids) for name, ids in sorted(by_stratum.items())}, per_subject)
        for name, share in shares.items():
            drawn.update(make_random(seed, subject, name).sample(sorted(by_stratum[name]), share))
    return Dataset(
        [question for question in dataset.questions if question.id in drawn],
        [answer for answer in dataset.answers if answer.id in drawn],
        dataset.folder,
    )
