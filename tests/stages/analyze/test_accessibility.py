"""Pages keep the rules of WCAG 2.1, levels A and AA, as axe-core checks them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.stages.analyze.conftest import Folders

from omibench.files.reading import hash_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

AXE = Path("tests/vendored/axe/axe.min.js")
CHECK = """async () => {
  const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
  const found = await axe.run(document, { runOnly, resultTypes: ["violations"] });
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 120)}`));
}"""


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    ["report.html", "explorer/index.html", "explorer/cells/sim-strong@cot.html",
     "explorer/pages/biology_00.html"],
)  # fmt: skip
def test_pages_keep_the_rules(
    browser: Browser, reported: Folders, root: Path, name: str, scheme: Any, width: int
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto((reported.out / name).as_uri())
    if "pages/" in name:
        page.wait_for_selector("html[data-ready]")
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    if name == "report.html":
        page.select_option("#board-sort", "group")
    page.evaluate((root / AXE).read_text("utf-8"))
    violations = page.evaluate(CHECK)
    page.close()
    assert violations == []


def test_axe_is_the_published_one(root: Path) -> None:
    assert hash_file(root / AXE) in (root / "THIRD_PARTY.md").read_text("utf-8")
