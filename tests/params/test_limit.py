"""Which problems a partial run asks."""

from __future__ import annotations

import pytest

from omibench.errors import ParamsError
from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.params.study_params import Limit, apply_limit
from omibench.schemas.problem import Question

IDS = [f"p{n:02}" for n in range(40)]


def study(**own: object) -> Study:
    model = {"provider": "simulated", "oracle": "oracle.jsonl"}
    values = {
        "study": own,
        "models": {"a": model},
        "settings": {"cot": {}},
        "infer": {"models": ["a"], "settings": ["cot"]},
    }
    return parse_study(values, "test")


def test_a_number_takes_the_first() -> None:
    limit = study(limit=3).study.limit
    assert study(limit="3").study.limit == limit
    assert limit == Limit(n=3)
    assert limit.select(IDS) == set(IDS[:3])
    assert limit.select(IDS[:2]) == set(IDS[:2])


def test_ids_are_taken_in_the_order_of_the_dataset() -> None:
    rows = [Question(id=one, question="?") for one in IDS]
    assert [row.id for row in apply_limit(rows, Limit(ids=["p07", "p03"]))] == ["p03", "p07"]
    assert apply_limit(rows, None) == rows
    some = Limit(ids=["p07", "p03", "elsewhere"])
    assert [row.id for row in apply_limit(rows, some, of_cell=True)] == ["p03", "p07"]
    with pytest.raises(ParamsError, match="'elsewhere' is not a problem of the dataset"):
        apply_limit(rows, some)


def test_a_larger_sample_holds_a_smaller_one_whatever_else_is_there() -> None:
    small, large = (Limit(sample=n, seed=5).select(IDS) for n in (4, 12))
    assert (len(small), len(large)) == (4, 12)
    assert small < large
    assert Limit(sample=4, seed=6).select(IDS) != small
    # An added problem changes a draw by itself alone, and order changes nothing.
    assert len(Limit(sample=4, seed=5).select([*IDS[::-1], "new"]) & small) >= 3


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(
        ParamsError,
        match=r"study\.limit or --ids: 'p7' is not a problem of the dataset; did you mean",
    ):
        Limit(ids=["p7"]).select(IDS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "set one of n, ids and sample"),
        ({"n": 3, "sample": 2}, "set one of n, ids and sample"),
        ({"n": 3, "seed": 2}, "seed requires sample"),
        ({"ids": []}, "study.limit"),
        (0, "study.limit"),
        (True, "study.limit"),
        ("five", "study.limit"),
    ],
)
def test_a_wrong_limit_is_one_line(given: object, said: str) -> None:
    with pytest.raises(ParamsError) as error:
        study(limit=given)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("stage", "reruns"),
    [("infer", True), ("saliency", True), ("help", True), ("analyze", True), ("freeze", False),
     ("filter", False), ("score", False), ("judge", False), ("aggregate", False)],
)  # fmt: skip
def test_a_limit_asks_anew_and_leaves_the_dataset_whole(stage: str, reruns: bool) -> None:
    cell = Cell("a", "cot")
    plain, part = (slice_study(study(**own), stage, cell) for own in ({}, {"limit": 3}))
    assert (plain != part) == reruns
