"""A leaderboard folder: the report's numbers, and nothing that leads to responses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import jsonschema
import pytest
from tests.stages.analyze.conftest import Folders, make_study
from tests.stages.analyze.pages import Page
from typer.testing import CliRunner

from omibench.cli.results import results_app
from omibench.errors import ArgumentError, MissingInputError, OutputError
from omibench.papers.export.publish import publish_study, remove_responses


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folders: Folders = make_study(tmp_path_factory.mktemp("published"), per_subject=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omibench.stages.analyze.stage.write_pages", _write_no_figures)
        folders.analyze()
    return folders.freeze.parent


def _write_no_figures(out: Path, *_: object) -> None:
    """A page with every kind of link of a report."""
    page = (
        '<table><td><a href="explorer/cells/m@cot.html#x">61.0</a></td></table>'
        '<p class="small responses"><a href="explorer/index.html">All problems</a>: pages.</p>'
        '<a href="tables/accuracy.csv">accuracy</a>'
    )
    (out / "report.html").write_text(page, "utf-8")
    (out / "explorer").mkdir()
    (out / "explorer/index.html").write_text("golds", "utf-8")


def test_the_folder_has_the_numbers_and_no_dead_link(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "public"
    done = CliRunner().invoke(results_app, ["publish", str(results), "--out", str(out)])
    assert done.exit_code == 0, done.output
    board = json.loads((out / "board.json").read_text("utf-8"))
    schema = json.loads((out / "board.schema.json").read_text("utf-8"))
    jsonschema.validate(board, schema)
    with (results / "analyze/main.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = [(r["model"], r["rules"], r["subject"], float(r["acc"])) for r in rows]
    assert numbers == [(r["model"], r["rules"], r["subject"], r["estimate"]) for r in board["rows"]]
    ranks = [row["rank"] for row in board["rows"] if row["rank"] is not None]
    assert min(ranks) == 1
    assert all(row["simulated"] for row in board["rows"])
    page = Page(out / "index.html")
    assert page.links() == ["tables/accuracy.csv"]
    assert (out / page.links()[0]).is_file()
    assert "61.0" in page.text
    assert "All problems" not in page.text
    assert not (out / "explorer").exists()


def test_again_it_is_brought_up_to_date(results: Path, tmp_path: Path) -> None:
    publish_study(results, tmp_path)
    stale, note = tmp_path / "tables/gone.csv", tmp_path / "CNAME"
    for path in (stale, note):
        path.write_text("x", "utf-8")
    publish_study(results, tmp_path)
    assert not stale.exists()
    assert note.exists()


@pytest.mark.parametrize("name", ["index.html", "main.csv", "tables/mine.csv"])
def test_what_somebody_else_has_written_is_not_touched(
    name: str, results: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "public" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(OutputError, match=r"exists, but board.json does not; give an empty folder"):
        publish_study(results, tmp_path / "public")
    assert mine.read_text() == "mine"
    assert [p for p in (tmp_path / "public").rglob("*") if p.is_file()] == [mine]


def test_no_results_and_a_folder_inside_them_are_one_line(results: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="contains no tables of results"):
        publish_study(tmp_path, tmp_path / "public")
    inside = ["publish", str(results), "--out", str(results / "public")]
    done = CliRunner().invoke(results_app, inside)
    assert isinstance(done.exception, ArgumentError) or "is inside the results" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("explorer", [True, 0])
def test_a_real_report_leads_to_no_response(tmp_path: Path, explorer: bool | int) -> None:
    folders = make_study(tmp_path, per_subject=2, explorer=explorer)
    text = folders.analyze().report.read_text("utf-8")
    assert "explore" in text
    page = remove_responses(text)
    assert 'href="explorer/' not in page
    assert "omibench explore" not in page
    assert text.count("<td") - page.count("<td") in (0, 3 * len(folders.study.cells))
