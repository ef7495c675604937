"""What the tests of local models share."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest


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
