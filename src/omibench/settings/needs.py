"""The requirements of a setting on a benchmark, checked before any request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omibench.errors import ParamsError
from omibench.params.presentation import is_selected
from omibench.params.setting import Setting
from omibench.schemas.example import Example
from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.problem import Question
from omibench.settings.ablation import ablate
from omibench.settings.examples import choose_examples


def asked_questions(
    questions: Sequence[Question], setting: Setting, examples: Sequence[Example]
) -> list[Question]:
    """Return the questions of a setting.

    Args:
        questions: The questions of the dataset, or of the study's part of it.
        setting: The setting; its `where` selects questions.
        examples: The examples of the dataset; those set aside are excluded.
    """
    aside: set[str] = set()
    if setting.examples and setting.examples.take == "sampled":
        aside = {example.id for example in examples if example.take == "sampled"}
    return [q for q in questions if q.id not in aside and is_selected(q, setting.where)]


def check_needs(
    name: str, setting: Setting, questions: Sequence[Question], examples: Sequence[Example] = ()
) -> None:
    """Raise ParamsError if the benchmark lacks something that the setting `name` needs.

    A setting never fails on a problem that has more than it needs.
    """
    key = f"settings.{name}"
    if setting.where and not questions:
        raise ParamsError(f"{key}.where: no selected problem has {_describe_where(setting)}")
    perception = setting.perception.given if setting.perception else ""
    if "choices" in setting.without and not any(q.choices for q in questions):
        raise ParamsError(f"{key}: without: [choices]: no problem of this benchmark has choices")
    if perception:
        _all(
            questions, lambda q: bool(q.images), f"{key}: perception: {perception}: {{}} no picture"
        )
    if "DG" in perception and not any(map(_has_description, questions)):
        raise ParamsError(
            f"{key}: perception: {perception}: no picture of this benchmark has a description"
        )
    if "question" in setting.without:
        lack = f"{key}: without: [question]: {{}} neither choices nor remaining pictures"
        _all(questions, lambda q: _is_left(q, setting), lack)
    if setting.examples:
        _enough_examples(key, setting, questions, examples)


def remark(name: str, setting: Setting, questions: Sequence[Question]) -> str | None:
    """Remark on problems that lack part of a setting's content: they are sent without it."""
    if not setting.perception or "DG" not in setting.perception.given:
        return None
    bare = [question.id for question in questions if not _has_description(question)]
    if not bare:
        return None
    return (
        f"settings.{name}: {len(bare)} of {len(questions)} problems have no description of a "
        f"figure and are sent with their text alone; the first is {bare[0]}"
    )


def _describe_where(setting: Setting) -> str:
    return ", ".join(f"{name}: {' or '.join(values)}" for name, values in setting.where.items())


def _has_description(question: Question) -> bool:
    return any(figure.caption for figure in question.images)


def _is_left(question: Question, setting: Setting) -> bool:
    ablated = ablate(question, setting.without)
    pictures = bool(ablated.images) and setting.images.show != "none"
    return bool(ablated.choices) or pictures or bool(IMAGE_MARK.sub("", ablated.question).strip())


def _all(questions: Sequence[Question], has: Callable[[Question], bool], lack: str) -> None:
    lacking = [question.id for question in questions if not has(question)]
    if lacking:
        have = f"{len(lacking)} of {len(questions)} problems have"
        raise ParamsError(f"{lack.format(have)}; the first is {lacking[0]}")


def _enough_examples(
    key: str, setting: Setting, questions: Sequence[Question], examples: Sequence[Example]
) -> None:
    if not setting.examples or not setting.examples.k:
        return
    for question in questions:
        try:
            choose_examples(question, examples, setting.examples, setting.decoding.samples - 1)
        except ParamsError as error:
            raise ParamsError(f"{key}: {error}") from None
