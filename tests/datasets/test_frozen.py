"""A release that `freeze` wrote is read as it was, and refused when it was changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from PIL import Image
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.study import parse_study
from omibench.schemas.tables import FrozenManifest, read_typed_json, write_json
from omibench.stages.freeze import freeze_dataset


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Two problems of a folder of one's own; the picture of the second is absent."""
    source = tmp_path / "own"
    source.mkdir()
    Image.new("L", (4, 4), 10).save(source / "one.png")
    (source / "problems.csv").write_text(
        "id,question,answer,images\na,See [IMAGE0],3,one.png\nb,Why?,4,two.png\n", "utf-8"
    )
    study = parse_study({"benchmark": {"name": "folder"}, "data": str(source)}, "test")
    freeze_dataset(None, tmp_path / "release", study)
    return tmp_path / "release"


def test_a_release_is_read_whole(release: Path, read: Read) -> None:
    (one, two), answers, folder = read("frozen", release)
    assert hashlib.sha256((folder / one.images[0].file).read_bytes()).hexdigest() == (
        one.images[0].sha256
    )
    assert (two.images[0].file, two.images[0].sha256) == ("two.png", "")
    assert [a.answer for a in answers] == [["3"], ["4"]]
    assert read_typed_json(release / "manifest.json", FrozenManifest).images == 1


@pytest.mark.parametrize("name", ["questions.jsonl", "answers.jsonl"])
def test_a_changed_release_is_refused(release: Path, read: Read, name: str) -> None:
    text = (release / name).read_text("utf-8")
    (release / name).write_text(text.replace("Why", "How").replace('"4"', '"5"'), "utf-8")
    with pytest.raises(FileFormatError, match=rf"{name}: its content .* differs from"):
        read("frozen", release)


def test_other_folders_are_no_release(tmp_path: Path, read: Read) -> None:
    with pytest.raises(
        MissingInputError, match=r"is not a frozen release; it has no manifest\.json"
    ):
        read("frozen", tmp_path)


def frozen_again(release: Path, out: Path, **params: str) -> FrozenManifest:
    block = {"benchmark": {"name": "frozen"}, "data": str(release), "freeze": params}
    return freeze_dataset(None, out, parse_study(block, "test"))


@pytest.mark.parametrize(
    ("params", "name", "version"),
    [
        ({}, "olympiad", "2.3.4"),
        ({"version": "3.0.0"}, "olympiad", "3.0.0"),
        ({"name": "mine"}, "mine", "1.0.0"),
        ({"name": "mine", "version": "1.2.0"}, "mine", "1.2.0"),
    ],
)
def test_a_release_keeps_its_name_unless_the_study_gives_it_another(
    release: Path, tmp_path: Path, params: dict[str, str], name: str, version: str
) -> None:
    manifest = read_typed_json(release / "manifest.json", FrozenManifest)
    named = {"name": "olympiad", "version": "2.3.4", "simulated": {"translation": 2}}
    write_json(release / "manifest.json", manifest.model_copy(update=named))
    again = frozen_again(release, tmp_path / "again", **params)
    assert (again.name, again.version, again.simulated) == (name, version, {"translation": 2})
    assert again.questions_sha256 == manifest.questions_sha256
    assert f"# {name} {version}" in (tmp_path / "again/README.md").read_text("utf-8")


def test_a_release_without_any_of_its_pictures_is_refused(release: Path, read: Read) -> None:
    (picture,) = (release / "images").iterdir()
    elsewhere = release.parent / "elsewhere"
    (release / "images").rename(elsewhere)
    expected = rf"none of its 1 pictures is there; the first is expected at .*{picture.name}"
    with pytest.raises(MissingInputError, match=expected):
        read("frozen", release)
    (release / "images").symlink_to(elsewhere)
    with pytest.raises(FileFormatError, match=rf"{picture.name}' leads out .* by a link"):
        read("frozen", release)
