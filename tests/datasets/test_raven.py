"""RAVEN: arrays of 16 panels, read without unpickling anything."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PANELS = np.arange(16, dtype=np.uint8)[:, None, None] * np.ones((1, 160, 160), np.uint8)


def write(folder: Path, name: str = "center_single/RAVEN_8_test.npz", **arrays: Any) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    np.savez(folder / name, **({"image": PANELS, "target": 3, "meta": np.zeros(2)} | arrays))
    return folder


def test_panels_of_the_matrix_and_candidates_are_pictures(tmp_path: Path, read: Read) -> None:
    write(tmp_path)
    write(tmp_path, "distribute_four/RAVEN_8_test.npz", image=PANELS.reshape(16, 160 * 160))
    write(tmp_path, "distribute_four/RAVEN_7_val.npz")
    questions, answers, _ = read("raven", tmp_path)
    assert [q.id for q in questions] == ["raven-center_single-8", "raven-distribute_four-8"]
    question = questions[0]
    values = [np.asarray(Image.open(figure.file)).max() for figure in question.images]
    assert values == list(range(16))
    assert question.image_order() == list(range(16))
    assert [c.image for c in question.choices or []] == list(range(8, 16))
    assert [a.answer for a in answers] == [["D"], ["D"]]
    assert [a.attributes["category"] for a in answers] == ["Center", "2x2Grid"]


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("unpickled"),)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"image": PANELS[:15]}, r"RAVEN_8: image: is uint8 \(15, 160, 160\), not uint8"),
        ({"image": PANELS.astype(float)}, "image: is float64"),
        ({"target": 8}, "RAVEN_8: target: is not the index of a candidate"),
        ({"target": 0.5}, "target: is not the index"),
        ({"target": np.array([Evil()], dtype=object)}, "is not an .npz file with image, target: "),
        ({"image": np.zeros(10**6)}, "has an array of more than"),
    ],
)
def test_another_content_is_named(
    tmp_path: Path, read: Read, arrays: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("raven", write(tmp_path, **arrays))
    assert not Path("unpickled").exists()


def test_a_file_that_is_no_archive_is_named(tmp_path: Path, read: Read) -> None:
    path = write(tmp_path) / "center_single/RAVEN_8_test.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(FileFormatError, match=r"RAVEN_8_test\.npz: RAVEN_8: is not an \.npz file"):
        read("raven", tmp_path)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("image.npy", b"\x93NUMPY\x01\x00\x10\x00" + b"x" * 16)
    path.write_bytes(content.getvalue())
    with pytest.raises(FileFormatError, match=r"RAVEN_8: is not an \.npz file"):
        read("raven", tmp_path)


def test_a_folder_without_the_test_split(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match=r"such as 'center_single/RAVEN_8_test\.npz'"):
        read("raven", write(tmp_path, "center_single/RAVEN_0_train.npz"))
