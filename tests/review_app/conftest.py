"""A review of three item tasks that is served, and a browser of each person."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.review.app.service import ReviewService
from review_app.builders import Browser, make_service, open_browser


@pytest.fixture
def service(tmp_path: Path) -> ReviewService:
    return make_service(tmp_path)


@pytest.fixture
def ann(service: ReviewService) -> Browser:
    return open_browser(service, "ann")


@pytest.fixture
def abe(service: ReviewService) -> Browser:
    return open_browser(service, "abe")


@pytest.fixture
def bob(service: ReviewService) -> Browser:
    return open_browser(service, "bob")


@pytest.fixture
def eve(service: ReviewService) -> Browser:
    return open_browser(service, "eve")
