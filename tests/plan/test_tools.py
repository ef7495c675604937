"""What a plan says of loops of tools: turns, pictures, and runs of code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.stages.infer.test_tools import frozen

from omibench.params.study import parse_study
from omibench.study.plan.build import plan_study
from omibench.study.plan.plan import Plan


def plan(tmp_path: Path, **tools: Any) -> Plan:
    price = {"input": 2.0, "output": 10.0, "as_of": "2026-01-01"}
    values = {
        "study": {"name": "test", "store": str(tmp_path / "store")},
        "data": str(tmp_path),
        "models": {
            "m": {
                "provider": "openai",
                "id": "gpt-4o",
                "image_tokens": "openai-tiles",
                "price": price,
            },
            "sandbox": {"provider": "python"},
            "eyes": {"provider": "openai", "id": "eyes", "price": price},
        },
        "settings": {
            "plain": {},
            "tools": {"tools": tools},
            "seen": {"perceiver": "eyes"},
        },
        "infer": {"models": ["m"], "settings": ["plain", "tools", "seen"]},
    }
    return plan_study(parse_study(values, "test"), frozen(tmp_path, "a", "b"))


@pytest.mark.parametrize("style", ["native", "text"])
def test_turns_and_pictures_of_tools_are_planned(tmp_path: Path, style: str) -> None:
    found = plan(tmp_path, style=style, max_turns=9, images=10, by={"python": "sandbox"})
    plain, tools, seen = found.list_rows("respondent")
    assert (plain.requests, plain.shown) == (2, 4)
    # Two of eight turns call, each for one more picture: 2, 3 and 4 are shown.
    assert (tools.requests, tools.shown) == (6, 18)
    assert tools.estimate.usd is not None
    assert plain.estimate.usd is not None
    assert tools.estimate.usd > 2.5 * plain.estimate.usd
    assert tools.estimate.output_most == 2 * 9 * 4096
    assert plain.estimate.usd_most is not None
    assert tools.estimate.usd_most is not None
    assert tools.estimate.usd_most > 9 * plain.estimate.usd_most
    (row,) = found.list_rows("tool")
    assert (row.model, row.to_buy, row.money) == ("sandbox", 4, "none")
    assert (seen.requests, seen.shown) == (2, 4)
    (eyes,) = found.list_rows("captioner")
    assert (eyes.model, eyes.requests, eyes.shown, eyes.money) == ("eyes", 4, 4, "priced")


def test_tools_without_look_are_planned_too(tmp_path: Path) -> None:
    found = plan(tmp_path, offered=["crop", "zoom"], max_turns=2)
    tools = found.list_rows("respondent")[1]
    assert (tools.requests, tools.shown) == (4, 10)
    assert not found.list_rows("tool")
