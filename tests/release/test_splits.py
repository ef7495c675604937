"""A part is in proportion to each attribute that is named (MathReal, section 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from omibench.datasets.registry import load_benchmark
from omibench.datasets.release.rows import FrozenItem
from omibench.datasets.release.splits import SplitPlan, assign_splits, rank_item
from omibench.errors import ParamsError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question

MARGINALS: Mapping[str, Mapping[str, int]] = {
    "type": {"MultipleChoice": 104, "FillInTheBlank": 475, "ConstructedResponse": 1421},
    "stage": {"Primary": 779, "Middle": 883, "High": 338},
    "pictures": {"real": 745, "both": 1255},
    "figures": {"one": 1296, "several": 704},
}
"""MathReal, table 1."""


def make_items() -> list[FrozenItem]:
    """2,000 made-up items whose attributes have the numbers that MathReal prints."""
    columns = {}
    for name, counts in MARGINALS.items():
        values = [value for value, count in counts.items() for _ in range(count)]
        order = sorted(range(len(values)), key=lambda k: rank_item(7, f"{name} {k}"))
        columns[name] = [values[k] for k in order]
    return [
        FrozenItem(
            Question(id=f"item-{k}", question="Why?"),
            Answer(
                id=f"item-{k}",
                answer=["5"],
                answer_type="open",
                attributes={name: column[k] for name, column in columns.items()},
            ),
            None,
        )
        for k in range(2000)
    ]


def assert_in_proportion(
    items: Sequence[FrozenItem], splits: Sequence[str], name: str, attributes: Sequence[str]
) -> None:
    """Each value of each attribute has its share of the part, rounded up or down."""
    size = splits.count(name)
    for attribute in attributes:
        values = [str(item.answer.attributes[attribute]) for item in items]
        part = Counter(v for v, split in zip(values, splits, strict=True) if split == name)
        for value, count in Counter(values).items():
            assert abs(part[value] - count * size / len(items)) < 1, (attribute, value)


def test_480_of_2000_are_in_proportion_to_four_attributes() -> None:
    items = make_items()
    splits = assign_splits(items, SplitPlan("testmini", 480, tuple(MARGINALS)), 0)
    assert (splits.count("testmini"), splits.count("test")) == (480, 1520)
    assert_in_proportion(items, splits, "testmini", list(MARGINALS))


def test_a_split_depends_on_the_seed_and_not_on_the_order() -> None:
    items = make_items()
    plan = SplitPlan("testmini", 480, ("type", "stage"))
    splits = dict(zip((i.question.id for i in items), assign_splits(items, plan, 0), strict=True))
    back = dict(
        zip((i.question.id for i in items[::-1]), assign_splits(items[::-1], plan, 0), strict=True)
    )
    assert splits == back
    assert assign_splits(items, plan, 1) != list(splits.values())


def test_the_problems_of_mathreal_are_split_in_proportion(
    shared_data: Path, tmp_path: Path
) -> None:
    params = BenchmarkParams(name="mathreal")
    dataset = load_benchmark(params, str(shared_data / "mathreal"), tmp_path)
    items = [FrozenItem(*pair, None) for pair in zip(*dataset[:2], strict=True)]
    attributes = ("category", "type", "stage", "difficulty")
    splits = assign_splits(items, SplitPlan("mini", 115, attributes), 0)
    assert splits.count("mini") == 115
    assert_in_proportion(items, splits, "mini", attributes)


@pytest.mark.parametrize("items", [0, 2000, 3000])
def test_both_parts_need_an_item(items: int) -> None:
    with pytest.raises(ParamsError, match="both splits need at least one"):
        assign_splits(make_items(), SplitPlan("testmini", items), 0)


def test_an_attribute_that_no_item_has_is_named() -> None:
    with pytest.raises(ParamsError, match="--by grade: no item has a value"):
        assign_splits(make_items(), SplitPlan("testmini", 5, ("grade",)), 0)
