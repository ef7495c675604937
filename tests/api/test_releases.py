from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

import omibench
from omibench.errors import ArgumentError, FileFormatError, MissingInputError


def test_a_release_is_read_whole(release: Path) -> None:
    loaded = omibench.load_release(release)
    assert loaded.manifest.problems == 2
    assert list(loaded.questions) == list(loaded.answers) == ["a", "b"]
    figure = loaded.questions["a"].images[0]
    assert sha256(loaded.read_picture(figure)).hexdigest() == figure.sha256
    assert omibench.score("The answer is (B).", loaded.answers["a"]).verdict == 1.0


def test_a_picture_that_was_absent_is_named(release: Path) -> None:
    loaded = omibench.load_release(str(release))
    with pytest.raises(MissingInputError, match="this picture was missing when"):
        loaded.read_picture(loaded.questions["b"].images[0])


def test_a_changed_or_missing_picture_is_refused(release: Path) -> None:
    picture = next((release / "images").iterdir())
    picture.write_bytes(b"other")
    with pytest.raises(FileFormatError, match="its bytes differ from the frozen ones"):
        omibench.load_release(release)
    loaded = omibench.load_release(release, check_pictures=False)
    picture.unlink()
    with pytest.raises(MissingInputError, match="get the whole release"):
        loaded.read_picture(loaded.questions["a"].images[0])


def test_a_figure_of_elsewhere_is_not_read(release: Path, tmp_path: Path) -> None:
    loaded = omibench.load_release(release)
    figure = loaded.questions["a"].images[0].model_copy(update={"file": "../own/one.png"})
    with pytest.raises(FileFormatError, match="leads out of this folder"):
        loaded.read_picture(figure)


@pytest.mark.parametrize("name", ["questions.jsonl", "answers.jsonl"])
def test_a_changed_release_is_refused(release: Path, name: str) -> None:
    text = (release / name).read_text("utf-8")
    (release / name).write_text(text.replace("Why", "How").replace('"4"', '"5"'), "utf-8")
    with pytest.raises(FileFormatError, match="differs from the release"):
        omibench.load_release(release)


def test_what_is_no_release_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="is not a frozen release; it has no manifest"):
        omibench.load_release(tmp_path)
    with pytest.raises(MissingInputError, match="the folder does not exist"):
        omibench.load_release(tmp_path / "none")
    with pytest.raises(ArgumentError, match="folder: is None; give the path"):
        omibench.load_release(None)  # type: ignore[arg-type]
