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
    """Serve a study until the process is stopped.

    Args:
        live: The study.
        settings: The server settings.
        on_start: Called with the address once the server listens.

    Raises:
        OutputError: The address cannot be used.
    """

    def make(port: int) -> Starlette:
        return make_application(live, settings.replace(port=port))

    # A large run is indexed in the background.
    threading.Thread(target=live.index, daemon=True).start()
    serve(make, settings, on_start)
