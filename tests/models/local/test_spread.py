"""A model that one GPU does not hold is spread over several; what lacks is one line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from omibench.errors import ModelError
from omibench.models.local import checkpoint as spread
from omibench.models.local.checkpoint import spread_layers

FREE = {0: 70_000, 1: 80_000, 2: 90_000}


def torch_with(gpus: int) -> Any:
    cuda = SimpleNamespace(device_count=lambda: gpus, mem_get_info=lambda gpu: (FREE[gpu], 100_000))
    return SimpleNamespace(cuda=cuda)


def test_layers_go_by_the_memory_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "missing_modules", lambda modules: [])
    found = spread_layers("rm", 2, torch_with(3))
    assert found == {"device_map": "auto", "max_memory": {0: 70_000, 1: 80_000}}
    assert spread_layers("rm", 1, torch_with(0)) == spread_layers("rm", 0, torch_with(0)) == {}


def test_too_few_gpus_and_an_absent_package_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="gpus is 4, but torch finds 1 on this machine"):
        spread_layers("rm", 4, torch_with(1))
    monkeypatch.setattr(spread, "missing_modules", list)
    with pytest.raises(ModelError, match="not installed: pip install"):
        spread_layers("rm", 2, torch_with(2))
