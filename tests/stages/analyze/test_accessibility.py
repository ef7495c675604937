"""Pages keep the rules that axe-core checks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.accessibility import AXE, list_violations
from tests.stages.analyze.conftest import Folders

from omibench.files.reading import hash_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.parametrize(
    "name",
    [
        "report.html",
        *(
            pytest.param(f"explorer/{name}.html", marks=pytest.mark.slow)
            for name in ("index", "cells/sim-strong@cot", "pages/biology_00")
        ),
    ],
)
def test_pages_keep_the_rules(browser: Browser, reported: Folders, root: Path, name: str) -> None:
    page = browser.new_page()
    page.goto((reported.out / name).as_uri())
    if "pages/" in name:
        page.wait_for_selector("html[data-ready]")
    if name == "report.html":
        page.select_option("#board-sort", "group")
    assert list_violations(page, root) == []
    page.close()


def test_axe_is_the_published_one(root: Path) -> None:
    assert hash_file(root / AXE) in (root / "THIRD_PARTY.md").read_text("utf-8")
