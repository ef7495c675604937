"""Measure a release of OMIBench's size: 1,322 items, 4,200 pictures of 110 kB.

    python benchmarks/release_at_size.py [FOLDER]

Pictures are incompressible noise. Prints CPU seconds and the peak of memory of `build` and
`verify`, each in a separate process.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.tables import FrozenManifest, content_hash, write_json, write_jsonl

ITEMS, PICTURES = 1322, 4200
WIDTH, HEIGHT = 240, 152  # 109 kB of RGB noise


def make_noise(seed: int) -> bytes:
    """A PNG of noise, about 110 kB."""
    pixels = np.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def write_freeze(folder: Path) -> None:
    """Write a freeze of that size."""
    (folder / "images").mkdir(parents=True)
    figures: list[list[Figure]] = [[] for _ in range(ITEMS)]
    for k in range(PICTURES):
        content = make_noise(k)
        sha256 = hashlib.sha256(content).hexdigest()
        (folder / f"images/{sha256}.png").write_bytes(content)
        figures[k % ITEMS].append(Figure(file=f"images/{sha256}.png", sha256=sha256))
    questions = [
        Question(id=f"p-{k}", question="How long? " * 20, images=images, source="s", licence="CC0")
        for k, images in enumerate(figures)
    ]
    answers = [
        Answer(id=f"p-{k}", answer=["5"], answer_type="open", solution="Measure. " * 40)
        for k in range(ITEMS)
    ]
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "answers.jsonl", answers)
    write_json(
        folder / "manifest.json",
        FrozenManifest(
            name="size",
            version="1.0.0",
            problems=ITEMS,
            images=PICTURES,
            questions_sha256=content_hash(questions),
            answers_sha256=content_hash(answers),
            subjects={"other": ITEMS},
        ),
    )


def measure(*words: str) -> None:
    """Run a verb of `omibench release`; print its CPU seconds and peak of memory."""
    process = subprocess.Popen([sys.executable, "-m", "omibench", "release", *words])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = usage.ru_utime + usage.ru_stime
    print(f"{words[0]}: {seconds:.1f} CPU seconds, {usage.ru_maxrss / 1e6:.2f} GB, status {status}")


def main() -> None:
    """Build and verify."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as scratch:
        base = Path(scratch)
        write_freeze(base / "results/freeze")
        sources = base / "sources.yaml"
        sources.write_text("sources: [{name: s, paper: s.pdf, redistribute: true}]\n")
        out = str(base / "release")
        measure("build", str(base / "results/freeze"), "--sources", str(sources), "--out", out)
        measure("verify", out)


if __name__ == "__main__":
    main()
