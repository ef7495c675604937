"""The command `glyphtex`, the front `read_page`, and what a bad paper costs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf
import pytest
from tests.accessibility import list_violations

import glyphtex
from glyphtex.command import main, read_paper

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHOWN = Path(__file__).parent / "typeset/shown"
PAPER = SHOWN / "libreoffice-dejavu.pdf"


def read_rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert main(words) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_page_gives_formulas_with_places_from_top_to_bottom() -> None:
    with pymupdf.open(PAPER) as document:
        formulas = glyphtex.read_page(document[0])
        sheet = document[0].rect
    latex = [formula.latex for formula in formulas]
    assert "c=\\sqrt{a^{2}+b^{2}-2ab\\cos\\gamma}" in latex
    assert [f.box.y0 for f in formulas] == sorted(f.box.y0 for f in formulas)
    for formula in formulas:
        assert sheet.contains(pymupdf.Rect(formula.box))
        assert formula.doubts == ()


def test_a_turned_page_is_read_like_the_upright_one() -> None:
    with pymupdf.open(PAPER) as document:
        upright = [formula.latex for formula in glyphtex.read_page(document[4])]
    with pymupdf.open(PAPER) as document:
        page = document[4]
        page.set_rotation(90)
        page.remove_rotation()  # its text runs downwards now, also where it is drawn
        page.set_rotation(270)
        assert [formula.latex for formula in glyphtex.read_page(page)] == upright
    assert upright


def test_one_json_line_per_formula(capsys: pytest.CaptureFixture[str]) -> None:
    rows = read_rows(capsys, str(PAPER), "--pages", "5,3")
    assert rows[0]["page"] == 5
    assert {row["page"] for row in rows} == {3, 5}
    assert set(rows[0]) == {"paper", "page", "latex", "box", "boxes", "doubts"}
    with pymupdf.open(PAPER) as document:
        own = [(f.latex, list(f.box.round())) for f in glyphtex.read_page(document[4])]
    assert [(row["latex"], row["box"]) for row in rows if row["page"] == 5] == own


def test_the_page_to_look_at_escapes_everything_and_loads_nothing(tmp_path: Path) -> None:
    paper = tmp_path / "<b>.pdf"
    paper.write_bytes((SHOWN / "libreoffice-liberation-broken.pdf").read_bytes())
    page = tmp_path / "page.html"
    assert main([str(paper), "--pages", "1", "--html", str(page)]) == 0
    text = page.read_text("utf-8")
    assert "&lt;b&gt;.pdf, page 1" in text
    assert "<b>" not in text
    assert "77.81\\times10^{-9}+46.77\\times10^{-7}&lt;z" in text
    sources = re.findall(r"src='([^']*)'", text)
    assert len(sources) == text.count("<tr>") > 5
    assert all(source.startswith("data:image/png;base64,iVBOR") for source in sources)
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.slow
def test_the_page_keeps_the_rules_of_accessibility(
    browser: Browser, root: Path, tmp_path: Path
) -> None:
    page = browser.new_page()
    assert main([str(PAPER), "--pages", "1", "--html", str(tmp_path / "page.html")]) == 0
    page.goto((tmp_path / "page.html").as_uri())
    assert list_violations(page, root) == []
    page.close()


@pytest.mark.slow
def test_a_bad_paper_is_a_line_and_the_others_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = tmp_path / "locked.pdf"
    with pymupdf.open(PAPER) as document:
        document.save(locked, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    text = tmp_path / "text.pdf"
    text.write_text("no PDF")
    empty = tmp_path / "empty.pdf"
    with pymupdf.open() as document:
        document.new_page()
        document.save(empty)
    words = [str(p) for p in (tmp_path / "none.pdf", locked, text, empty, PAPER)]
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        f"glyphtex: {tmp_path}/none.pdf: there is no such file",
        f"glyphtex: {locked}: is protected by a password",
        f"glyphtex: {text}: is not a PDF that can be read",
        f"glyphtex: {empty}, page 1: has no text layer; a scanned page needs OCR first",
    ]
    assert len(said.out.splitlines()) > 50


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ("3-1", "argument --pages: '3-1' is no page or range, such as 5 or 1-3"),
        ("0", "argument --pages: '0' is no page or range"),
    ],
)
def test_wrong_pages_are_refused(
    pages: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main([str(PAPER), "--pages", pages])
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("pages", ["9", "1-9"])
def test_a_page_that_is_not_there_is_named(pages: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(PAPER), "--pages", pages]) == 1
    assert f"{PAPER}: has 5 pages, and no page 9" in capsys.readouterr().err


def test_a_page_that_takes_too_long_costs_itself() -> None:
    pages = list(read_paper(PAPER, [range(1, 3)], seconds=0.001))
    assert [page.number for page in pages] == [1, 2]
    assert {page.failure for page in pages} == {"was not read within 0.001 s"}


def test_the_grammar_is_imported_without_pymupdf_and_nothing_of_omibench() -> None:
    program = (
        "import sys, glyphtex.latex as latex; "
        "assert latex.normalise(r'\\frac 1 2') == latex.normalise(r'\\dfrac{1}{2}'); "
        "print({name.partition('.')[0] for name in sys.modules} & {'pymupdf', 'omibench'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
