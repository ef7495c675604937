"""What all requests share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from starlette.requests import Request

from omibench.explore.app.live import LiveStudy, Snapshot
from omibench.explore.app.login import SecretLogin
from omibench.explore.app.sent import ServedTrail
from omibench.explore.app.settings import ExplorerSettings
from omibench.web.serving.logins import LoginLimit


@dataclass(frozen=True)
class ExplorerContext:
    """The study that is shown, and for whom.

    Attributes:
        live: The study.
        settings: Where and for whom.
        login: Who is let in; None where only this machine reaches the server.
        login_limit: Counts logins that failed.
    """

    live: LiveStudy
    settings: ExplorerSettings
    login: SecretLogin | None = None
    login_limit: LoginLimit = field(default_factory=LoginLimit)


def read_context(request: Request) -> ExplorerContext:
    """What all requests share."""
    return cast(ExplorerContext, request.app.state.context)


def read_snapshot(request: Request) -> Snapshot:
    """The study as it is now."""
    return read_context(request).live.read()


def open_trail(snapshot: Snapshot) -> ServedTrail | None:
    """The store of a study; None where there is none."""
    store = snapshot.sources.store
    return ServedTrail(snapshot, store) if store is not None and store.is_dir() else None
