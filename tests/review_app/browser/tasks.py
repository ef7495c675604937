"""Tasks of every kind, with formulas, pictures and steps."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any, Final

from PIL import Image, ImageDraw

from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewTask, TaskPicture

QUESTION: Final = r"""A rod of mass $m$ hangs from the pivot of [IMAGE0]. It costs $5, or \$6.

(a) Show that $$T = 2\pi\sqrt{\frac{2\ell}{3g}}$$
(b) Balance $\ce{2H2 + O2 -> 2H2O}$.

| quantity | value |
|---|---|
| $g$ | 9.81 |
"""
CONTENT: Final[dict[str, Any]] = {
    "question": QUESTION,
    "choices": [{"label": "A", "text": r"It grows with $\ell$"}, {"label": "B", "image": 1}],
    "answer": ["A"],
    "solution": "The period is $T$, so **A**.",
    "facts": {"year": "2019", "language": "de"},
    "reference": "By energy.",
    "candidates": [
        {"id": "c1", "text": "First $I$, then $T$. The answer is A."},
        {"id": "c2", "text": "By energy. The answer is A."},
    ],
    "steps": ["Reads the pivot.", r"Writes $I=\frac12 m\ell^2$.", "So the answer is B."],
    "error_types": [
        {"value": "perception", "title": "Perception", "help": "Misreads a picture."},
        {"value": "calculation", "title": "Calculation", "help": "A wrong number."},
    ],
    "subfields": ["Mechanics", "Optics"],
    "subject": "physics",
    "subfield": "Mechanics",
    "topic": "oscillation",
    "reason": "It swings.",
    "original_question": "Ein Stab der Masse $m$ hängt an [IMAGE0].",
    "original_choices": [{"label": "A", "text": "Sie wächst"}, {"label": "B", "image": 1}],
    "response": "I see a rod. **Answer: B**",
    "description": "A rod.",
}


def draw_picture(text: str, width: int = 640, height: int = 400) -> bytes:
    """A picture with a line, a frame and a word."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((8, 8, width - 8, height - 8), outline="black", width=3)
    draw.line((8, height - 8, width - 8, 8), fill="blue", width=4)
    draw.text((width // 3, height // 3), text, fill="black", font_size=28)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def add_picture(folder: Path, data: bytes, **values: Any) -> TaskPicture:
    """A picture in the folder of a review."""
    digest = hashlib.sha256(data).hexdigest()
    picture = TaskPicture(sha256=digest, suffix="png", **values)
    path = folder / picture.file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return picture


def make_task(
    kind: str, name: str, pictures: list[TaskPicture], content: dict[str, Any] | None = None
) -> ReviewTask:
    """A task of a kind, open to everybody who has the role."""
    names = {part.name for part in KINDS[kind].parts}
    parts = {part: value for part, value in (CONTENT | (content or {})).items() if part in names}
    return ReviewTask(
        id=f"{kind}:{name}",
        kind=kind,
        problem=name,
        content=parts,
        content_hash=hash_content(KINDS[kind], parts, pictures),
        pictures=[p for p in pictures if kind == "page" or p.part == "image"],
    )


def make_pictures(folder: Path) -> list[TaskPicture]:
    """Two pictures of the problem, and a page with boxes."""
    return [
        add_picture(folder, draw_picture("apparatus")),
        add_picture(folder, draw_picture("spectrum", 300, 420), label="spectrum (b)"),
        add_picture(
            folder,
            draw_picture("page", 620, 877),
            part="page",
            label="page 3",
            boxes=[(0.1, 0.2, 0.9, 0.5)],
        ),
    ]
