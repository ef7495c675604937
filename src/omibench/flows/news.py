"""News and failures of flows, posted to the study's webhook; and what a cancelled run leaves."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from inspect import signature
from pathlib import Path
from time import gmtime, strftime
from typing import Any, ParamSpec, TypeVar, cast
from uuid import UUID

from prefect import task
from prefect.client.orchestration import get_client
from prefect.exceptions import CancelledRun, TerminationSignal
from prefect.runtime import flow_run
from prefect.states import Cancelled

from omibench.errors import OmibenchError, SomeFailedError
from omibench.files.yaml_file import read_mapping
from omibench.flows.retries import RETRIES
from omibench.models.api.stop import StopSignal
from omibench.params.study import Study
from omibench.plugins.allowance import find_places, require_allowed
from omibench.study.plan.study_file import read_study
from omibench.study.reevaluate.changes import (
    Move,
    change_journal,
    has_webhook,
    make_news,
    post,
    read_journal,
)
from omibench.text.masking import mask

log = logging.getLogger("omibench.flows")
P = ParamSpec("P")
R = TypeVar("R")


class PostedError(SomeFailedError):
    """Failures that the webhook has already received."""


@task(**RETRIES)
def tell(body: dict[str, Any], url_env: str) -> bool:
    """Post news to the webhook, if any."""
    return post(body, url_env)


def tell_news(
    study: Study, text: str, event: str, models: Sequence[str] = (), moved: Sequence[Move] = ()
) -> list[str]:
    """Post news; return one line if this failed.

    `event` is `evaluated`, `waiting`, `pending`, `retired`, `costs`, `drift` or `budget`.
    """
    body = _make_body(study, text, event, models, moved)
    try:
        tell(body, study.reevaluate.webhook_env)
    except OmibenchError as error:
        return [str(error)]
    return []


def tell_failure(study: Study, text: str, event: str = "failed") -> None:
    """Post a failure once: the same text again is posted only after a run has succeeded.

    `event` is `failed`, `budget`, `outage` or `cancelled`.
    """
    if not has_webhook(study.reevaluate.webhook_env):
        return
    with change_journal(Path(study.study.results)) as journal:
        is_known = journal.posted.get(event) == text
        journal.posted[event] = text
    if is_known:
        return
    try:
        post(_make_body(study, text, event), study.reevaluate.webhook_env)
    except OmibenchError as error:
        log.warning("omibench: %s", error)


def _make_body(
    study: Study, text: str, event: str, models: Sequence[str] = (), moved: Sequence[Move] = ()
) -> dict[str, Any]:
    title = study.study.title or study.study.name
    board = study.reevaluate.board
    return {"event": event} | make_news(study.study.name, f"{title}: {text}", models, moved, board)


def note_success(study: Study) -> None:
    """Forget the last failures, so that the next ones are posted.

    A budget that ended still has: only another number of missing responses is posted.
    """
    if read_journal(Path(study.study.results)).posted:
        with change_journal(Path(study.study.results)) as journal:
            for event in journal.posted.keys() - {"budget"}:
                del journal.posted[event]


def report_failures(call: Callable[P, R]) -> Callable[P, R]:
    """Wrap a flow's function to post its failure or its end by cancelling.

    A cancelled one returns Prefect's state, whose result raises CancelledRun. A flow inside another
    leaves posting to the outer one. The current folder is the study's.
    """

    @wraps(call)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature(call).bind(*args, **kwargs)
        given.apply_defaults()
        name, is_inner = given.arguments["params"], flow_run.get_parent_flow_run_id() is not None
        try:
            result = call(*args, **kwargs)
        except PostedError:
            raise
        except (StopSignal, TerminationSignal, CancelledRun):
            if not is_cancelled(flow_run.get_root_flow_run_id()):
                raise
            if not is_inner:
                _tell_of(name, "cancelled", "the evaluation was cancelled; responses are kept")
            # Prefect ends a run that raises as crashed, because its own handler of SIGTERM is
            # replaced (`omibench.flows.shared.living`).
            return cast(R, Cancelled(message="Flow run was cancelled."))
        except Exception as error:
            if not is_inner:
                reason = str(error) if isinstance(error, OmibenchError) else repr(error)
                _tell_of(name, "failed", f"{call.__name__} failed: {mask(reason)}")
            raise
        if not is_inner:
            note_success(read_study(name, run_plugins=False))
        return result

    return run


def is_cancelled(run_id: str | None) -> bool:
    """Return whether a flow run was cancelled, as far as its server says.

    A cancelled run whose process then died is a cancelled one.
    """
    if run_id is None:
        return False
    with suppress(Exception), get_client(sync_client=True) as client:
        states = client.read_flow_run_states(UUID(run_id))
        last = next((s for s in reversed(states) if not s.is_crashed()), None)
        return last is not None and (last.is_cancelling() or last.is_cancelled())
    return False


def moment() -> str:
    """Return the current time in UTC, formatted for people."""
    return strftime("%Y-%m-%d %H:%M UTC", gmtime())


def _tell_of(params: str, event: str, text: str) -> None:
    # A parameter file that cannot be read names no webhook, and a journal that was not allowed
    # is not written.
    with suppress(OmibenchError):
        require_allowed(read_mapping(params), [params], find_places)
        tell_failure(read_study(params, run_plugins=False), text, event)
