from __future__ import annotations

import pytest
from tests.items import make_item

from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.errors import OmibenchError


@pytest.mark.parametrize("rules", SCORERS.built_in_names)
def test_every_module_registers_the_name_that_it_is_listed_under(rules: str) -> None:
    assert SCORERS.get(rules).name == rules


@pytest.mark.parametrize(
    "rules", ["omibench", "omibench-release", "emma", "usnco-v", "usnco-v-last-letter", "robust"]
)
def test_every_scorer_is_one_function_of_the_item(rules: str) -> None:
    item = make_item("C", "C", ["x", "y", "z"])
    verdict = score_item(item, rules)
    assert verdict == score_item(item, rules)
    assert (verdict.verdict, verdict.rules) == (1.0, rules)
    assert verdict.version == SCORERS.get(rules).version


def test_a_stored_verdict_is_taken_over() -> None:
    assert score_item(make_item("", "5", published_verdict=1.0), "published").verdict == 1.0
    assert score_item(make_item("5", "5", published_verdict=0.25), "published").verdict == 0.25
    assert score_item(make_item("5", "5"), "published").outcome == "unjudged"


def test_mathreal_is_unjudged_without_its_models() -> None:
    verdict = score_item(make_item("5", "5"), "mathreal")
    assert (verdict.outcome, verdict.verdict) == ("unjudged", 0.0)


def test_a_wrong_name_gets_the_nearest_right_one() -> None:
    with pytest.raises(OmibenchError, match="did you mean 'robust'"):
        score_item(make_item("5", "5"), "robus")
