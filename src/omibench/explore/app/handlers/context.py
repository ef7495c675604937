"""What all requests share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast
from weakref import WeakKeyDictionary

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
        trails: The store of each snapshot that is in use.
    """

    live: LiveStudy
    settings: ExplorerSettings
    login: SecretLogin | None = None
    login_limit: LoginLimit = field(default_factory=LoginLimit)
    trails: WeakKeyDictionary[Snapshot, ServedTrail] = field(default_factory=WeakKeyDictionary)

    def find_trail(self, snapshot: Snapshot) -> ServedTrail | None:
        """The store of a study, opened once; None where there is none."""
        store = snapshot.sources.store
        if store is None or not store.is_dir():
            return None
        if snapshot not in self.trails:
            self.trails[snapshot] = ServedTrail(snapshot, store)
        return self.trails[snapshot]


def read_context(request: Request) -> ExplorerContext:
    """What all requests share."""
    return cast(ExplorerContext, request.app.state.context)


def read_snapshot(request: Request) -> Snapshot:
    """The study as it is now."""
    return read_context(request).live.read()
