"""The command tesseract: faster and less accurate than rapidocr, and unsuitable for photographs."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter

from omibench.errors import MissingInputError
from omibench.stages.ocr.engines.engine import Pixels, Reading
from omibench.stages.ocr.engines.registry import engine

NAME = "tesseract"
LANGUAGES = "OMIBENCH_TESSERACT_LANGUAGES"
"""The environment variable with the languages, such as `eng+por`; by default all installed ones."""
_SECONDS = 120


def command() -> str | None:
    """Return the path of the command, or None if it is not installed."""
    return shutil.which("tesseract")


def is_installed() -> bool:
    """Return whether the command exists."""
    return command() is not None


@engine(NAME, is_installed)
class Tesseract:
    """The engine; each picture is passed to a separate process."""

    name = NAME

    def __init__(self) -> None:
        command_line = command()
        if command_line is None:
            raise MissingInputError(
                "engine tesseract: the command `tesseract` was not found: install the package "
                "tesseract-ocr with its languages, or choose another ocr.engine"
            )
        self.command = command_line

    def read(self, picture: Pixels) -> list[Reading]:
        """Return every line, with the mean confidence of its words."""
        words = self._words(picture)
        return [reading for line in words if (reading := _reading(line))]

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """Return the picture unchanged: its detection of turned pages makes photographs worse."""
        return picture, 0

    def _words(self, picture: Pixels) -> Iterator[list[dict[str, str]]]:
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(picture).save(buffer, "PNG")
        languages = os.environ.get(LANGUAGES) or "+".join(list_languages(self.command))
        arguments = [self.command, "stdin", "stdout", "-l", languages, "--psm", "3", "tsv"]
        process = subprocess.run(
            arguments,
            input=buffer.getvalue(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
        if process.returncode:
            message = " ".join(process.stderr.decode("utf-8", "replace").split())[:300]
            raise MissingInputError(f"engine tesseract: {message or 'ended without a word'}")
        yield from group_words(process.stdout.decode("utf-8", "replace"))


@cache
def list_languages(program: str) -> tuple[str, ...]:
    """Return the installed languages, English first, without the detector of turns."""
    process = subprocess.run(
        [program, "--list-langs"], capture_output=True, encoding="utf-8", timeout=30, check=False
    )
    names = [line.strip() for line in process.stdout.splitlines()[1:]]
    languages = [name for name in names if name and name not in ("osd", "equ")]
    return tuple(sorted(languages, key=lambda name: (name != "eng", name))) or ("eng",)


def group_words(table: str) -> Iterator[list[dict[str, str]]]:
    """Return the words of each line of tesseract's table of words (level 5 of its TSV)."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = (r for r in rows if r.get("level") == "5" and (r.get("text") or "").strip())
    position = itemgetter("page_num", "block_num", "par_num", "line_num")
    for _, line in groupby(words, key=position):
        yield list(line)


def _reading(words: list[dict[str, str]]) -> Reading | None:
    boxes = [tuple(float(w[name]) for name in ("left", "top", "width", "height")) for w in words]
    x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
    x1, y1 = max(b[0] + b[2] for b in boxes), max(b[1] + b[3] for b in boxes)
    text = " ".join(w["text"] for w in words)
    confidence = sum(float(w["conf"]) for w in words) / len(words) / 100
    if not text.strip():
        return None
    quad = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    return Reading(text, quad, min(1.0, max(0.0, confidence)))
