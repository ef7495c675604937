"""Formulas on pages that open from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.web.formulas import FORMULAS_POLICY, MODULES, join_modules, write_formula_files

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}"><title>Formulas</title>
<link rel="stylesheet" href="formulas/katex.min.css">
<script defer src="formulas/katex.min.js"></script>
<script defer src="formulas/mhchem.min.js"></script>
<script defer src="formulas/formulas.js"></script></head>
<body><p class="tex" id="good">The ratio $\\frac{{a}}{{b}}$ of \\(\\ce{{H2SO4}}\\); it costs $5.</p>
<p class="tex" id="bad">$\\href{{javascript:alert(1)}}{{x}}$ $\\def\\a{{\\a\\a}}\\a$ $\\frac{{1$</p>
<p id="plain">$x$</p></body></html>"""


def test_modules_are_joined_to_one_classic_script() -> None:
    script = join_modules(MODULES)
    assert "\nimport " not in script
    assert "\nexport " not in script
    assert script.index("modules.dom =") < script.index("modules.inline =")
    assert "return { renderInline, renderWithPictures };" in script


def test_a_module_before_what_it_imports_is_refused() -> None:
    with pytest.raises(ValueError, match="dom"):
        join_modules(("unseen", "dom"))


def test_formulas_of_a_page_on_disk_are_set(tmp_path: Path, browser: Any) -> None:
    write_formula_files(tmp_path / "formulas")
    (tmp_path / "page.html").write_text(PAGE.format(policy=FORMULAS_POLICY), "utf-8")
    page = browser.new_page()
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("#bad.set")
    assert page.locator("#good .katex").count() == 2
    assert page.locator("#good").inner_text().endswith("it costs $5.")
    assert page.locator("#bad .math-refused").count() >= 2
    assert page.locator("a, #plain .katex").count() == 0
    assert messages == []
    assert all(url.startswith(tmp_path.as_uri()) for url in requests)
    assert any(url.endswith(".woff2") for url in requests)
    page.close()


def test_a_page_without_scripts_shows_the_source(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "page.html").write_text(PAGE.format(policy=FORMULAS_POLICY), "utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert "\\frac{a}{b}" in page.locator("#good").inner_text()
    context.close()
