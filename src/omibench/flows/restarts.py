"""Runs whose process has died: which they are, and starting them again."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from httpx import TransportError
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.exceptions import PrefectHTTPStatusError
from prefect.states import Cancelled, Crashed, Scheduled

from omibench.files.locks import hold
from omibench.flows.news import is_cancelled
from omibench.flows.shared import sign_of_life

FLOWS = ("evaluate", "judge", "rationales", "reevaluate")
MOST_RUNS = 4
"""The number of starts after which a run that crashes stays crashed."""
AT_WORK = [StateType.RUNNING, StateType.PENDING]
GONE = "its process is gone"
AGAIN = "its process is gone: restarted"


def begin_again() -> list[str]:
    """Schedule the runs whose process is gone again; return their names.

    A live run of a flow holds a lock (`omibench.flows.shared.living`). Runs inside another run are
    marked as crashed, since that one restarts them; cancelled ones as cancelled.
    """
    begun = []
    with get_client(sync_client=True) as client:
        types = [*AT_WORK, StateType.CANCELLING]
        for run in _read_runs(client, {"state": {"type": {"any_": types}}}):
            if _lives(str(run.id)):
                continue
            if is_cancelled(str(run.id)):
                _end_cancelled(client, run.id)
            elif run.deployment_id is None:
                client.set_flow_run_state(run.id, Crashed(message=GONE), force=True)
            else:
                client.set_flow_run_state(run.id, Scheduled(message=AGAIN), force=True)
                begun.append(run.name)
    return begun


def retry_crashed(served_s: float) -> list[str]:
    """Schedule runs whose process died while the worker lived again; return their names.

    Args:
        served_s: Seconds for which the worker has run. Runs that crashed before it started were
            stopped.
    """
    begun = []
    since = (datetime.now(UTC) - timedelta(seconds=served_s)).isoformat()
    crashed = {"state": {"type": {"any_": [StateType.CRASHED]}}, "end_time": {"after_": since}}
    with (
        suppress(PrefectHTTPStatusError, TransportError),  # the server is busy for a moment
        get_client(sync_client=True) as client,
    ):
        for run in _read_runs(client, crashed):
            if run.deployment_id is None or _lives(str(run.id)):
                continue
            if is_cancelled(str(run.id)):
                _end_cancelled(client, run.id)
                continue
            if run.run_count >= MOST_RUNS:
                continue
            _end_inner(client, str(run.id), Crashed(message=GONE))
            client.set_flow_run_state(run.id, Scheduled(message=AGAIN), force=True)
            begun.append(run.name)
    return begun


def cancel_inner(run_id: str) -> None:
    """Mark the runs inside a cancelled one, whose process was killed, as cancelled, too."""
    with get_client(sync_client=True) as client:
        _end_inner(client, run_id, Cancelled(message=GONE))


def _end_cancelled(client: SyncPrefectClient, run_id: UUID) -> None:
    _end_inner(client, str(run_id), Cancelled(message=GONE))
    client.set_flow_run_state(run_id, Cancelled(message=GONE), force=True)


def _end_inner(client: SyncPrefectClient, run_id: str, state: State[Any]) -> None:
    inner = {"parent_flow_run_id": {"any_": [run_id]}, "state": {"type": {"any_": AT_WORK}}}
    for child in _read_runs(client, inner):
        client.set_flow_run_state(child.id, state, force=True)


def _read_runs(client: SyncPrefectClient, states: dict[str, object]) -> list[FlowRun]:
    return client.read_flow_runs(
        flow_filter=FlowFilter.model_validate({"name": {"any_": list(FLOWS)}}),
        flow_run_filter=FlowRunFilter.model_validate(states),
    )


def _lives(run_id: str) -> bool:
    path = sign_of_life(run_id)
    if not path.is_file():
        return False
    with path.open("a") as file:
        return not hold(file.fileno())
