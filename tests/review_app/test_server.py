"""What ends a review's server."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import OutputError
from omibench.review.app.application import run_server
from omibench.review.app.context import ServerSettings
from review_app.builders import make_service


def test_an_address_that_is_taken_is_named(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with pytest.raises(OutputError, match=r"--host 192\.0\.2\.1 --port 1: cannot listen"):
        run_server(service, ServerSettings(host="192.0.2.1", port=1), print)
