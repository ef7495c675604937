"""What `infer.adaptive` needs, said with the key and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.params.study import parse_study

SIM = {"provider": "simulated", "oracle": "o.jsonl"}
API = {"provider": "openai", "id": "m", "price": {"input": 1, "output": 1, "as_of": "2026-11-01"}}


def parse(adaptive: dict[str, Any], **blocks: Any) -> None:
    values: dict[str, Any] = {
        "models": {"a": SIM, "b": SIM, "batched": {**API, "batch": True}},
        "settings": {"cot": {}},
        "infer": {"models": ["a", "b"], "settings": ["cot"], "adaptive": adaptive},
    }
    for name, block in blocks.items():
        values[name] = {**values.get(name, {}), **block}
    parse_study(values, "params")


HALVES = {"looks": [0.5, 1]}
QUARTERS = {"looks": [0.25, 0.5, 0.75, 1]}


def test_what_is_possible_is_accepted() -> None:
    parse(HALVES)
    parse({**QUARTERS, "keep": ["b"], "spending": "pocock", "order": []})
    parse({"looks": [0.2, 0.6, 1]}, infer={"models": ["a", "batched"], "adaptive": HALVES})


@pytest.mark.parametrize(
    ("adaptive", "blocks", "said"),
    [
        ({"looks": [0.5, 0.2, 1]}, {}, "looks must ascend to 1"),
        ({"looks": [0.5, 0.9]}, {}, "looks must ascend to 1"),
        ({"looks": [0, 1]}, {}, "infer.adaptive.looks"),
        ({"looks": [0.01, 1]}, {}, "the first must be at least 0.05"),
        ({"looks": [0.5, 0.5001, 1]}, {}, "each 0.01 after the one before"),
        (HALVES, {"settings": {"cot": {"where": {"subject": "physics"}}}}, "cot has `where`"),
        (
            HALVES,
            {"settings": {"cot": {"aggregate": "majority", "decoding": {"samples": 3}}}},
            "counts those of `aggregate: majority`",
        ),
        ({"looks": [1]}, {}, "infer.adaptive.looks"),
        ({**HALVES, "alpha": 0.7}, {}, "infer.adaptive.alpha"),
        ({**HALVES, "goal": "ranking"}, {}, "infer.adaptive.goal"),
        ({**HALVES, "keep": ["aa"]}, {}, "infer.adaptive.keep: 'aa' is not defined"),
        ({**HALVES, "scorer": "emma"}, {}, "infer.adaptive.scorer: 'emma' is not defined"),
        ({**HALVES, "scorer": "gptscore"}, {}, "infer.adaptive.scorer"),
        (
            {**HALVES, "scorer": "mathreal"},
            {"score": {"scorers": ["mathreal"], "judge": "b"}},
            "asks judges here",
        ),
        (HALVES, {"infer": {"models": ["a"], "adaptive": HALVES}}, "needs several cells"),
        (
            HALVES,
            {"infer": {"models": ["a", "batched"], "adaptive": QUARTERS}},
            "has 4 looks, but 'batched' uses a batch API.*use at most 3",
        ),
    ],
)
def test_what_is_not_is_refused(
    adaptive: dict[str, Any], blocks: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParamsError, match=said):
        parse(adaptive, **blocks)
