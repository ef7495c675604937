"""A small freeze and its sources, as a release is built from them."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import yaml
from PIL import Image

from omibench.schemas.problem import Answer, Choice, Figure, Original, OriginalRow, Question
from omibench.schemas.tables import FrozenManifest, content_hash, write_json, write_jsonl


def make_picture(number: int) -> bytes:
    """A PNG of its own for each number."""
    buffer = io.BytesIO()
    Image.new("RGB", (8 + number % 50, 6), (number % 256, 40, 90)).save(buffer, "PNG")
    return buffer.getvalue()


def write_freeze(folder: Path, items: int = 6, version: str = "1.0.0", gold: str = "5") -> Path:
    """Write a freeze: odd items are multiple-choice and of the source `beta`, the first one is a
    translation, and each has two pictures."""
    questions, answers = [], []
    for k in range(items):
        figures = []
        for content in (make_picture(2 * k), make_picture(2 * k + 1)):
            sha256 = hashlib.sha256(content).hexdigest()
            file = f"images/{sha256}.png"
            (folder / "images").mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
            figures.append(Figure(file=file, sha256=sha256, page=1, bbox=(1, 2, 3, 4)))
        choices = [Choice(label="A", text="one"), Choice(label="B", image=1)] if k % 2 else None
        questions.append(
            Question(
                id=f"item-{k}",
                question=f"[IMAGE0] [IMAGE1] How long is rod {k}?",
                images=figures,
                choices=choices,
                subject="physics",
                source="beta" if k % 2 else "alpha",
            )
        )
        answers.append(
            Answer(
                id=f"item-{k}",
                answer=["A"] if choices else [gold],
                answer_type="mcq" if choices else "open",
                choices=choices,
                solution=f"Step 1: measure rod {k}.",
                subject="physics",
                n_images=2,
                attributes={"grade": "high" if k % 3 else "low", "skills": ["a", "b"]},
            )
        )
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "answers.jsonl", answers)
    original = Original(language="es", question="¿Cuánto mide?", translator="sim")
    write_jsonl(folder / "originals.jsonl", [OriginalRow(id="item-0", original=original)])
    write_json(
        folder / "manifest.json",
        FrozenManifest(
            name="rods",
            version=version,
            problems=items,
            images=2 * items,
            questions_sha256=content_hash(questions),
            answers_sha256=content_hash(answers),
            subjects={"physics": items},
        ),
    )
    return folder


def write_sources(path: Path, beta: bool | None = True) -> Path:
    """Write a sources.yaml of the two sources; `beta` is whether the second may be given on."""
    entry = {"licence": "CC BY 4.0", "sha256": "0" * 64}
    sources = [
        {"name": "alpha", "paper": "alpha.pdf", "redistribute": True, **entry},
        {"name": "beta", "paper": "beta.pdf", **entry},
    ]
    if beta is not None:
        sources[1]["redistribute"] = beta
    path.write_text(yaml.safe_dump({"sources": sources}))
    return path
