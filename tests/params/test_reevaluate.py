"""The block `reevaluate:`: what is wanted, what a new model gets, and mistakes in one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.params.reevaluate import EndpointWatch, HubWatch, fill_template, matches
from omibench.params.study import parse_study

SERVED: dict[str, Any] = {"provider": "openai", "base_url": "http://x/v1", "key_env": "KEY"}


@pytest.mark.parametrize(
    ("pattern", "model_id", "wanted"),
    [
        ("qwen3-vl-*", "qwen3-vl-8b", True),
        ("qwen3-vl-*", "Qwen3-VL-8b", False),
        ("*/Qwen?-VL-[78]B", "Lab/Qwen3-VL-8B", True),
        ("gpt-5", "gpt-5-mini", False),
        ("/gpt-[5-9](\\.\\d)?/", "gpt-5.2", True),
        ("/gpt-[5-9](\\.\\d)?/", "gpt-5.2-mini", False),
        ("/", "/", True),
    ],
)
def test_patterns_are_globs_or_regular_expressions(
    pattern: str, model_id: str, wanted: bool
) -> None:
    assert matches(pattern, model_id) is wanted


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_glob_never_fails(pattern: str, model_id: str) -> None:
    if not (pattern.startswith("/") and pattern.endswith("/") and len(pattern) > 1):
        assert matches(pattern, model_id) in (True, False)


def test_a_new_model_is_asked_where_it_is_listed() -> None:
    watch = EndpointWatch(kind="endpoint", match=["*"], ignore=["*-base"], model=SERVED)
    assert watch.endpoint() == ("openai", "http://x/v1", "KEY")
    elsewhere = watch.model_copy(update={"api": "anthropic", "base_url": "http://y"})
    assert elsewhere.endpoint() == ("anthropic", "http://y", "KEY")
    assert watch.wants("m")
    assert not watch.wants("m-base")
    assert fill_template(SERVED, "Lab/m") == {"id": "Lab/m"} | SERVED
    stand_in = {"provider": "simulated", "oracle": "o.jsonl"}
    assert fill_template(stand_in, "m") == stand_in, "a stand-in has no id"


def watching(watch: dict[str, Any], **more: Any) -> dict[str, Any]:
    blocks = {"settings": {"cot": {}}, "infer": {"settings": ["cot"]}}
    return blocks | {"reevaluate": {"watch": {"lab": watch}} | more}


WATCH: dict[str, Any] = {"kind": "endpoint", "match": ["*"], "model": SERVED}
PRICED = SERVED | {"price": {"input": 1, "output": 2, "as_of": "2026-11-21"}}


@pytest.mark.parametrize(
    ("watch", "more", "said"),
    [
        (WATCH | {"match": ["/(/"]}, {}, r"lab\.match\.0: is not a regular expression: .* '/\(/'"),
        (WATCH | {"match": []}, {}, r"lab\.match: List should have at least 1 item"),
        (WATCH | {"model": {"provider": "gpt"}}, {}, r"lab\.model: is not a valid model: .*'gpt'"),
        (WATCH | {"model": SERVED | {"id": "m"}}, {}, r"must not contain an `id`"),
        (WATCH | {"model": {"provider": "recorded", "responses": {}}}, {}, "not `recorded`"),
        (WATCH | {"settings": ["cot2"]}, {}, r"lab\.settings: 'cot2' .* mean 'cot'"),
        (WATCH | {"model": {"provider": "vllm"}}, {}, "base_url is missing"),
        (WATCH, {"monthly_budget_usd": 3}, r"watch\.lab\.model: has no price"),
        (WATCH | {"mach": ["*"]}, {}, r"unknown key; did you mean 'match'"),
        (WATCH | {"kind": "hup"}, {}, r"unknown value 'hup'; did you mean 'hub'"),
    ],
)
def test_a_mistake_is_one_line(watch: dict[str, Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(ParamsError, match=said) as found:
        parse_study(watching(watch, **more), "params.yaml")
    assert "\n" not in str(found.value)


def test_a_priced_watch_may_have_a_monthly_budget() -> None:
    study = parse_study(watching(WATCH | {"model": PRICED}, monthly_budget_usd=3), "params.yaml")
    assert study.reevaluate.monthly_budget_usd == 3
    hub = watching({"kind": "hub", "match": ["*"], "model": {"provider": "vllm"}})
    watch = parse_study(hub, "params.yaml").reevaluate.watch["lab"]
    assert isinstance(watch, HubWatch)
    assert watch.newest == 100
