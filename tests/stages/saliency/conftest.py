"""A results folder with multiple-choice problems, and a study that looks into its pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.schemas.tables import ResponseRow, write_jsonl, write_parquet

SIZES = ((640, 420), (130, 90))
LETTERS = "ABCD"
REASONED = "The left one is longer than C.\nThe answer is B, as in A."
Make = Callable[..., Study]


def write_responses(results: Path, cell: Cell, **texts: str) -> None:
    """Write the responses of a cell; those of `texts` say these words, or failed without any."""
    rows = [
        ResponseRow(
            id=f"q{n}", index=0, key="0" * 64, text=text, simulated=True,
            outcome="answered" if text else "refused",
        )
        for n in range(3)
        for text in [texts.get(f"q{n}", REASONED)]
    ]  # fmt: skip
    write_parquet(results / "infer" / cell.model / f"{cell.setting}.parquet", rows, ResponseRow)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three problems with choices about two pictures, and one without choices."""
    folder = tmp_path / "results"
    images = folder / "freeze" / "images"
    images.mkdir(parents=True)
    figures = []
    for number, size in enumerate(SIZES):
        picture = Image.new("RGB", size, "white")
        ImageDraw.Draw(picture).ellipse((10, 10, size[0] // 2, size[1] - 10), outline="navy")
        picture.save(images / f"{number}.png")
        digest = sha256((images / f"{number}.png").read_bytes()).hexdigest()
        figures.append(Figure(file=f"images/{number}.png", sha256=digest))
    choices = [Choice(label=letter, text=f"the {letter} one") for letter in LETTERS]
    asked = "Compare [IMAGE0] with [IMAGE1]: which?"
    questions = [Question(id=f"q{n}", question=asked, images=figures, choices=choices)
                 for n in range(3)]  # fmt: skip
    questions.append(Question(id="open", question="How long is [IMAGE0]?", images=figures))
    write_jsonl(folder / "freeze" / "questions.jsonl", questions)
    answers = [Answer(id=q.id, answer=["B"] if q.choices else ["12"], answer_type=q.answer_type,
                      choices=q.choices) for q in questions]  # fmt: skip
    write_jsonl(folder / "freeze" / "answers.jsonl", answers)
    return folder


@pytest.fixture
def study(tmp_path: Path, results: Path) -> Make:
    """A study whose simulated model is looked into; keywords replace its blocks."""
    oracle = tmp_path / "oracle.jsonl"
    rows = [{"id": f"q{n}", "answer": ["B"], "answer_type": "mcq", "choices": list(LETTERS)}
            for n in range(3)]  # fmt: skip
    rows.append({"id": "open", "answer": ["12"]})
    oracle.write_text("\n".join(map(json.dumps, rows)) + "\n")

    def make(**blocks: Any) -> Study:
        values = {
            "study": {"name": "looked", "store": str(tmp_path / "store"), "results": str(results)},
            "models": {"sim": {"provider": "simulated", "oracle": str(oracle)}},
            "settings": {"direct": {"prompt": "usnco-v"}, "cot": {"prompt": "usnco-v-cot"}},
            "infer": {"models": ["sim"], "settings": ["direct", "cot"]},
            "saliency": {"settings": ["direct", "cot"], "problems": 2, "max_pixels": 200_704},
        }
        return parse_study(values | blocks, "test")

    return make
