"""Pictures are kept once, and only when they are what the dataset says."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from omibench.errors import MissingInputError, ModelError
from omibench.schemas.request import ImagePart
from omibench.store.store import ImageStore


def picture(path: Path, content: bytes = b"pixels") -> ImagePart:
    path.write_bytes(content)
    return ImagePart(sha256=hashlib.sha256(content).hexdigest(), path=str(path))


def test_two_files_with_one_content_are_kept_once(tmp_path: Path) -> None:
    images = ImageStore(tmp_path / "images")
    one, other = picture(tmp_path / "a.png"), picture(tmp_path / "b.png")
    images.keep(one)
    images.keep(other)
    kept = [path for path in images.folder.rglob("*") if path.is_file()]
    assert kept == [images.path(one.sha256)]
    assert kept[0].read_bytes() == b"pixels"


@pytest.mark.parametrize("kept_before", [False, True])
def test_a_changed_file_is_refused(tmp_path: Path, kept_before: bool) -> None:
    image = picture(tmp_path / "a.png")
    if kept_before:
        ImageStore(tmp_path / "images").keep(image)
    (tmp_path / "a.png").write_bytes(b"other pixels")
    with pytest.raises(ModelError, match="differs from the dataset"):
        ImageStore(tmp_path / "images").keep(image)


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="the image does not exist"):
        ImageStore(tmp_path).keep(ImagePart(sha256="a" * 64, path=str(tmp_path / "none.png")))


def test_many_are_kept_each_once_and_the_first_bad_one_is_named(tmp_path: Path) -> None:
    good = [picture(tmp_path / f"{n:03}.png", bytes([n % 50])) for n in range(100)]
    images = ImageStore(tmp_path / "images")
    images.keep_all(good)
    images.keep_all(good)
    kept = {path.name for path in images.folder.rglob("*") if path.is_file()}
    assert kept == {image.sha256 for image in good}
    for name in ("031.png", "077.png"):
        (tmp_path / name).write_bytes(b"other pixels")
    with pytest.raises(ModelError, match="031"):
        ImageStore(tmp_path / "others").keep_all(good)
