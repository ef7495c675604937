"""Formulas of a scan put to a reader, from the command to the problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from tests.mathpix_server import ID, KEY, Mathpix, running
from typer.testing import CliRunner, Result

from model_server.handle import KEY_ENV, ServerHandle
from omibench.cli.main import app
from omibench.schemas.pages import PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.engines.mathpix import ID_ENV, URL_ENV
from omibench.stages.ocr.engines.mathpix import KEY_ENV as MATHPIX_KEY_ENV
from omibench.stages.ocr.formulas.rereading.asking import LINE_TEXT

pytest.importorskip("rapidocr")
FLAT = "1. A ball with the area 25 cm2 falls. How long does it fall?"
RIGHT = r"1. A ball with the area 25 cm$^2$ falls. How long does it fall?"
WRONG = RIGHT.replace("25", "26")
OTHER = "2. How far does a train go in half an hour at full speed?"


def scan(folder: Path) -> Path:
    """A page of two problems that is a picture."""
    paper = pymupdf.open()
    page = paper.new_page(width=420, height=200)
    page.insert_text((30, 60), FLAT, fontsize=12)
    page.insert_text((30, 120), OTHER, fontsize=12)
    pixels = page.get_pixmap(dpi=150)
    pdf = pymupdf.open()
    pdf.new_page(width=420, height=200).insert_image(page.rect, pixmap=pixels)
    pdf.save(folder / "scan.pdf")
    return folder / "scan.pdf"


def run(folder: Path, models: dict[str, Any], **ocr: Any) -> Result:
    params = {"study": {"store": str(folder / "store")}, "ocr": ocr, "models": models}
    verb = ["ocr", str(scan(folder)), "--out", str(folder / "out"), "--params", json.dumps(params)]
    return CliRunner().invoke(app, verb)


def ask_model(server: ServerHandle, folder: Path, **ocr: Any) -> Problem:
    """The first problem, its formulas read by a model that is served."""
    model = {"provider": "openai", "id": "m", "base_url": server.openai_url, "key_env": KEY_ENV}
    done = run(folder, {"m": model}, formula_reader="m", **ocr)
    assert done.exit_code == 0, done.output
    return read_first(folder)


def read_first(folder: Path) -> Problem:
    first, second = read_jsonl(folder / "out/problems.jsonl", Problem)
    assert second.question == OTHER[3:]
    return first


def test_a_line_with_a_formula_is_asked_for_once(server: ServerHandle, tmp_path: Path) -> None:
    server.configure(replies={LINE_TEXT[:40]: RIGHT})
    first = ask_model(server, tmp_path)
    assert first.question == RIGHT[3:]
    assert first.warnings == []
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert page.engine == "rapidocr"
    assert RIGHT in page.text
    assert ask_model(server, tmp_path).question == RIGHT[3:]
    assert server.stats()["requests"] == 1


def test_another_number_is_named_with_its_page_and_box(
    server: ServerHandle, tmp_path: Path
) -> None:
    server.configure(replies={"OCR:": WRONG})
    first = ask_model(server, tmp_path, formula_preset="paddleocr-vl")
    (warning,) = first.warnings
    assert warning.code == "formula_differs"
    assert warning.detail.startswith("page 1, box (")
    assert "5 and 6" in warning.detail


def test_mathpix_reads_lines_of_formulas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contour = [[0, 0], [900, 0], [900, 40], [0, 40]]
    text = {"image_width": 900, "image_height": 40, "line_data": [{"cnt": contour, "text": RIGHT}]}
    with running(Mathpix(text=text)) as mathpix:
        monkeypatch.setenv(ID_ENV, ID)
        monkeypatch.setenv(MATHPIX_KEY_ENV, KEY)
        monkeypatch.setenv(URL_ENV, mathpix.url)
        assert run(tmp_path, {}, formula_reader="mathpix").exit_code == 0
        assert read_first(tmp_path).question == RIGHT[3:]
        assert mathpix.seen["/v3/text"] == 1


def test_a_reader_that_is_no_model_of_the_study_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, {}, formula_reader="nobody")
    assert "ocr.formula_reader" in str(done.exception)
