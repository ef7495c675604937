"""Colours, verdict marks and their words stand in one place, and every page uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from omibench.stages.analyze.explorer.pages import write_page_files
from omibench.web.templates import make_environment
from omibench.web.verdicts import read_verdict_words

SOURCE = Path(__file__).parents[2] / "src/omibench"
THEME = SOURCE / "web/static/theme.css"
OTHERS = sorted(
    path for path in SOURCE.rglob("*.css") if path != THEME and "vendored" not in path.parts
)
_VARIABLE = re.compile(r"(--[a-z0-9-]+):")


def test_every_colour_has_a_light_and_a_dark_value() -> None:
    light, dark = THEME.read_text("utf-8").split("@media (prefers-color-scheme: dark)")
    names = _VARIABLE.findall(light)
    assert len(names) == len(set(names)) > 15
    assert _VARIABLE.findall(dark) == names


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_no_other_style_states_a_shared_colour_or_mark(path: Path) -> None:
    shared = set(_VARIABLE.findall(THEME.read_text("utf-8")))
    style = path.read_text("utf-8")
    assert not shared & set(_VARIABLE.findall(style))
    assert not re.search(r"\.verdict\.(right|wrong|partly|failed|none) *\{", style)


def test_pages_from_disk_have_the_theme_first(tmp_path: Path) -> None:
    theme = THEME.read_text("utf-8")
    write_page_files(tmp_path)
    assert (tmp_path / "item.css").read_text("utf-8").startswith(theme)
    base = make_environment("omibench.web").get_template("base.html.j2").render(csp="")
    assert 0 < base.index(theme.strip()) < base.index("</style>")


def test_scripts_and_python_read_the_same_words(tmp_path: Path) -> None:
    words = read_verdict_words()
    assert list(words) == ["right", "partly", "wrong", "failed", "none"]
    write_page_files(tmp_path)
    script = (tmp_path / "item.js").read_text("utf-8")
    assert all(f'"{kind}": {{"word": "{word}"' in script for kind, word in words.items())
