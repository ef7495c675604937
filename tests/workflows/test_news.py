"""Failures of flows are posted once until a run succeeds, an exhausted budget once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extras import require_extra
from tests.reevaluate.conftest import watching
from tests.workflows_support import Hook

from omibench.study.reevaluate.changes import JOURNAL

require_extra("flows", "prefect")


def test_a_failure_is_posted_again_only_after_a_success(
    tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omibench.flows.news import note_success, tell_failure

    study = watching(study={"name": "s", "results": str(tmp_path)})
    tell_failure(study, "it broke")
    assert not (tmp_path / JOURNAL).exists(), "without a webhook nothing is kept"
    for name, url in hook.variables.items():
        monkeypatch.setenv(name, url)
    for _ in range(2):
        tell_failure(study, "it broke")
        tell_failure(study, "the budget ended before 5 requests", "budget")
    assert hook.events() == ["failed", "budget"]
    note_success(study)
    tell_failure(study, "the budget ended before 5 requests", "budget")
    tell_failure(study, "it broke")
    tell_failure(study, "the budget ended before 4 requests", "budget")
    assert hook.events() == ["failed", "budget", "failed", "budget"]
