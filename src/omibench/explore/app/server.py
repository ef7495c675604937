"""The server of the explorer."""

from __future__ import annotations

import threading
from collections.abc import Callable

from starlette.applications import Starlette

from omibench.explore.app.application import make_application
from omibench.explore.app.live import LiveStudy
from omibench.explore.app.settings import ExplorerSettings
from omibench.web.serving.server import serve


def run_explorer(
    live: LiveStudy, settings: ExplorerSettings, on_start: Callable[[str], None]
) -> None:
    """Serve a study until the process is told to stop.

    Args:
        live: The study.
        settings: Where and for whom.
        on_start: Is given the address once the server listens.

    Raises:
        OutputError: Nobody can listen at the address.
    """

    def make(port: int) -> Starlette:
        return make_application(live, settings.replace(port=port))

    # A large run is indexed while people begin to look; nothing waits for it.
    threading.Thread(target=live.index, daemon=True).start()
    serve(make, settings, on_start)
