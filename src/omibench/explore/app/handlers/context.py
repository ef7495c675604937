"""Shared state of all requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from starlette.requests import Request

from omibench.explore.app.live import LiveStudy, Snapshot
from omibench.explore.app.login import SecretLogin
from omibench.explore.app.settings import ExplorerSettings
from omibench.web.serving.logins import LoginLimit


@dataclass(frozen=True)
class ExplorerContext:
    """The displayed study and the server settings.

    Attributes:
        live: The study.
        settings: The server settings.
        login: The login; None if only this machine reaches the server.
        login_limit: Counts failed logins.
    """

    live: LiveStudy
    settings: ExplorerSettings
    login: SecretLogin | None = None
    login_limit: LoginLimit = field(default_factory=LoginLimit)


def read_context(request: Request) -> ExplorerContext:
    """Return the shared state of all requests."""
    return cast(ExplorerContext, request.app.state.context)


def read_snapshot(request: Request) -> Snapshot:
    """Return the current snapshot of the study."""
    return read_context(request).live.read()
