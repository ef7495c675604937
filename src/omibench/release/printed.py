"""Published statistics of datasets, each next to that of a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import FileFormatError
from omibench.files.intake import read_csv
from omibench.files.shipped import find_local_or_shipped
from omibench.release.rows import ReleaseItem
from omibench.release.statistics import ITEMS, Statistic, ValueCount
from omibench.schemas.attributes import list_labels

ANY_VALUE: Final = "*"
"""A measure of the items that have any value of an attribute."""


class MeasureRule(NamedTuple):
    """How to measure a published number: a statistic, items with a value, or a reason why not."""

    statistic: str = ""
    attribute: str = ""
    value: str = ""
    """Value of the attribute; `ANY_VALUE` counts items with any value, an empty one those without.
    """
    reason: str = ""
    """Why it cannot be measured from the items."""
    note: str = ""


class PrintedDataset(NamedTuple):
    """How to measure the published numbers of one paper."""

    files: tuple[str, ...]
    measures: Mapping[str, MeasureRule] = {}
    """Measures by name in the file; a missing name means the statistic of the same name."""
    groups: str = ""
    """The attribute whose values are the columns."""


class PrintedValue(NamedTuple):
    """A published number, and the measured one."""

    statistic: str
    group: str
    """The attribute value of the column; empty for all items."""
    printed: str
    measured: Statistic | None
    note: str


_UNNAMED: Final = "the paper does not state a tokenizer"
PAPERS: Final[Mapping[str, PrintedDataset]] = {
    # Figure 2 and table 3. "Images are excluded from token counts".
    "omibench": PrintedDataset(
        files=("omibench_dataset.csv", "omibench_sources.csv"),
        measures={
            "mean_question_length": MeasureRule("mean_question_tokens", note=_UNNAMED),
            "mean_rationale_length": MeasureRule("mean_rationale_tokens", note=_UNNAMED),
        },
    ),
    # Table 1.
    "emma": PrintedDataset(
        files=("emma_dataset.csv",),
        measures={
            "free_form": MeasureRule("open_ended"),
            "newly_added": MeasureRule(reason="new problems are not marked"),
        },
    ),
    # Table 3.
    "usnco_v": PrintedDataset(
        files=("usnco_v_dataset.csv",),
        measures={
            "choices": MeasureRule("mean_choices"),
            "mean_question_tokens": MeasureRule("mean_question_tokens", note=_UNNAMED),
            "max_question_tokens": MeasureRule("max_question_tokens", note=_UNNAMED),
            "mean_choice_tokens": MeasureRule(
                "mean_choice_tokens", note=f"{_UNNAMED}; ours: all choices of an item together"
            ),
            "max_choice_tokens": MeasureRule(
                "max_choice_tokens", note=f"{_UNNAMED}; ours: all choices of an item together"
            ),
        },
        groups="exam",
    ),
    # Table 1. Lengths are in characters (appendix C).
    "mathreal": PrintedDataset(
        files=("mathreal_dataset.csv",),
        measures={
            "multiple_choice": MeasureRule(attribute="type", value="MultipleChoice"),
            "fill_in": MeasureRule(attribute="type", value="FillInTheBlank"),
            "constructed_response": MeasureRule(attribute="type", value="ConstructedResponse"),
            "testmini": MeasureRule(attribute="split", value="testmini"),
            "elementary": MeasureRule(attribute="stage", value="Primary"),
            "middle_school": MeasureRule(attribute="stage", value="Middle"),
            "high_school": MeasureRule(attribute="stage", value="High"),
            "real_picture_only": MeasureRule(attribute="pair"),
            "real_and_clean_picture": MeasureRule(attribute="pair", value=ANY_VALUE),
            "one_figure": MeasureRule(reason="figures within a photograph are not counted"),
            "several_figures": MeasureRule(reason="figures within a photograph are not recorded"),
            "one_part": MeasureRule(reason="parts of a question are not counted"),
            "several_parts": MeasureRule(reason="parts of a question are not recorded"),
            "min_question_length": MeasureRule("min_question_characters"),
            "max_question_length": MeasureRule("max_question_characters"),
            "mean_question_length": MeasureRule("mean_question_characters"),
            "mean_answer_length": MeasureRule("mean_answer_characters"),
        },
    ),
}
Compute = Callable[[Sequence[ReleaseItem]], tuple[Mapping[str, Statistic], Sequence[ValueCount]]]


def compare_with_print(
    name: str, items: Sequence[ReleaseItem], compute: Compute
) -> list[PrintedValue]:
    """Return the published numbers with the measured ones.

    Args:
        name: A paper of `PAPERS`, or a CSV file with the columns `statistic` and, for all items or
            for the items with a value of any attribute, further columns.
        items: The items of the release.
        compute: Function that returns statistics and counts of items.

    Returns:
        The numbers in the published order; `measured` is None if the items lack the information,
        and `note` gives the reason.

    Raises:
        FileFormatError: A file lacks the column `statistic`.
        MissingInputError: A file does not exist.
    """
    paper = PAPERS.get(name) or PrintedDataset((name,))
    paths = [
        find_local_or_shipped(f"published/{file}") if name in PAPERS else Path(file)
        for file in paper.files
    ]
    rows = [row for path in paths for row in _read_rows(path)]
    groups = {group: _list_members(items, paper.groups, group) for _, group, _ in rows}
    facts = {group: compute(members) for group, members in groups.items()}
    return [
        PrintedValue(statistic, group, printed, *_measure(paper, statistic, *facts[group]))
        for statistic, group, printed in rows
    ]


def _read_rows(path: Path) -> list[tuple[str, str, str]]:
    """Yield statistic, group and published value of each cell, without percentages."""
    cells = []
    for row in read_csv(path):
        if "subject" in row and "sources" in row:
            cells.append((f"sources_{row['subject']}", "", row["sources"]))
        elif "statistic" not in row:
            raise FileFormatError(f"{path}: lacks the column 'statistic'")
        else:
            cells += [
                (row["statistic"], "" if column == "value" else column, value)
                for column, value in row.items()
                if value and column not in ("statistic", "percent")
            ]
    return cells


def _list_members(
    items: Sequence[ReleaseItem], attribute: str, group: str
) -> Sequence[ReleaseItem]:
    if not group:
        return items
    return [
        release_item
        for release_item in items
        for values in [release_item.item.answer.attributes]
        if any(
            group in list_labels(value)
            for name, value in values.items()
            if name == attribute or not attribute
        )
    ]


def _measure(
    paper: PrintedDataset,
    name: str,
    statistics: Mapping[str, Statistic],
    counts: Sequence[ValueCount],
) -> tuple[Statistic | None, str]:
    measure = paper.measures.get(name, MeasureRule(name))
    if measure.reason:
        return None, f"not measured: {measure.reason}"
    if not measure.attribute:
        value = statistics.get(measure.statistic)
        return value, measure.note if value else "not measured: not available in any item"
    items = {count.value: count.items for count in counts if count.attribute == measure.attribute}
    if not items:
        return None, f"not measured: no item has `{measure.attribute}`"
    total = int(statistics["problems"].value)
    count = {ANY_VALUE: sum(items.values()), "": total - sum(items.values())}.get(
        measure.value, items.get(measure.value, 0)
    )
    return Statistic(count, ITEMS), measure.note
