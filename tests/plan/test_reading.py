"""What readers of pages and formulas are asked: counted on the papers before and after `ocr`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from tests.plan.test_whole import bought, counted
from typer.testing import CliRunner

from command_line import app
from model_server.handle import KEY_ENV, ServerHandle
from omibench.files.reading import hash_file
from omibench.params.study import Study, parse_study
from omibench.schemas.pages import PageLine, PageText
from omibench.schemas.tables import write_jsonl, write_text
from omibench.stages.ocr.engines.mathpix import locate_pdf_answer
from omibench.study.plan.before_freeze import BLOCKS
from omibench.study.plan.build import plan_study
from omibench.study.plan.plan import Plan, ReadingCounts
from omibench.study.plan.text import render

PRICE = {"input": 2.5, "output": 10.0, "as_of": "2026-11-01"}


def make_paper(path: Path, scan: Path | None = None) -> None:
    """A problem with a formula whose bracket is open, and one of words alone; then a scan."""
    pdf = pymupdf.open()
    page = pdf.new_page(width=420, height=200)
    page.insert_text((30, 60), "1. A ball falls for the time given by", fontsize=12)
    page.insert_text((240, 60), "t = (2s + ", fontname="tiit", fontsize=12)
    page.insert_text((310, 60), ". Which is it?", fontsize=12)
    page.insert_text((30, 120), "2. How far does a train go in half an hour?", fontsize=12)
    if scan:
        pdf.insert_file(scan)
    pdf.save(path)


def make_scan(path: Path, pages: int) -> None:
    """Pages that are pictures, no two parts of which are equal."""
    pdf = pymupdf.open()
    for number in range(pages):
        samples = bytes((place * place + number) % 251 for place in range(60 * 80 * 3))
        pixels = pymupdf.Pixmap(pymupdf.csRGB, 60, 80, samples, False)
        pdf.new_page(width=200, height=300).insert_image((0, 0, 200, 300), pixmap=pixels)
    pdf.save(path)


def make_study(folder: Path, papers: list[dict[str, Any]], url: str = "", **ocr: Any) -> Study:
    manifest = folder / "sources.yaml"
    manifest.write_text(json.dumps({"sources": papers}), "utf-8")
    model = {
        "provider": "openai", "id": "gpt-4o", "base_url": url or "http://127.0.0.1:9/v1",
        "key_env": KEY_ENV, "price": PRICE, "image_tokens": "openai-tiles",
    }  # fmt: skip
    return parse_study(
        {
            "study": {"store": str(folder / "store"), "results": str(folder / "results")},
            "ocr": {"sources": str(manifest), "page_pictures": False, **ocr},
            "models": {"m": model},
        },
        "test",
    )


def plan_it(study: Study) -> Plan:
    return plan_study(study, Path(study.study.results) / "freeze/questions.jsonl")


def read_them(study: Study) -> None:
    params = json.dumps(study.model_dump(mode="json", exclude_defaults=True))
    done = CliRunner().invoke(
        app, ["ocr", "--out", str(Path(study.study.results) / "ocr"), "--params", params]
    )
    assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_pages_and_formulas_are_counted_as_they_are_asked_for(
    server: ServerHandle, tmp_path: Path
) -> None:
    make_scan(tmp_path / "scan.pdf", pages=2)
    make_paper(tmp_path / "paper.pdf", tmp_path / "scan.pdf")
    papers = [{"name": "paper", "paper": "paper.pdf"}]
    study = make_study(
        tmp_path, papers, server.openai_url, engine="vision", reader="m", formula_reader="m"
    )
    before = plan_it(study)
    expected = counted(before)
    assert expected["page_reader"] == 2 * 2
    assert expected["formula_reader"] >= 1
    assert before.frozen is False
    assert before.building == {}
    row = before.rows[0]
    assert (row.stage, row.money, row.estimated, row.estimate.unmeasured) == ("ocr", "priced", 0, 0)
    assert row.estimate.usd
    assert "ocr: m  page reader" in render(before)
    assert server.stats()["requests"] == 0
    assert not (tmp_path / "results").exists()

    server.configure(replies={"": "1. What is the speed of the ball that falls?"})
    read_them(study)
    assert bought(study) == expected
    after = plan_it(study)
    assert counted(after) == {}
    assert counted(after, "stored") == expected


@pytest.mark.slow
def test_blocks_are_estimated_until_the_layout_of_a_page_is_stored(tmp_path: Path) -> None:
    make_scan(tmp_path / "scan.pdf", pages=1)
    papers = [{"name": "scan", "paper": "scan.pdf"}]
    study = make_study(tmp_path, papers, engine="vision", reader="m", preset="mineru")
    (row,) = plan_it(study).rows
    assert (row.to_buy, row.estimated) == (1 + BLOCKS, BLOCKS)
    olmocr = study.ocr.model_copy(update={"preset": "olmocr"})
    (row,) = plan_it(study.model_copy(update={"ocr": olmocr})).rows
    assert row.to_buy == 1
    assert row.estimate.output_most == 2 * 8000


@pytest.mark.slow
def test_lines_of_scans_are_known_once_a_local_engine_has_read_them(tmp_path: Path) -> None:
    make_scan(tmp_path / "scan.pdf", pages=1)
    papers = [{"name": "scan", "paper": "scan.pdf"}]
    study = make_study(tmp_path, papers, engine="tesseract", formula_reader="m")
    lines = [
        PageLine(text="x2", bbox=(0, 0, 1, 1), engine="tesseract", math_suspect=True),
        PageLine(text="words", bbox=(0, 0, 1, 1), engine="tesseract"),
    ]
    rows = [PageText(source="scan", page=1, text="", engine="tesseract", lines=lines)]
    write_jsonl(tmp_path / "results/ocr/pages.jsonl", rows)
    plan = plan_it(study)
    assert plan.rows == []
    assert plan.reading == ReadingCounts(scanned_pages=1, scanned_lines=1)
    text = " ".join(render(plan).split())
    assert "doubtful lines of 1 scanned page, which" in text
    assert "at most 1 as last read" in text


@pytest.mark.slow
def test_papers_for_mathpix_are_counted_without_dollars(tmp_path: Path) -> None:
    make_scan(tmp_path / "scan.pdf", pages=2)
    make_scan(tmp_path / "known.pdf", pages=1)
    papers = [{"name": name, "paper": f"{name}.pdf"} for name in ("scan", "known")]
    absent = {"name": "absent", "paper": "absent.pdf", "sha256": {"absent.pdf": "0" * 64},
              "url": {"absent.pdf": "https://example.org/absent.pdf"}}  # fmt: skip
    study = make_study(tmp_path, [*papers, absent], engine="mathpix")
    kept = locate_pdf_answer(tmp_path / "store/mathpix", hash_file(tmp_path / "known.pdf"))
    write_text(kept, "{}")
    plan = plan_it(study)
    text = " ".join(render(plan).split())
    assert "Mathpix is sent 2 pages and 0 formulas" in text
    assert "absent (not downloaded yet)" in text
    assert list(plan.reading.unopened) == ["absent"]


@pytest.mark.slow
def test_formulas_for_mathpix_are_counted_too(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    papers = [{"name": "paper", "paper": "paper.pdf"}]
    plan = plan_it(make_study(tmp_path, papers, formula_reader="mathpix"))
    assert plan.reading.mathpix_formulas >= 1


@pytest.mark.slow
def test_the_command_plans_papers_before_they_are_read(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    study = make_study(tmp_path, [{"name": "p", "paper": "paper.pdf"}], formula_reader="m")
    params = json.dumps(study.model_dump(mode="json", exclude_defaults=True))
    done = CliRunner().invoke(app, ["plan", "--params", params])
    assert done.exit_code == 0, done.output
    assert "ocr: m  formula reader" in done.output
    assert "The dataset is not frozen yet" in done.output
