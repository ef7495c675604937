"""What a manifest of strangers calls a paper may be no file at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omibench.errors import PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.sources.files import check_bytes


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a device"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    paper = tmp_path / "exam.pdf"
    if kind == "pipe":
        os.mkfifo(paper)
    elif kind == "folder":
        paper.mkdir()
    else:
        paper.symlink_to("/dev/zero")
    with pytest.raises(PaperError) as error:
        check_bytes(Path("/dev/zero") if kind == "device" else paper)
    assert error.value.code == "file_missing"


def test_the_other_papers_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "exam.pdf")
    report = read_papers([tmp_path / "exam.pdf"], tmp_path / "out", OcrParams(timeout_s=20))
    assert report.files[0].codes == ["file_missing"]
