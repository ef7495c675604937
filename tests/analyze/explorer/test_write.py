"""The explorer: every link leads somewhere, and no text of a paper or model becomes markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyze.conftest import HOSTILE, Folders, make_study
from analyze.pages import Page
from omibench.analyze.explorer.view import LONGEST, shortened
from omibench.analyze.explorer.write import write_explorer
from omibench.analyze.links import cell_anchor, cell_file, problem_file, relative
from omibench.analyze.load import load_results
from omibench.study import Cell


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    folders: Folders = make_study(tmp_path_factory.mktemp("explorer"), per_subject=4)
    results = load_results(*folders[:3], folders.study)
    explorer = folders.out / "explorer"
    (folders.out / "report.html").parent.mkdir(parents=True)
    (folders.out / "report.html").write_text("<p id=x></p>", "utf-8")
    write_explorer(explorer, results, folders.out / "report.html")
    return {p.relative_to(explorer).as_posix(): Page(p) for p in explorer.rglob("*.html")}


def test_one_page_a_problem_and_a_cell(pages: dict[str, Page]) -> None:
    assert len(pages) == 1 + 16 + 9


def test_planted_markup_stays_text(pages: dict[str, Page]) -> None:
    for page in pages.values():
        page.assert_harmless()
    planted = pages["pages/biology_02.html"]
    assert HOSTILE in planted.text
    assert planted.text.count('<script>alert("pwned")</script>') >= 2  # statement and responses
    assert "{{7*7}}" in planted.text


def test_every_link_and_picture_leads_somewhere(pages: dict[str, Page]) -> None:
    ids = {page.path.resolve(): page.ids for page in pages.values()}
    for page in pages.values():
        for link in page.links() + page.links("src"):
            file, fragment = page.target(link)
            assert file.is_file(), (page.path, link)
            if fragment:
                assert fragment in ids[file], (page.path, link)


def test_a_problem_shows_all_that_is_known_of_it(pages: dict[str, Page]) -> None:
    page = pages["pages/chemistry_03.html"]
    for words in ("Reference rationale", "✓ gold", "SIMULATED", "Ag₂CrO₄", "robust, version 1"):
        assert words in page.text
    assert len([a for _, a in page.elements if a.get("class") == "response"]) == 9


def test_a_failure_is_named_and_not_called_wrong(pages: dict[str, Page]) -> None:
    words = " ".join(p.text for name, p in pages.items() if name.startswith("cells/"))
    assert any(kind in words for kind in ("truncated", "refused", "unparsed", "budget stop"))


def test_long_responses_keep_their_two_ends() -> None:
    text = "a" * LONGEST + "the end"
    assert len(shortened(text)) < LONGEST + 100
    assert shortened(text).endswith("the end")
    assert "7 characters left out" in shortened(text)
    assert shortened("short") == "short"


@pytest.mark.parametrize("problem", ["../../etc", "a b/c?d#e", "<script>", "..", "é", "x" * 300])
def test_page_names_are_safe_file_names(problem: str) -> None:
    name = problem_file(problem)
    assert "/" not in name
    assert not name.startswith("..")
    assert name.isascii()
    assert len(name) < 120
    assert name != problem_file(problem + " ")


def test_no_two_cells_or_samples_share_a_page_or_an_anchor() -> None:
    cells = [Cell("a.b", "c"), Cell("a", "b.c"), Cell("a", "b")]
    assert len({cell_file(cell) for cell in cells}) == 3
    anchors = {cell_anchor(cell, sample) for cell in cells for sample in (0, 1, 2)}
    assert len(anchors) == 9
    assert cell_file(Cell("m", "cot")) == "m@cot.html"
    assert cell_anchor(Cell("m", "cot"), 2) == "m@cot@2"


def test_links_never_have_a_scheme(tmp_path: Path) -> None:
    page = tmp_path / "explorer" / "x.html"
    assert relative(tmp_path / "javascript:alert(1)", page) == "../javascript%3Aalert%281%29"
    assert relative(page.parent / "a:b.png", page) == "./a%3Ab.png"
