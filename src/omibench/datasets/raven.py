"""RAVEN (github.com/WellyZhang/RAVEN; Zhang et al. 2019): matrices with eight candidates, `test`.

Each problem is a file `<configuration>/RAVEN_<number>_test.npz`: 16 grey panels of 160 x 160
pixels, the eight of the matrix and then the eight candidates, and the index of the right one. The
layout is that of the repository's `assets/README.md`. Nothing in an array is unpickled.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Final

import numpy as np

from omibench.datasets.dataset import Dataset, make_answer
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, naming
from omibench.errors import FileFormatError, reason_of
from omibench.files.reading import open_regular
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Choice, Question

CONFIGURATIONS: Final = {
    "center_single": "Center",
    "distribute_four": "2x2Grid",
    "distribute_nine": "3x3Grid",
    "in_center_single_out_center_single": "Out-InCenter",
    "in_distribute_four_out_center_single": "Out-InGrid",
    "left_center_single_right_center_single": "Left-Right",
    "up_center_single_down_center_single": "Up-Down",
}
"""Folders, and their names in the paper."""
TASK: Final = (
    "The panels of a matrix with three rows and three columns follow rules. Row by row they are "
    "[IMAGE0] [IMAGE1] [IMAGE2], then [IMAGE3] [IMAGE4] [IMAGE5], then [IMAGE6] [IMAGE7] and a "
    "missing panel. Which candidate is the missing panel?"
)
_FILE = re.compile(r"([^/]+)/(RAVEN_\d+)_test$")
_SHAPE: Final = (16, 160, 160)
_ARRAY_BYTES: Final = 8 * 16 * 160 * 160 + 4096
_FILE_BYTES: Final = 64 * 2**20


@benchmark("raven")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the problems of the test split, sorted by path.

    Raises MissingInputError if there is none, and FileFormatError for a file of another content.
    """
    finder = Found(folder, scratch)
    example = "center_single/RAVEN_8_test.npz"
    questions, answers = [], []
    for file, match in find_tables(folder, _FILE, example, suffixes=(".npz",)):
        with naming(file, match[2]):
            question, answer = _convert(file, match, finder)
        questions.append(question)
        answers.append(answer)
    return Dataset(questions, answers, folder)


def _convert(file: Path, match: re.Match[str], finder: Found) -> tuple[Question, Answer]:
    panels, target = _read_arrays(file, "image", "target")
    if panels.size != np.prod(_SHAPE) or panels.dtype != np.uint8:
        raise FileFormatError(f"image: is {panels.dtype} {panels.shape}, not uint8 {_SHAPE}")
    if target.size != 1 or target.dtype.kind not in "iu" or not 0 <= int(target.item()) < 8:
        raise FileFormatError("target: is not the index of a candidate, 0 to 7")
    labels = "ABCDEFGH"
    question = Question(
        id=f"raven-{match[1]}-{match[2].removeprefix('RAVEN_')}",
        question=TASK,
        images=[finder.figure(Embedded(bytes=_draw(p))) for p in panels.reshape(_SHAPE)],
        choices=[Choice(label=label, image=8 + place) for place, label in enumerate(labels)],
        subject="mathematics",
    )
    configuration = CONFIGURATIONS.get(match[1], match[1])
    answer = make_answer(
        question,
        [labels[int(target.item())]],
        topic="abstract reasoning",
        attributes={"category": configuration},
    )
    return question, answer


def _read_arrays(file: Path, *names: str) -> list[np.ndarray]:
    try:
        with open_regular(file, _FILE_BYTES) as opened, zipfile.ZipFile(opened) as members:
            contents = []
            for name in names:
                with members.open(f"{name}.npy") as member:
                    contents.append(member.read(_ARRAY_BYTES + 1))
        if any(len(content) > _ARRAY_BYTES for content in contents):
            raise FileFormatError(f"has an array of more than {_ARRAY_BYTES:,} bytes")
        return [np.load(io.BytesIO(content), allow_pickle=False) for content in contents]
    # zipfile raises NotImplementedError for a compression that it does not know.
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, NotImplementedError, OSError) as e:
        raise FileFormatError(
            f"is not an .npz file with {', '.join(names)}: {reason_of(e)}"
        ) from None


def _draw(panel: np.ndarray) -> bytes:
    """Return a grey panel as a PNG; equal panels give equal bytes."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(panel).save(out, "PNG")
    return out.getvalue()
