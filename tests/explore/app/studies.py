"""Copies of the small study that a test may change."""

from __future__ import annotations

import hashlib
import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image

from omibench.explore.app.settings import ExplorerSources
from omibench.params.study import Study
from omibench.schemas.pages import PagePicture
from omibench.schemas.problem import Answer, Problem, Question
from omibench.schemas.tables import read_jsonl, write_jsonl


def copy_results(results: Path, target: Path) -> Path:
    """Copy what the explorer reads of a folder of results."""
    for stage in ("freeze", "infer", "score"):
        shutil.copytree(results / stage, target / stage)
    return target


def write_problems(results: Path) -> None:
    """Write the problems from which a dataset could have been frozen."""
    answers = {a.id: a for a in read_jsonl(results / "freeze" / "answers.jsonl", Answer)}
    rows = [
        Problem(
            **question.model_dump(exclude={"source", "pages"}),
            source=question.source or "paper",
            source_sha256="0" * 64,
            number=str(number),
            pages=question.pages,
            answer=answers[question.id].answer,
            solution=answers[question.id].solution,
        )
        for number, question in enumerate(
            read_jsonl(results / "freeze" / "questions.jsonl", Question), 1
        )
    ]
    shutil.copytree(results / "freeze" / "images", results / "rationale" / "images")
    write_jsonl(results / "rationale" / "problems.jsonl", rows)


def write_ocr_page(folder: Path) -> tuple[list[Question], bytes, str]:
    """Have `ocr` drawn page 2 of the first item, with its figure on it.

    Returns:
        The questions, the picture and its hash.
    """
    path = folder / "freeze" / "questions.jsonl"
    first, *others = read_jsonl(path, Question)
    figure = first.images[0].model_copy(update={"page": 2, "bbox": (50, 100, 100, 200)})
    changes = {"images": [figure, *first.images[1:]], "source": "ipho", "pages": [2]}
    questions = [first.model_copy(update=changes), *others]
    write_jsonl(path, questions)
    data, sha256 = draw("navy")
    (folder / "ocr" / "pages").mkdir(parents=True)
    (folder / "ocr" / "pages" / "p0002.png").write_bytes(data)
    picture = PagePicture(
        source="ipho", page=2, file="pages/p0002.png", sha256=sha256, width=200, height=400
    )
    write_jsonl(folder / "ocr" / "page_pictures.jsonl", [picture])
    return questions, data, sha256


def draw(colour: str) -> tuple[bytes, str]:
    """A small PNG and its SHA-256."""
    file = BytesIO()
    Image.new("RGB", (3, 2), colour).save(file, "PNG")
    return file.getvalue(), hashlib.sha256(file.getvalue()).hexdigest()


def make_sources(results: Path, study: Study | None = None, **more: Path) -> ExplorerSources:
    """The sources of a folder of results."""
    return ExplorerSources(results / "freeze", results=results, study=study, **more)
