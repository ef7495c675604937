"""Formulas on pages that open from disk."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.browsing import listen, note_requests

from omibench.web.formulas import FORMULAS_POLICY, join_modules, write_formula_files

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
    script = join_modules("formulas")
    assert "\nimport " not in script
    assert "\nexport " not in script
    assert script.index("modules.dom =") < script.index("modules.inline =")
    assert "return { renderInline, renderWithPictures };" in script


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ('import { a } from "./first.js";\n', "imports itself"),
        ('import { a } from "https://example.org/x.js";\n', "unsupported"),
        ("export default 1;\n", "unsupported"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path: Path, module: str, reason: str) -> None:
    (tmp_path / "first.js").write_text('import { make } from "./web/dom.js";\n' + module)
    with pytest.raises(ValueError, match=rf"first\.js: .*{reason}"):
        join_modules("first", tmp_path)


def test_formulas_of_a_page_on_disk_are_set(tmp_path: Path, browser: Any) -> None:
    write_formula_files(tmp_path / "formulas")
    (tmp_path / "page.html").write_text(PAGE.format(policy=FORMULAS_POLICY), "utf-8")
    page = browser.new_page()
    messages = listen(page)
    requests = note_requests(page)
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


NAMES = ["m" + a + b for a in "abcdefghijklm" for b in "abcdefghijklm"]
DEEP = {
    "frac": r"\frac{1}{" * 150 + "x" + "}" * 150,
    "sqrt": r"\sqrt{" * 150 + "x" + "}" * 150,
    "sup": "x^{" * 99 + "x" + "}" * 99,
    "hat": r"\hat{" * 99 + "x" + "}" * 99,
    "matrix": r"\begin{matrix}" * 150 + "x" + r"\end{matrix}" * 150,
    "macro": "".join(
        rf"\def\{name}{{\sqrt{{\{inner}}}}}" for name, inner in pairwise([*NAMES, "alpha"])
    ) + rf"\{NAMES[0]}",
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_a_formula_that_is_nested_too_deeply_is_shown_as_source(
    name: str, tmp_path: Path, browser: Any
) -> None:
    write_formula_files(tmp_path / "formulas")
    text = PAGE.format(policy=FORMULAS_POLICY).replace(r"\frac{1$", escape(DEEP[name]) + "$")
    (tmp_path / "page.html").write_text(text, "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("#bad.set")
    refused = page.locator("#bad .math-refused").last
    assert refused.get_attribute("title") == "the formula is nested too deeply to be set"
    assert refused.locator("code").inner_text() == f"${DEEP[name]}$"
    page.close()


def test_formulas_as_deep_as_people_write_are_set(tmp_path: Path, browser: Any) -> None:
    write_formula_files(tmp_path / "formulas")
    fraction = r"1+\frac{1}{" * 30 + "x" + "}" * 30
    text = PAGE.format(policy=FORMULAS_POLICY).replace(r"\frac{a}{b}", fraction)
    (tmp_path / "page.html").write_text(text, "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("#good.set")
    assert page.locator("#good .katex").count() == 2
    page.close()


def test_a_page_without_scripts_shows_the_source(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "page.html").write_text(PAGE.format(policy=FORMULAS_POLICY), "utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert "\\frac{a}{b}" in page.locator("#good").inner_text()
    context.close()
