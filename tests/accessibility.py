"""What axe-core finds on a page, at the sizes and in the colours that people use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path("tests/vendored/axe/axe.min.js")
WIDTHS = (1400, 390)
SCHEMES = ("light", "dark")
_CHECK = """async () => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)}`));
}"""


def list_violations(page: Page, root: Path) -> list[str]:
    """Return what an open page violates, of all rules of axe-core, each with its element.

    At each of `WIDTHS` and `SCHEMES`, with every folded part open. A page wider than its window is
    a violation too.
    """
    axe = (root / AXE).read_text("utf-8")
    found = []
    for width in WIDTHS:
        for scheme in SCHEMES:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(400)  # colours that change gradually
            page.evaluate(axe)
            found += [f"{width} {scheme} {each}" for each in page.evaluate(_CHECK)]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{width} the page is wider than its window")
    return found
