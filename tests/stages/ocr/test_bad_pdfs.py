"""Awkward files: each gets its code, in little time and memory, and the others are done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest
from tests.stages.ocr.conftest import assembled

from omibench.errors import PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import FileReport, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.sources.files import check_bytes, has_huge_image, open_pdf
from omibench.stages.ocr.structure.document import MAX_LINES

MADE = {
    "user_password.pdf": ("error", "pdf_encrypted"),
    "owner_password.pdf": ("warning", "pdf_permissions"),
    "truncated.pdf": ("error", "pdf_damaged"),
    "no_pages.pdf": ("error", "pdf_no_pages"),
    "long.pdf": ("error", "pdf_too_many_pages"),
    "bomb.pdf": ("warning", "image_too_large"),
    "turned_scan.pdf": ("warning", "page_needs_ocr"),
    "picture.pdf": ("error", "not_a_pdf"),
    "paper.png": ("error", "not_a_pdf"),
    "notes.txt": ("error", "not_a_pdf"),
    "photograph.png": ("warning", "page_needs_ocr"),
    "photograph.jpg": ("warning", "page_needs_ocr"),
    "nowhere.pdf": ("error", "file_missing"),
}
SHARED = {
    "encrypted_user_pw.pdf": ("error", "pdf_encrypted"),
    "encrypted_owner_only.pdf": ("warning", "pdf_permissions"),
    "truncated.pdf": ("error", "pdf_damaged"),
    "zero_pages.pdf": ("error", "pdf_no_pages"),
    "thousand_pages.pdf": ("error", "pdf_too_many_pages"),
    "image_bomb_20000x20000.pdf": ("warning", "image_too_large"),
    "rotated_no_text.pdf": ("warning", "page_needs_ocr"),
    "really_a_png.pdf": ("error", "not_a_pdf"),
}

# A process of its own, since RUSAGE_CHILDREN holds the largest of all children that a process had.
MEASURED = """
import resource, sys
from pathlib import Path
from omibench.stages.ocr import read_papers
from omibench.params.stages.ocr import OcrParams
paper, out = map(Path, sys.argv[1:])
read_papers([paper], out, OcrParams())
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(peak * (1 if sys.platform == "darwin" else 1024))
"""


def by_source(files: list[FileReport]) -> dict[str, FileReport]:
    return {file.source: file for file in files}


@pytest.mark.slow
def test_each_made_file_gets_its_code_and_the_whole_one_is_done(
    bad_papers: Path, tmp_path: Path
) -> None:
    files = [bad_papers / name for name in (*MADE, "whole.pdf")]
    report = read_papers(files, tmp_path, OcrParams(engine="textlayer"))
    assert [file.source for file in report.files] == [file.name for file in files]
    found = by_source(report.files)
    for name, (status, code) in MADE.items():
        assert (found[name].status, found[name].codes) == (status, [code]), name
    assert found["whole.pdf"].status == "ok"
    problems = read_jsonl(tmp_path / "problems.jsonl", Problem)
    whole = [p for p in problems if p.source == "whole.pdf"]
    assert [(p.number, p.pages) for p in whole] == [("1", [1]), ("2", [1]), ("3", [2]), ("4", [2])]
    assert whole[2].question == "How many legs has a spider of kind 3?"
    assert {p.source for p in problems} == {"whole.pdf", "owner_password.pdf"}


@pytest.mark.parametrize(
    "pages", [b"/Kids[2 0 R]/Count 5", b"/Kids[%s]/Count 200000" % (b"3 0 R " * 200_000)]
)
def test_pages_that_cannot_be_counted_are_damage(tmp_path: Path, pages: bytes) -> None:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]>>"
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages%s>>" % pages, page]
    (tmp_path / "loop.pdf").write_bytes(assembled(objects))
    with pytest.raises(PaperError, match=r"loop\.pdf: its pages cannot be counted") as error:
        open_pdf(tmp_path / "loop.pdf", 300, None)
    assert error.value.code == "pdf_damaged"


@pytest.mark.parametrize(("images", "is_huge"), [(5, False), (6, True)])
def test_many_large_images_are_as_one_huge_image(images: int, is_huge: bool) -> None:
    names = b"".join(b"/I%d %d 0 R" % (k, k + 4) for k in range(images))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</XObject<<%s>>>>>>" % names
    head = b"<</Type/XObject/Subtype/Image/Width 9999/Height 9999/BitsPerComponent 1"
    image = head + b"/ColorSpace/DeviceGray/Length 0>>stream\n\nendstream"
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    with pymupdf.open("pdf", assembled([*tree, page, *[image] * images])) as pdf:
        assert has_huge_image(pdf[0]) is is_huge


def test_a_folder_with_the_name_of_a_paper_is_called_one(tmp_path: Path) -> None:
    folder = tmp_path / "d.pdf"
    folder.mkdir()
    with pytest.raises(PaperError, match=r"d\.pdf: cannot be read: it is a folder") as error:
        check_bytes(folder)
    assert error.value.code == "file_missing"


@pytest.mark.slow
def test_each_shared_bad_file_gets_the_code_of_its_readme(
    shared_data: Path, tmp_path: Path
) -> None:
    files = [shared_data / "bad_pdfs" / name for name in SHARED]
    report = read_papers(files, tmp_path, OcrParams(engine="textlayer"))
    found = by_source(report.files)
    for name, (status, code) in SHARED.items():
        assert (found[name].status, found[name].codes) == (status, [code]), name
        assert found[name].seconds < 10, name


@pytest.mark.slow
def test_a_page_with_a_huge_image_is_kept_and_never_decoded(
    bad_papers: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, bad_papers / "bomb.pdf", tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )
    pages = read_jsonl(tmp_path / "pages.jsonl", PageText)
    assert [(page.page, page.engine) for page in pages] == [(1, "none")]
    # 20000 x 20000 grey pixels are 400 MB.
    assert 0 < int(done.stdout) < 400 * 2**20


def test_the_password_opens_the_paper_and_is_written_nowhere(
    bad_papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_PASSWORD", "open sesame")
    report = read_papers(
        [bad_papers / "user_password.pdf"], tmp_path, OcrParams(), password_env="PAPER_PASSWORD"
    )
    assert report.files[0].status == "ok"
    assert len(read_jsonl(tmp_path / "problems.jsonl", Problem)) == 2
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or b"open sesame" not in file.read_bytes()


def test_a_wrong_password_is_the_same_error(
    bad_papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_PASSWORD", "wrong")
    report = read_papers(
        [bad_papers / "user_password.pdf"], tmp_path, OcrParams(), password_env="PAPER_PASSWORD"
    )
    assert report.files[0].codes == ["pdf_encrypted"]


def test_the_allowed_number_of_pages_is_a_parameter(bad_papers: Path, tmp_path: Path) -> None:
    report = read_papers([bad_papers / "whole.pdf"], tmp_path, OcrParams(max_pages=1))
    assert report.files[0].codes == ["pdf_too_many_pages"]


@pytest.mark.slow
def test_a_page_of_thousands_of_lines_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    paper = pymupdf.open()
    first = paper.new_page()
    first.insert_text((60, 80), "1. What does the graph show?", fontsize=12)
    first.insert_text((60, 130), "2. Which of the two is longer?", fontsize=12)
    page = paper.new_page(width=900, height=1500)
    page.insert_text((60, 80), ".", fontsize=12)
    pieces = (
        f"1 0 0 1 {9 * (k % 90)} {6 + 24 * (k // 90)} Tm ({k}.) Tj" for k in range(MAX_LINES + 400)
    )
    content = f"BT /helv 1 Tf {' '.join(pieces)} ET"
    paper.update_stream(page.get_contents()[0], content.encode())
    paper.save(tmp_path / "paper.pdf")
    (file,) = read_papers([tmp_path / "paper.pdf"], tmp_path / "out", OcrParams()).files
    assert "page 2" in file.where["page_failed"]
    problems = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert problems[0].question == "What does the graph show?"
    assert len(problems) == 2
    assert file.cpu_s is not None
    assert file.cpu_s < 20
