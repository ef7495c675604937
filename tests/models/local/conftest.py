"""What the tests of local models share."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from tests.models.fake_vllm import FakeVllm

from omibench.models.local.checkpoint import LOADED


@pytest.fixture(scope="session", autouse=True)
def _modules_of_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Code of checkpoints, which transformers copies and imports, lies in one folder a process.

    `transformers_modules` is a package that is imported once, so its folder cannot change between
    tests; and no test writes into the folder of the user.
    """
    if not (find_spec("torch") and find_spec("transformers")):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        dynamic = importlib.import_module("transformers.dynamic_module_utils")
        patch.setattr(dynamic, "HF_MODULES_CACHE", str(tmp_path_factory.mktemp("modules")))
        patch.setattr(sys, "path", [*sys.path])
        yield


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeVllm]:
    """A module in the place of vLLM, with nothing loaded."""
    made = FakeVllm()
    monkeypatch.setitem(sys.modules, "vllm", made.module())
    LOADED.release()
    yield made
    LOADED.release()


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Torch works on one core for the tests of a module, which are skipped without it."""
    if not (find_spec("torch") and find_spec("transformers")):
        pytest.skip("torch and transformers are not installed: pip install -e '.[transformers]'")
    importlib.import_module("torch").set_num_threads(1)
    yield
    LOADED.release()
