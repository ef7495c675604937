"""Studies that watch an endpoint."""

from __future__ import annotations

from typing import Any

from omibench.params.study import Study, parse_study

PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}
TEMPLATE: dict[str, Any] = {"provider": "openai", "base_url": "http://x/v1", "price": PRICE}


def watching(**changes: Any) -> Study:
    """A study with one model, two settings and a watch that wants `new-*`."""
    study: dict[str, Any] = {
        "study": {"name": "s"},
        "models": {"old": TEMPLATE | {"id": "old"}},
        "settings": {"cot": {}, "direct": {"decoding": {"max_tokens": 100}}},
        "infer": {"models": ["old"], "settings": ["cot", "direct"]},
        "reevaluate": {
            "watch": {"lab": {"kind": "endpoint", "match": ["new-*", "*/new-*"], "model": TEMPLATE}}
        },
    }
    return parse_study(study | changes, "test")
