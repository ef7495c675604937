"""Failures of flows are posted once until a run succeeds, an exhausted budget or outage once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.extras import require_extra
from tests.reevaluate.conftest import watching
from tests.workflows_support import Hook

from omibench.models.api.failures import OPEN_AFTER, Failure, PendingCall, get_outage
from omibench.study.reevaluate.changes import JOURNAL

require_extra("flows", "prefect")


@pytest.mark.slow
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


@pytest.mark.parametrize(("minutes", "events"), [(9, []), (11, ["outage"])])
def test_an_endpoint_that_never_answered_is_awaited_and_posted_once_after_ten_minutes(
    tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch, minutes: int, events: list[str]
) -> None:
    from omibench.flows.progress import OutageNews

    for name, url in hook.variables.items():
        monkeypatch.setenv(name, url)
    model = {"provider": "openai", "id": f"m{minutes}", "base_url": "http://127.0.0.1:9/v1"}
    study = watching(study={"name": "s", "results": str(tmp_path)}, models={"old": model})
    outage = get_outage(("openai", model["base_url"], model["id"]))
    refused = Failure("Connection refused", transient=True, maybe_paid=False, offline=True)
    now = time.monotonic()
    for _ in range(OPEN_AFTER):
        outage.note_failure(
            refused, now - 60 * minutes, call=PendingCall(()), probe=False, chance=0.0, enough=5
        )
    assert outage.is_over(now, 1800.0), "without a flow it is given up after a minute"
    news = OutageNews(study, ["old"])
    assert not outage.is_over(now, 1800.0)
    for _ in range(2):
        news.check()
    assert hook.events() == events
    assert all(
        "old: its endpoint has been unavailable for 11 min" in p["text"] for p in hook.posted
    )
