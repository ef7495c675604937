"""Pictures of tasks lie once in the folder of the review, under their hash."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from omibench.errors import FileFormatError, MissingInputError
from omibench.review.tasks.drafts import PictureKeeper
from omibench.review.tasks.problems import draft_problem_tasks
from review_tasks.makers import make_problem


def test_a_picture_is_kept_under_its_hash(tmp_path: Path) -> None:
    drafts = draft_problem_tasks(
        "item", [make_problem(1, tmp_path), make_problem(2, tmp_path)], tmp_path
    )
    keeper = PictureKeeper(tmp_path / "review")
    for draft in drafts:
        (picture,) = keeper.keep_pictures(draft).pictures
        source = draft.files[picture.sha256]
        assert (tmp_path / "review" / picture.file).read_bytes() == source.read_bytes()
    assert len(list((tmp_path / "review/pictures").iterdir())) == 2


def test_the_suffix_is_that_of_the_content(tmp_path: Path) -> None:
    problem = make_problem(1, tmp_path)
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "JPEG")
    (tmp_path / "images/1.png").write_bytes(buffer.getvalue())
    figure = problem.images[0].model_copy(
        update={"sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    )
    problem = problem.model_copy(update={"images": [figure]})
    (draft,) = draft_problem_tasks("item", [problem], tmp_path)
    task = PictureKeeper(tmp_path / "review").keep_pictures(draft)
    assert task.pictures[0].suffix == "jpg"
    assert task.content_hash == draft.task.content_hash


def test_another_content_or_no_picture_is_one_line(tmp_path: Path) -> None:
    (draft,) = draft_problem_tasks("item", [make_problem(1, tmp_path)], tmp_path)
    file = tmp_path / "images/1.png"
    file.write_bytes(b"no picture")
    with pytest.raises(
        FileFormatError, match=r"item:ipho-1: .*1\.png: its content .* has changed since"
    ):
        PictureKeeper(tmp_path / "review").keep_pictures(draft)
    file.unlink()
    with pytest.raises(MissingInputError, match=r"1\.png"):
        PictureKeeper(tmp_path / "review").keep_pictures(draft)


def test_a_link_in_the_results_is_copied(tmp_path: Path) -> None:
    (draft,) = draft_problem_tasks("item", [make_problem(1, tmp_path)], tmp_path)
    file = tmp_path / "images/1.png"
    file.rename(tmp_path / "elsewhere.png")
    file.symlink_to(tmp_path / "elsewhere.png")
    (picture,) = PictureKeeper(tmp_path / "review").keep_pictures(draft).pictures
    assert not (tmp_path / "review" / picture.file).is_symlink()
