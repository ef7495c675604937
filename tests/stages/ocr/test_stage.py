"""Limits of time and memory, the manifest, and what a run leaves behind."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pymupdf
import pytest
import yaml

from omibench.errors import MissingInputError, OutputError
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers


def drawn(folder: Path, name: str, text: str = "1. Which of the curves below is a circle?") -> Path:
    """A paper of one problem with one figure between two others."""
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 100), text)
    page.draw_circle((200, 200), 60)
    page.insert_text((160, 290), "Figure 1: A round thing.", fontsize=9)
    page.insert_text((72, 400), "2. And what is a square? Take your time over the answer.")
    pdf.save(folder / name)
    return folder / name


@pytest.mark.slow
def test_a_paper_that_takes_too_long_is_given_up(bad_papers: Path, tmp_path: Path) -> None:
    report = read_papers([bad_papers / "whole.pdf"], tmp_path, OcrParams(timeout_s=0.01))
    assert (report.files[0].status, report.files[0].codes) == ("error", ["paper_timeout"])
    assert (tmp_path / "problems.jsonl").read_text() == ""


@pytest.mark.slow
def test_a_paper_that_takes_too_much_memory_is_given_up_and_the_others_are_done(
    bad_papers: Path, tmp_path: Path
) -> None:
    files = [bad_papers / "text_bomb.pdf", bad_papers / "whole.pdf"]
    report = read_papers(files, tmp_path, OcrParams(memory_mb=300))
    assert [file.codes for file in report.files] == [["paper_out_of_memory"], []]


def test_figures_lie_beside_the_problems_with_their_hash_page_and_box(tmp_path: Path) -> None:
    out = tmp_path / "out"
    read_papers([drawn(tmp_path, "Órbitas e cônicas.pdf")], out, OcrParams(dpi=144))
    first, second = read_jsonl(out / "problems.jsonl", Problem)
    assert first.question.endswith("[IMAGE0]\nFigure 1: A round thing.")
    assert second.images == []
    (figure,) = first.images
    data = (out / figure.file).read_bytes()
    assert figure.sha256 == hashlib.sha256(data).hexdigest()
    assert figure.page == 1
    assert figure.caption == "Figure 1: A round thing."
    assert figure.bbox is not None
    x0, y0, x1, y1 = figure.bbox
    assert max(x0, y0) <= 140
    assert min(x1, y1) >= 260
    pixels = pymupdf.Pixmap(data)
    assert pixels.width == pytest.approx((x1 - x0) * 2, abs=2)


@pytest.mark.slow
def test_an_edit_by_hand_is_not_overwritten(tmp_path: Path) -> None:
    paper, out, params = drawn(tmp_path, "a.pdf"), tmp_path / "out", OcrParams()
    read_papers([paper], out, params)
    read_papers([paper], out, params)  # its own are
    problems = out / "problems.jsonl"
    edited = problems.read_text().replace("square", "rectangle")
    problems.write_text(edited)
    with pytest.raises(OutputError, match=r"problems\.jsonl was edited .*corrections\.yaml"):
        read_papers([paper], out, params)
    assert problems.read_text() == edited
    problems.rename(tmp_path / "mine.jsonl")
    read_papers([paper], out, params)
    assert "square" in problems.read_text()


@pytest.mark.slow
def test_two_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    files = [
        drawn(tmp_path / "a", "exam.pdf"),
        drawn(tmp_path / "b", "exam.pdf", "1. Another one?"),
    ]
    out = tmp_path / "out"
    report = read_papers(files, out, OcrParams(dpi=72))
    assert [file.source for file in report.files] == ["exam.pdf", "exam.pdf-2"]
    problems = read_jsonl(out / "problems.jsonl", Problem)
    assert len({p.id for p in problems}) == 4
    assert all((out / figure.file).is_file() for p in problems for figure in p.images)


@pytest.mark.slow
def test_a_second_run_replaces_the_figures_of_the_first(bad_papers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    read_papers([drawn(tmp_path, "exam.pdf")], out, OcrParams(dpi=72))
    old = {file.name for file in (out / "images/exam.pdf").iterdir()}
    shutil.copy(bad_papers / "whole.pdf", tmp_path / "exam.pdf")
    read_papers([tmp_path / "exam.pdf"], out, OcrParams(dpi=72))
    assert old
    assert not (out / "images/exam.pdf").exists()
    assert not list(out.glob(".ocr-*"))


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    paper = drawn(tmp_path, "paper.pdf")
    key = pymupdf.open()
    key.new_page().insert_text((72, 100), "1. B   2. C")
    key.save(tmp_path / "key.pdf")
    digest = hashlib.sha256(paper.read_bytes()).hexdigest()
    source = {
        "name": "shapes-2026",
        "paper": "paper.pdf",
        "key": "key.pdf",
        "competition": "Shapes",
        "year": 2026,
        "subject": "mathematics",
        "sha256": {"paper.pdf": digest},
    }
    path = tmp_path / "sources.yaml"
    path.write_text(yaml.safe_dump({"sources": [source]}))
    return path


def test_the_manifest_names_what_is_read(manifest: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = read_papers([], out, OcrParams(sources=str(manifest), dpi=72))
    assert [(file.source, file.status) for file in report.files] == [("shapes-2026", "ok")]
    first, second = read_jsonl(out / "problems.jsonl", Problem)
    assert (first.id, first.answer, second.answer) == ("shapes-2026-1", ["B"], ["C"])
    assert (first.competition, first.year, first.subject) == ("Shapes", 2026, "mathematics")


def test_a_file_that_the_manifest_names_keeps_its_name(manifest: Path, tmp_path: Path) -> None:
    files = [manifest.parent / "paper.pdf", drawn(tmp_path, "loose.pdf")]
    report = read_papers(files, tmp_path / "out", OcrParams(dpi=72), manifest=manifest)
    assert [file.source for file in report.files] == ["shapes-2026", "loose.pdf"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda folder: drawn(folder, "paper.pdf", "1. Something else?"), "sha256_mismatch"),
        (lambda folder: (folder / "key.pdf").unlink(), "file_missing"),
        (lambda folder: (folder / "key.pdf").write_bytes(b"no PDF"), "not_a_pdf"),
    ],
)
def test_a_paper_whose_files_are_not_in_order_is_not_read(
    manifest: Path, tmp_path: Path, damage: object, code: str
) -> None:
    damage(manifest.parent)  # type: ignore[operator]
    out = tmp_path / "out"
    report = read_papers([], out, OcrParams(), manifest=manifest)
    assert report.files[0].codes == [code]
    assert json.loads((out / "report.json").read_text())["files"][0]["status"] == "error"


def test_a_key_without_text_is_told(manifest: Path, tmp_path: Path) -> None:
    blank = pymupdf.open()
    blank.new_page()
    blank.save(manifest.parent / "key.pdf")
    params = OcrParams(dpi=72, engine="textlayer")
    report = read_papers([], tmp_path / "out", params, manifest=manifest)
    assert report.files[0].codes == ["page_needs_ocr", "key_unread"]
    problems = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert [p.answer for p in problems] == [None, None]


def test_nothing_to_read_and_a_missing_password_are_told(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="nothing to read"):
        read_papers([], tmp_path, OcrParams())
    with pytest.raises(MissingInputError, match="'NO_SUCH_VARIABLE' is not set"):
        read_papers([tmp_path / "x.pdf"], tmp_path, OcrParams(), password_env="NO_SUCH_VARIABLE")
