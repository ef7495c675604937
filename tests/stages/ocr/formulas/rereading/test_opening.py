"""A text layer's doubtful formula, from the opened paper over a reply to the document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr.corrections.apply import SourceCorrections
from omibench.stages.ocr.engines.textlayer import LayerReading, read_layer
from omibench.stages.ocr.formulas.marks import Formula, FormulaRegion
from omibench.stages.ocr.formulas.rereading.asking import answer_crops
from omibench.stages.ocr.jobs import OcrJob
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.pipeline import Opener
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure import document


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper of one line, whose formula the layer does not give for certain."""
    pdf = pymupdf.open()
    pdf.new_page().insert_text((72, 100), "1. A ball has the speed v2 where it is thrown.")
    pdf.save(tmp_path / "paper.pdf")

    def read_doubtfully(page: pymupdf.Page, number: int) -> LayerReading:
        (line,) = read_layer(page, number).lines
        formula = Formula(FormulaRegion(line.box, ()), "v 2", ("a script may be one",))
        doubtful = replace(line, text=line.text.replace("v2", "$v 2$"), formulas=(formula,))
        return LayerReading([doubtful], exceeds_limits=False)

    monkeypatch.setattr(document, "read_layer", read_doubtfully)
    return tmp_path / "paper.pdf"


def open_paper(paper: Path, reader: str | None) -> tuple[Opener, Line]:
    job = OcrJob(
        source=Source(name="paper", paper=str(paper)),
        folder=paper.parent / "job",
        params=OcrParams(formula_reader=reader),
    )
    job.folder.mkdir(exist_ok=True)
    opener = Opener(job, None, SourceCorrections([]))
    (line,) = (i for i in opener.open(str(paper)).document.flow if isinstance(i, Line))
    return opener, line


def test_a_doubtful_formula_of_a_layer_is_asked_for_and_settled(paper: Path) -> None:
    opener, line = open_paper(paper, "m")
    assert opener.crops.count == 1
    assert line.formulas[0].doubts
    asked = []

    def read(crops: object) -> list[str]:
        asked.append(crops)
        return ["$v^{2}$"]

    for _ in range(2):
        answer_crops("m", read, opener.crops.waiting, opener.crops.replies)
    assert len(asked) == 1
    again, settled = open_paper(paper, "m")
    assert again.crops.count == 0
    assert settled.text == "1. A ball has the speed $v^{2}$ where it is thrown."
    assert settled.formulas[0].doubts == ()


def test_without_a_reader_nothing_is_cut_or_asked(paper: Path) -> None:
    opener, line = open_paper(paper, None)
    assert opener.crops.count == 0
    assert not opener.crops.waiting.exists()
    assert "$v 2$" in line.text
