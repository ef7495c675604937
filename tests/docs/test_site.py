"""The documentation site builds, has no dead link, asks no other host, and describes all parts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from tests.accessibility import list_violations

import omibench
from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.results.result import RESULTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

_FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed)\b[^>]*?\b(?:src|href|data)=[\"']?([^\"'\s>]+)"
)
_LINK = re.compile(r"<a\b[^>]*?\bhref=[\"']?([^\"'\s>]+)")
_ANCHOR = re.compile(r"\b(?:id|name)=[\"']?([^\"'\s>]+)")


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=root, capture_output=True, text=True, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in site.rglob("*.html")}


def test_no_page_asks_another_host(site: Path, pages: dict[Path, str]) -> None:
    elsewhere = {
        (page.relative_to(site).as_posix(), address)
        for page, text in pages.items()
        for address in _FETCHED.findall(text)
        if urlsplit(address).netloc
    }
    # The 404 page of a host without a known address names its own files from the root.
    assert elsewhere == set()
    styles = [
        path for path in site.rglob("*.css") if re.search(r"url\(.?https?:", path.read_text())
    ]
    assert styles == []


def test_no_link_is_dead(site: Path, pages: dict[Path, str]) -> None:
    anchors = {page: set(_ANCHOR.findall(text)) for page, text in pages.items()}
    dead = []
    for page, text in pages.items():
        if page.name == "404.html":
            continue
        for address in {*_LINK.findall(text), *_FETCHED.findall(text)}:
            parts = urlsplit(address.replace("&amp;", "&"))
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            fragment = unquote(parts.fragment)
            if not target.is_file() or (
                fragment and target in anchors and fragment not in anchors[target]
            ):
                dead.append(f"{page.relative_to(site)}: {address}")
    assert dead == []


def test_every_command_parameter_and_public_name_is_described(root: Path, site: Path) -> None:
    schema = json.loads((root / "schemas/params.schema.json").read_text("utf-8"))
    text = (site / "reference/params.html").read_text("utf-8")
    missing = [
        f"{part}.{key}"
        for part, values in schema["$defs"].items()
        for key in values.get("properties", {})
        if f"<code>{key}</code>" not in text
    ]
    assert missing == []
    commands = (site / "reference/cli.html").read_text("utf-8")
    assert all(f"omibench {verb}" in commands for verb in ("init", "explore", "results export"))
    described = (site / "reference/api.html").read_text("utf-8")
    names = [name for name in omibench.__all__ if not name.startswith("__")]
    assert [name for name in names if f"{name}" not in described] == []


def test_every_result_and_figure_is_described(site: Path) -> None:
    text = (site / "reference/results.html").read_text("utf-8")
    assert [name for name in RESULTS.built_in_names if f'id="{name}"' not in text] == []
    assert [name for name in FIGURES.built_in_names if f"<code>{name}</code>" not in text] == []


def test_search_works_from_disk(site: Path) -> None:
    index = (site / "search/search_index.js").read_text("utf-8")
    assert index.startswith("var __index = ")
    assert "min_images" in index
    assert 'src="assets/iframe-worker/shim.js"' in (site / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    "name", ["index", "scoring", "gallery", "papers", "reference/cli", "reference/params"]
)
def test_pages_keep_the_rules_of_accessibility(
    site: Path, root: Path, browser: Browser, name: str
) -> None:
    page = browser.new_page()
    page.goto((site / f"{name}.html").as_uri())
    assert list_violations(page, root) == []
    page.close()


def test_the_site_has_the_colours_of_all_pages(site: Path, root: Path) -> None:
    theme = (root / "src/omibench/web/static/theme.css").read_text("utf-8")
    assert (site / "assets/theme.css").read_text("utf-8") == theme
    used = set(re.findall(r"var\((--[a-z-]+)\)", (site / "assets/site.css").read_text("utf-8")))
    assert len(used) > 10
    assert all(f"{name}:" in theme for name in used)
