"""The server of a review."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette

from omibench.review_app.application import make_application
from omibench.review_app.service import ReviewService
from omibench.review_app.settings import ServerSettings
from omibench.web.serving.server import serve


def run_server(
    service: ReviewService, settings: ServerSettings, on_start: Callable[[str], None]
) -> None:
    """Serve a review until the process is stopped.

    Args:
        service: The review; it is closed at the end.
        settings: Address and mode.
        on_start: Called with the address once the server listens.

    Raises:
        OutputError: The address cannot be used, or decisions.jsonl cannot be written.
    """

    def make(port: int) -> Starlette:
        return make_application(service, settings.replace(port=port))

    try:
        serve(make, settings, on_start)
        service.log.synchronise()
    finally:
        service.close()
