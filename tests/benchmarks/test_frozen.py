"""A release that `freeze` wrote is read as it was, and refused when it was changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from benchmarks.conftest import Read
from omibench.errors import FileFormatError, MissingInputError
from omibench.freeze import freeze_dataset
from omibench.study import parse_study
from omibench.tables import FrozenManifest, read_json

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Two problems of a folder of one's own; the picture of the second is absent."""
    source = tmp_path / "own"
    source.mkdir()
    (source / "one.png").write_bytes(PNG)
    (source / "problems.csv").write_text(
        "id,question,answer,images\na,See [IMAGE0],3,one.png\nb,Why?,4,two.png\n", "utf-8"
    )
    study = parse_study({"benchmark": {"name": "folder"}, "data": str(source)}, "test")
    freeze_dataset(tmp_path / "release", study)
    return tmp_path / "release"


def test_a_release_is_read_whole(release: Path, read: Read) -> None:
    (one, two), answers, folder = read("frozen", release)
    assert hashlib.sha256((folder / one.images[0].file).read_bytes()).hexdigest() == (
        one.images[0].sha256
    )
    assert (two.images[0].file, two.images[0].sha256) == ("two.png", "")
    assert [a.answer for a in answers] == [["3"], ["4"]]
    assert read_json(release / "manifest.json", FrozenManifest).images == 1


@pytest.mark.parametrize("name", ["questions.jsonl", "answers.jsonl"])
def test_a_changed_release_is_refused(release: Path, read: Read, name: str) -> None:
    text = (release / name).read_text("utf-8")
    (release / name).write_text(text.replace("Why", "How").replace('"4"', '"5"'), "utf-8")
    with pytest.raises(FileFormatError, match=rf"{name}: its content .* is not that"):
        read("frozen", release)


def test_other_folders_are_no_release(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match=r"no frozen release: it holds no manifest\.json"):
        read("frozen", tmp_path)
