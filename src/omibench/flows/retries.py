"""How tasks of flows are retried."""

from __future__ import annotations

from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff

from omibench.errors import may_pass


def passing(_task: Any, _run: Any, state: Any) -> bool:
    """Return whether a failed task is retried: not after a user's mistake or a wrong key."""
    return may_pass(state.data)


RETRIES: dict[str, Any] = {
    "retries": 4,
    "retry_delay_seconds": exponential_backoff(backoff_factor=5),
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": passing,
    "cache_policy": NO_CACHE,
    "persist_result": False,
}
