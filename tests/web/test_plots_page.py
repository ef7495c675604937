"""The page of `dvc plots`: everything inside, nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.accessibility import list_violations
from tests.browsing import listen, note_requests

from omibench.web.plots_page import make_plots_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PLOT = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {
        "values": [
            {"model": "m-1", "setting": "cot", "acc": "0.7", "rev": "workspace"},
            {"model": "m-1", "setting": "cot", "acc": "0.5", "rev": "HEAD", "simulated": "true"},
        ]
    },
    "title": {"text": "Accuracy by setting"},
    "mark": {"type": "bar"},
    "encoding": {
        "x": {"field": "acc", "type": "quantitative", "scale": {"zero": False}},
        "y": {"field": "setting", "type": "nominal"},
        "yOffset": {"field": "rev", "sort": []},
        "color": {"field": "rev"},
    },
}
"""As DVC fills its template `bar_horizontal`."""


def test_the_page_of_this_project_is_the_one_that_the_package_makes(root: Path) -> None:
    made = make_plots_page()
    assert (root / ".dvc/plots.html").read_text("utf-8") == made
    assert "html_template = plots.html" in (root / ".dvc/config").read_text("utf-8")
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", made)


def test_dvc_finds_its_places_once() -> None:
    page = make_plots_page()
    assert page.count("{plot_divs}") == page.count("{refresh_tag}") == 1
    assert "{scripts}" not in page, "DVC would put scripts of a server there"


@pytest.mark.slow
def test_a_plot_is_drawn_without_a_request_and_names_its_model(
    browser: Browser, tmp_path: Path, root: Path
) -> None:
    plot = (
        f"<div id='p'><script>var spec = {json.dumps(PLOT)}; vegaEmbed('#p', spec);</script></div>"
    )
    file = tmp_path / "index.html"
    text = make_plots_page().replace("{plot_divs}", plot).replace("{refresh_tag}", "")
    file.write_text(text, "utf-8")
    page = browser.new_page()
    said = listen(page)
    asked = note_requests(page)
    page.goto(file.as_uri())
    page.wait_for_selector("#p svg .mark-rect path")
    assert page.locator("#p svg .mark-rect path").count() >= 2
    words = page.locator("#p svg text").all_text_contents()
    assert {"Accuracy by setting", "m-1 · SIMULATED", "workspace", "HEAD"} <= set(words)
    assert asked == [file.as_uri()]
    assert list_violations(page, root) == []
    assert said == []
    page.close()
