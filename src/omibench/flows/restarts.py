"""Runs whose process has died: which they are, and starting them again."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from httpx import TransportError
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.exceptions import PrefectHTTPStatusError
from prefect.states import Cancelled, Crashed

from omibench.files.locks import hold
from omibench.flows.news import is_cancelled
from omibench.flows.shared import sign_of_life

FLOWS = ("evaluate", "judge", "rationales", "reevaluate")
MOST_RESTARTS = 3
RESTART, RESTARTED = "restart ", "restarted"
"""Tags of a run that replaces another, with the number of restarts so far; and of the other."""
AT_WORK = [StateType.RUNNING, StateType.PENDING]
GONE = "its process is gone"


def begin_again() -> list[str]:
    """End the runs whose process is gone, and start those of deployments again; return their names.

    A live run of a flow holds a lock (`omibench.flows.shared.living`). Runs inside another run are
    only marked as crashed, since that one restarts them; cancelled ones end as cancelled.
    """
    types = [*AT_WORK, StateType.CANCELLING]
    with get_client(sync_client=True) as client:
        gone = _read_runs(client, {"state": {"type": {"any_": types}}})
        return [run.name for run in gone if _replace(client, run)]


def retry_crashed(served_s: float) -> list[str]:
    """Start runs whose process died while the worker lived again; return their names.

    Args:
        served_s: Seconds for which the worker has run. Runs that crashed before it started were
            stopped.
    """
    since = (datetime.now(UTC) - timedelta(seconds=served_s)).isoformat()
    crashed = {"state": {"type": {"any_": [StateType.CRASHED]}}, "end_time": {"after_": since}}
    with (
        suppress(PrefectHTTPStatusError, TransportError),  # the server is busy for a moment
        get_client(sync_client=True) as client,
    ):
        dead = [run for run in _read_runs(client, crashed) if run.deployment_id is not None]
        return [run.name for run in dead if _replace(client, run)]
    return []


def _replace(client: SyncPrefectClient, run: FlowRun) -> bool:
    """End a run without a process; start another unless it was cancelled or has no deployment.

    It is another run because Prefect's worker reports the death of a process up to half a minute
    late: that would end the same run again. Return whether there is a new run.
    """
    if RESTARTED in run.tags or _lives(str(run.id)):
        return False
    end: State[Any] = Crashed(message=GONE)
    if is_cancelled(str(run.id)):
        end = Cancelled(message=GONE)
    _end_inner(client, str(run.id), end)
    if run.state_type != end.type:
        client.set_flow_run_state(run.id, end, force=True)
    restarts = next((int(t.removeprefix(RESTART)) for t in run.tags if t.startswith(RESTART)), 0)
    if run.deployment_id is None or end.is_cancelled() or restarts >= MOST_RESTARTS:
        return False
    kept = [tag for tag in run.tags if not tag.startswith(RESTART)]
    client.create_flow_run_from_deployment(
        run.deployment_id, parameters=run.parameters, tags=[*kept, f"{RESTART}{restarts + 1}"],
        idempotency_key=f"{run.id} {RESTARTED}",
    )  # fmt: skip
    client.update_flow_run(run.id, tags=[*run.tags, RESTARTED])
    return True


def cancel_inner(run_id: str) -> None:
    """Mark the runs inside a cancelled one, whose process was killed, as cancelled, too."""
    with get_client(sync_client=True) as client:
        _end_inner(client, run_id, Cancelled(message=GONE))


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
