"""Statistics of a release, as in papers on datasets, each with its unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from omibench.datasets.release.rows import ReleaseItem
from omibench.papers.catalogue import MeasureRule, PrintedStatistic, read_statistics
from omibench.schemas.problem import Question, list_image_marks, list_labels

MOST_VALUES: Final = 40
"""Attributes with more values identify items rather than categories, and are skipped."""
ITEMS, PICTURES, TOKENS, CHARACTERS = "items", "pictures", "tokens", "characters"
_MARK: Final = re.compile(r"\[IMAGE\d+\]\n?")

CountTokens = Callable[[str], int]
PictureSizes = Mapping[str, tuple[int, int]]
"""SHA-256 of a picture -> its width and height in pixels."""


class Statistic(NamedTuple):
    """One statistic of a dataset."""

    value: float
    unit: str


class ValueCount(NamedTuple):
    """Number of items with a value of an attribute; items with several labels count for each."""

    attribute: str
    value: str
    items: int


def compute_statistics(
    items: Sequence[ReleaseItem], sizes: PictureSizes, count_tokens: CountTokens
) -> dict[str, Statistic]:
    """Compute the statistics of items (OMIBench, figure 2 and table 3; EMMA, table 1; USNCO-V,
    table 3; MathReal, table 1).

    Args:
        items: The items.
        sizes: The sizes of their pictures.
        count_tokens: The tokenizer.

    Returns:
        Statistics by name. Texts are measured without marks of pictures; the choices of an item are
        one text. A picture used twice in an item counts twice among its images, as in OMIBench, and
        once among all pictures.
    """
    questions = [item.question for item in items]
    answers = [item.answer for item in items]
    images = [len(question.images) for question in questions]
    subjects: Counter[str] = Counter(question.subject for question in questions)
    counts: dict[str, int] = {
        "problems": len(items),
        "multiple_choice": sum(answer.answer_type == "mcq" for answer in answers),
        "open_ended": sum(answer.answer_type == "open" for answer in answers),
        "with_answer": sum(bool(answer.answer) for answer in answers),
        "with_rationale": sum(bool(answer.solution) for answer in answers),
        "translated": sum(item.original is not None for item in items),
        **subjects,
        "one_image": sum(count == 1 for count in images),
        "several_images": sum(count > 1 for count in images),
        "image_in_question": sum(map(_has_image_in_question, questions)),
        "image_in_options": sum(bool(_list_choice_images(q)) for q in questions),
    }
    values = {name: Statistic(count, ITEMS) for name, count in counts.items()}
    distinct = {sha256 for question in questions for sha256 in _list_pictures(question)}
    values["pictures"] = Statistic(len(distinct), PICTURES)
    values |= _summarise("images", images, PICTURES)
    for subject in subjects:
        members = [n for n, q in zip(images, questions, strict=True) if q.subject == subject]
        values[f"mean_images_{subject}"] = Statistic(sum(members) / len(members), PICTURES)
    values |= _count_sources(questions)
    values |= _summarise("choices", [len(q.choices) for q in questions if q.choices], "choices")
    texts = {
        "question": [question.question for question in questions],
        "choice": [_join_choices(question) for question in questions if question.choices],
        "answer": ["".join(answer.answer) for answer in answers],
        "rationale": [answer.solution for answer in answers if answer.solution],
    }
    for name, contents in texts.items():
        bare = [_MARK.sub("", text) for text in contents]
        values |= _summarise(f"{name}_characters", map(len, bare), CHARACTERS)
        values |= _summarise(f"{name}_tokens", map(count_tokens, bare), TOKENS)
    measured = [sizes[sha256] for sha256 in sorted(distinct & sizes.keys())]
    values |= _summarise("image_width", [width for width, _ in measured], "pixels")
    values |= _summarise("image_height", [height for _, height in measured], "pixels")
    return values | _find_years(items)


def count_values(items: Sequence[ReleaseItem]) -> list[ValueCount]:
    """Count the items with each value of each attribute with at most 40 values.

    Args:
        items: The items.

    Returns:
        Rows by attribute, the most frequent value first; also of topic, language, source and split.
    """
    counts: dict[str, Counter[str]] = {}
    for item in items:
        question, answer = item.question, item.answer
        labels = {
            "split": [item.split],
            "language": [question.language],
            "source": list_labels(question.source or None),
            "topic": list_labels(answer.topic or None),
            **{name: list_labels(value) for name, value in answer.attributes.items()},
        }
        for name, entries in labels.items():
            counts.setdefault(name, Counter()).update(dict.fromkeys(entries, 1))
    return [
        ValueCount(name, value, count)
        for name in sorted(counts)
        if len(counts[name]) <= MOST_VALUES
        for value, count in sorted(counts[name].items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _list_pictures(question: Question) -> set[str]:
    return {figure.sha256 or figure.file for figure in question.images}


def _list_choice_images(question: Question) -> set[int]:
    choices = question.choices or []
    marks = {mark for choice in choices for mark in list_image_marks(choice.text or "")}
    return marks | {choice.image for choice in choices if choice.image is not None}


def _has_image_in_question(question: Question) -> bool:
    """Return whether a picture is marked in the question, or in no option."""
    unlisted = {*range(len(question.images))} - _list_choice_images(question)
    return bool(list_image_marks(question.question) or unlisted)


def _join_choices(question: Question) -> str:
    return "\n".join(choice.text or "" for choice in question.choices or [])


def _count_sources(questions: Sequence[Question]) -> dict[str, Statistic]:
    """Return the number of sources per subject, if all items state one."""
    if not all(question.source for question in questions):
        return {}
    pairs = {(question.subject, question.source) for question in questions}
    counts = Counter(subject for subject, _ in pairs)
    return {f"sources_{name}": Statistic(n, "sources") for name, n in sorted(counts.items())}


def _find_years(items: Sequence[ReleaseItem]) -> dict[str, Statistic]:
    attributes = (item.answer.attributes for item in items)
    labels = [label for values in attributes for label in list_labels(values.get("year"))]
    years = [int(label) for label in labels if re.fullmatch(r"[0-9]{4}", label)]
    if not years:
        return {}
    return {
        "first_year": Statistic(min(years), "year"),
        "last_year": Statistic(max(years), "year"),
    }


def _summarise(name: str, values: Iterable[int], unit: str) -> dict[str, Statistic]:
    counts = list(values)
    if not counts:
        return {}
    return {
        f"min_{name}": Statistic(min(counts), unit),
        f"mean_{name}": Statistic(sum(counts) / len(counts), unit),
        f"max_{name}": Statistic(max(counts), unit),
    }


# Published statistics of datasets, each next to that of a release.

Compute = Callable[[Sequence[ReleaseItem]], tuple[Mapping[str, Statistic], Sequence[ValueCount]]]


class PrintedValue(NamedTuple):
    """A published number, and the measured one."""

    statistic: str
    group: str
    """The attribute value of the column; empty for all items."""
    printed: str
    measured: Statistic | None
    note: str


def compare_with_print(
    name: str, items: Sequence[ReleaseItem], compute: Compute
) -> list[PrintedValue]:
    """Return the published numbers with the measured ones.

    Args:
        name: A paper or a CSV file, as for `read_statistics`.
        items: The items of the release.
        compute: Function that returns statistics and counts of items.

    Returns:
        The numbers in the published order; `measured` is None if the items lack the information,
        and `note` gives the reason.

    Raises:
        FileFormatError: A file lacks the column `statistic`.
        MissingInputError: A file does not exist.
    """
    return measure_printed(read_statistics(name), items, compute)


def measure_printed(
    printed: Sequence[PrintedStatistic], items: Sequence[ReleaseItem], compute: Compute
) -> list[PrintedValue]:
    """Return published numbers with the measured ones, as `compare_with_print`.

    Args:
        printed: The published numbers.
        items: The items.
        compute: Function that returns statistics and counts of items.
    """
    groups = dict.fromkeys((number.by, number.group) for number in printed)
    facts = {group: compute(_list_members(items, *group)) for group in groups}
    return [
        PrintedValue(
            number.name,
            number.group,
            number.text,
            *_measure(number.rule, *facts[number.by, number.group]),
        )
        for number in printed
    ]


def _list_members(
    items: Sequence[ReleaseItem], attribute: str, group: str
) -> Sequence[ReleaseItem]:
    if not group:
        return items
    return [
        item
        for item in items
        for values in [item.answer.attributes]
        if any(
            group in list_labels(value)
            for name, value in values.items()
            if name == attribute or not attribute
        )
    ]


def _measure(
    rule: MeasureRule, statistics: Mapping[str, Statistic], counts: Sequence[ValueCount]
) -> tuple[Statistic | None, str]:
    if rule.reason:
        return None, f"not measured: {rule.reason}"
    if not rule.attribute:
        value = statistics.get(rule.statistic)
        return value, rule.note if value else "not measured: not available in any item"
    items = {count.value: count.items for count in counts if count.attribute == rule.attribute}
    if not items:
        return None, f"not measured: no item has `{rule.attribute}`"
    total = int(statistics["problems"].value)
    count = {"*": sum(items.values()), "": total - sum(items.values())}.get(
        rule.value, items.get(rule.value, 0)
    )
    return Statistic(count, ITEMS), rule.note
