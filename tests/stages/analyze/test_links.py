"""Where single responses are read: pages up to a number of responses, beyond it a command."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.stages.analyze.conftest import make_study
from tests.stages.analyze.pages import Page

from omibench.explore.query import parse_query
from omibench.params.setting import Cell
from omibench.params.stages.analyze import AnalyzeParams
from omibench.stages.analyze.pages import cell_address, remove_pages


@pytest.mark.parametrize(
    ("explorer", "responses", "writes"),
    [
        (5000, 5000, True), (5000, 5001, False), (0, 1, False), (1, 1, True), (1, 2, False),
        (True, 10**6, True), (False, 1, False),
    ],
)  # fmt: skip
def test_pages_are_written_up_to_a_number_of_responses(
    explorer: bool | int, responses: int, writes: bool
) -> None:
    assert AnalyzeParams(explorer=explorer).writes_pages(responses) is writes
    assert AnalyzeParams().explorer == 5000


def test_the_explorer_reads_the_address_of_a_cell() -> None:
    query = parse_query(parse_qsl(urlsplit(cell_address(Cell("a.b", "c-d"))).query))
    assert (query.models, query.settings) == (("a.b",), ("c-d",))


def test_pages_of_an_earlier_run_go_and_files_of_others_stay(tmp_path: Path) -> None:
    remove_pages(tmp_path / "none")
    for name in ("index.html", "pages/a.html", "cells/m@s.html", "images/0.png", "pages/notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", "utf-8")
    remove_pages(tmp_path)
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["notes.md"]
    (tmp_path / "pages/notes.md").unlink()
    remove_pages(tmp_path)
    assert not tmp_path.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_beyond_the_number_the_report_names_the_command_and_has_no_dead_link(
    tmp_path: Path,
) -> None:
    folders = make_study(tmp_path, per_subject=2, explorer=71)
    stale = folders.out / "explorer/pages/gone.html"
    stale.parent.mkdir(parents=True)
    stale.write_text("x", "utf-8")
    page = Page(folders.analyze().report)
    assert not stale.parent.parent.exists()
    assert not [link for link in page.links() if "explorer" in link]
    assert "omibench explore results" in page.text
    for cell in folders.study.cells:
        assert cell_address(cell) in page.text
    assert "72 responses" in page.text
    addresses = [link for link in page.links() if not link.startswith("#")]
    assert any(link.startswith("figures/") for link in addresses)
    for address in addresses:
        assert page.target(address)[0].is_file(), address


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_without_the_explorer_the_report_names_no_command(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2, explorer=False)
    assert "omibench explore" not in Page(folders.analyze().report).text
