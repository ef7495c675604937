"""A browser of the explorer, without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.explore.app.live import LiveStudy
from omibench.explore.app.settings import ExplorerSettings, ExplorerSources

Open = Callable[..., Any]


@pytest.fixture
def open_client() -> Open:
    """Opens a browser: `open_client(sources, **settings)`."""
    testclient = pytest.importorskip("starlette.testclient")
    from omibench.explore.app.application import make_application

    def open_(sources: ExplorerSources, **settings: Any) -> Any:
        application = make_application(LiveStudy(sources, 0), ExplorerSettings(**settings))
        return testclient.TestClient(application, base_url="http://localhost:8766")

    return open_


@pytest.fixture
def client(open_client: Open, results: Path) -> Any:
    """A browser of the small study."""
    return open_client(ExplorerSources(results / "freeze", results=results))
