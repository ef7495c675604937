"""Pages: escaped values, addresses of pictures, and the works of others that they contain."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import omibench.web
from omibench.files.reading import hash_file
from omibench.web.pictures import embed_picture, find_picture, link_file, link_picture
from omibench.web.plots_page import make_classic, read_vega_scripts
from omibench.web.templates import (
    PAGE_POLICY,
    PAGE_WITHOUT_PICTURES_POLICY,
    make_environment,
    render_page,
)

PAGE = """{% extends "base.html.j2" %}
{% from "macros.html.j2" import evidence %}
{% block title %}{{ words }}{% endblock %}
{% block body %}<p>{{ words }}</p>{{ evidence(figure) }}{% endblock %}
"""
HOSTILE = "<script>alert('1')</script>"


def test_every_value_is_escaped() -> None:
    figure = {"src": "", "name": HOSTILE, "caption": HOSTILE}
    page = make_environment("omibench.stages.analyze").from_string(PAGE)
    text = page.render(csp=PAGE_POLICY, words=HOSTILE, figure=figure)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") == 4
    assert "picture is missing" in text


def test_a_name_without_a_value_is_an_error() -> None:
    page = make_environment("omibench.stages.analyze").from_string("{{ nobody }}")
    with pytest.raises(UndefinedError, match="nobody"):
        page.render()


def test_a_page_has_one_policy_and_no_source_of_scripts() -> None:
    text = render_page(
        "omibench.stages.filter", "rejects.html.j2", summary="none", groups=[], has_formulas=False
    )
    assert text.count("Content-Security-Policy") == 1
    assert f'content="{PAGE_POLICY}"'.replace("'", "&#39;") in text
    for policy in (PAGE_POLICY, PAGE_WITHOUT_PICTURES_POLICY):
        assert policy.startswith("default-src 'none'")
        assert "script-src" not in policy


@pytest.mark.parametrize(
    ("target", "link"),
    [
        ("pages/a.png", "./a.png"),
        ("images/a b.png", "../images/a%20b.png"),
        ("javascript:alert(1)", "../javascript%3Aalert%281%29"),
        ("pages/data:x.png", "./data%3Ax.png"),
    ],
)
def test_a_link_is_relative_and_has_no_scheme(tmp_path: Path, target: str, link: str) -> None:
    assert link_file(tmp_path / target, tmp_path / "pages/p.html") == link


@pytest.mark.parametrize("name", ["images/a.png", "a.jpg", "deep/er/b.webp"])
def test_a_picture_of_the_folder_is_found(tmp_path: Path, name: str) -> None:
    assert find_picture(tmp_path, name) == tmp_path / name
    assert link_picture(tmp_path, name, tmp_path / "p.html") == f"./{name}"


@pytest.mark.parametrize(
    "name",
    ["", "/etc/a.png", "../a.png", "images/../../a.png", "a.svg", "page.html", "a.png.html", "png"],
)
def test_nothing_else_is(tmp_path: Path, name: str) -> None:
    assert find_picture(tmp_path, name) is None
    assert link_picture(tmp_path, name, tmp_path / "p.html") == ""


def test_a_picture_may_stand_in_the_page() -> None:
    assert embed_picture(b"\xff\xd8", "image/jpeg") == "data:image/jpeg;base64,/9g="


FOLDER = Path(omibench.web.__file__).parent / "vendored"


def read_hashes(root: Path) -> dict[str, str]:
    """The hashes of THIRD_PARTY.md by the name of the file."""
    text = (root / "THIRD_PARTY.md").read_text("utf-8")
    return dict(re.findall(r"(?m)^\| `([^`]+)` \| .+ \| `([0-9a-f]{64})` \|$", text))


def test_every_file_is_the_published_one(root: Path) -> None:
    files = {
        path.relative_to(FOLDER).as_posix(): hash_file(path)
        for path in FOLDER.rglob("*")
        if path.is_file()
    }
    assert files == read_hashes(root)


def test_the_wheel_names_them(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert "THIRD_PARTY.md" in project["license-files"]


def test_all_fonts_of_the_style_are_there() -> None:
    style = (FOLDER / "katex/katex.min.css").read_text("utf-8")
    fonts = set(re.findall(r"url\((fonts/[^)]+\.woff2)\)", style))
    assert fonts == {f"fonts/{path.name}" for path in (FOLDER / "katex/fonts").iterdir()}


def test_the_interpreter_becomes_a_classic_script() -> None:
    vega, interpreter = read_vega_scripts()
    assert "6.2.0" in vega
    assert interpreter.startswith("const omibenchInterpreter = (() => {")
    assert not [line for line in interpreter.splitlines() if line.startswith(("import", "export"))]
    assert "new Function" not in interpreter


def test_another_module_is_refused() -> None:
    with pytest.raises(ValueError, match="import or export"):
        make_classic("import { evil } from 'elsewhere';")
