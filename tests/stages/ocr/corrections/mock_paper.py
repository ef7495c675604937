"""A paper with what people correct: a formula in two rows, a figure, two problems read as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pymupdf
import yaml

from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.corrections.entry import collect_corrections
from omibench.stages.ocr.jobs import OcrJob, OcrOutcome
from omibench.stages.ocr.pipeline import read_source
from omibench.stages.ocr.sources.manifest import Source

FRACTION = (72.0, 80.0, 345.0, 111.0)
"""The box of the first line with the fraction at its end."""


def draw_paper(path: Path) -> Path:
    """Write the paper: problem 1 has choices, 2 a circle, 3 holds two questions."""
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 100), "1. Find the period of the pendulum, which is 2")
    page.insert_text((300, 94), "67R")
    page.insert_text((300, 107), "20g")
    page.insert_text((72, 116), "where R is its length. Give the value.")
    for k, letter in enumerate("ABCD"):
        page.insert_text((72, 150 + 16 * k), f"({letter}) {k + 3} s")
    page.insert_text((72, 240), "2. How many sides does a square have? Give the number of them.")
    page.draw_circle((200, 320), 50)
    page.insert_text((72, 420), "3. What is the third planet? And which moon does it have?")
    pdf.save(path)
    return path


Entry = dict[str, Any] | str
"""A correction, or the keys of one in YAML."""


def fill_entry(entry: Entry) -> dict[str, Any]:
    """A correction of the paper `mock.pdf`, by Ana unless it says else."""
    keys = yaml.safe_load(f"{{{entry}}}") if isinstance(entry, str) else entry
    return {"paper": "mock.pdf", "by": "Ana", **keys}


def write_corrections(folder: Path, *entries: Entry) -> Path:
    """Write `corrections.yaml`."""
    path = folder / "corrections.yaml"
    rows = [fill_entry(entry) for entry in entries]
    path.write_text(yaml.safe_dump({"corrections": rows}, sort_keys=False), "utf-8")
    return path


class MockReading(NamedTuple):
    """The problems by number, and what became of the paper."""

    problems: dict[str, Problem]
    outcome: OcrOutcome

    @property
    def statuses(self) -> list[str]:
        """What became of each correction."""
        return [row.status for row in self.outcome.corrections]


def read_mock(folder: Path, *entries: Entry) -> MockReading:
    """Read the paper with corrections into `folder / "out"`, in this process."""
    paper, out = folder / "mock.pdf", folder / "out"
    if not paper.is_file():
        draw_paper(paper)
    write_corrections(folder, *entries)
    source = Source(name="mock.pdf", paper=str(paper))
    corrections = collect_corrections(None, None, [paper], [source])
    out.mkdir(exist_ok=True)
    outcome = read_source(
        OcrJob(
            source=source,
            folder=out,
            params=OcrParams(dpi=72),
            corrections=corrections.by_source.get("mock.pdf", []),
            pictures=corrections.folder,
        )
    )
    problems = read_jsonl(out / "problems.jsonl", Problem)
    return MockReading({problem.number: problem for problem in problems}, outcome)
