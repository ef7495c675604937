"""Conditions: what stands for each picture, in the conversation and in its key."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydantic import ValidationError

from omibench.params.setting import DEGRADATIONS, Images, Setting
from omibench.schemas.problem import Choice, Figure, Question
from omibench.schemas.request import ABSENT, Conversation, ImagePart, Request, Tags
from omibench.settings.conditions import show_pictures
from omibench.settings.pictures import without_drawing
from omibench.settings.present import present
from omibench.store.key import request_key

IDENTITY = {"provider": "openai", "id": "m"}


def abstract(count: int) -> list[Figure]:
    return [Figure(file=f"images/{i}.png", sha256=f"{i:064x}") for i in range(count)]


def sent(question: Question, images: Any, folder: Path | str = "") -> Conversation:
    return present(question, Setting(images=images), folder)


def key(conversation: Conversation) -> str:
    tags = Tags(role="respondent", problem="p")
    return request_key(IDENTITY, Request(conversation=conversation, tags=tags))


@pytest.fixture(scope="module")
def freeze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study") / "results" / "freeze"


@pytest.fixture(scope="module")
def question(freeze: Path) -> Question:
    """Two pictures in the statement, one that is marked nowhere, and two as choices."""
    (freeze / "images").mkdir(parents=True)
    figures = []
    for i in range(5):
        path = freeze / "images" / f"{i}.png"
        Image.effect_noise((50 + 10 * i, 40), 30 + i).save(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        figures.append(Figure(file=f"images/{i}.png", sha256=digest))
    return Question(
        id="physics/1",
        question="From [IMAGE0] to [IMAGE1]?",
        images=figures,
        choices=[
            Choice(label="A", image=3),
            Choice(label="B", image=4),
            Choice(label="C", text=""),
        ],
    )


MADE: list[Any] = [
    "composite",
    "labelled-composite",
    "occluded",
    {"show": "occluded", "figure": 1, "share": 1},
    *({"show": "degraded", "by": [kind], "grade": 1} for kind in DEGRADATIONS),
    {"show": "degraded", "by": ["blur", "shadow"], "grade": 3, "seed": 4},
]


@pytest.mark.parametrize("images", ["all", *MADE, "shuffled"])
def test_a_changed_byte_of_any_picture_changes_the_key(
    question: Question, freeze: Path, images: Any
) -> None:
    before = key(sent(question, images, freeze))
    for i, figure in enumerate(question.images):
        changed = freeze / "images" / f"changed-{i}.png"
        with Image.open(freeze / figure.file) as image:
            image.save(changed, compress_level=1)
        digest = hashlib.sha256(changed.read_bytes()).hexdigest()
        other = Figure(file=f"images/{changed.name}", sha256=digest)
        figures = [*question.images[:i], other, *question.images[i + 1 :]]
        assert key(sent(question.model_copy(update={"images": figures}), images, freeze)) != before


def test_grade_0_is_the_original_under_the_same_key(question: Question, freeze: Path) -> None:
    untouched = {"show": "degraded", "by": ["blur", "tilt"], "grade": 0}
    assert sent(question, untouched, freeze) == sent(question, "all", freeze)


def test_a_composite_has_the_pictures_in_the_order_in_which_they_are_sent(
    question: Question, freeze: Path
) -> None:
    (whole,) = sent(question, "composite", freeze).images
    swapped = question.model_copy(update={"question": "From [IMAGE1] to [IMAGE0]?"})
    (other,) = sent(swapped, "composite", freeze).images
    assert other.sha256 != whole.sha256


def test_a_labelled_composite_keeps_the_key_that_it_had_as_composite() -> None:
    choices = [Choice(label="A", image=2), Choice(label="B", text="none")]
    asked = Question(
        id="p", question="From [IMAGE1] to [IMAGE0]?", images=abstract(4), choices=choices
    )
    with without_drawing():
        keys = [key(sent(asked, name, "freeze")) for name in ("labelled-composite", "composite")]
    assert keys[0] == "24691070203b4ef1f91e0fb40f58aeaaff9ef23dce449f65dde8dec1971ad239"
    assert keys[1] != keys[0]


@pytest.mark.parametrize("images", [*MADE, "shuffled"])
def test_an_absent_picture_is_still_named_as_absent(
    question: Question, freeze: Path, images: Any
) -> None:
    figures = [*question.images[:1], Figure(file="images/gone.png", sha256="")]
    lacking = Question(id="p", question="[IMAGE0] or [IMAGE1]?", images=figures)
    absent = [part.absent for part in sent(lacking, images, freeze).images if part.absent]
    assert absent == ["images/gone.png"]


@given(st.integers(0, 9), st.integers(0, 40))
def test_shuffling_moves_pictures_of_the_statement_and_no_other(count: int, seed: int) -> None:
    marks = " ".join(f"[IMAGE{i}]" for i in range(count))
    choices = [Choice(label="A", image=count), Choice(label="B", image=count + 1)]
    asked = Question(id="p", question=marks, images=abstract(count + 2), choices=choices)
    one, plain = sent(asked, {"show": "shuffled", "seed": seed}), sent(asked, "all")
    assert one.text == plain.text
    assert one.images[count:] == plain.images[count:], "the gold names a choice by its letter"
    assert sorted(map(str, one.images)) == sorted(map(str, plain.images))
    assert (one.images == plain.images) == (count < 2)


def test_a_picture_without_bytes_has_its_name_for_a_hash() -> None:
    asked = Question(id="p", question="[IMAGE0]", images=[Figure(file="i/a.png", sha256="")])
    gone = ImagePart(sha256=f"{ABSENT}i/a.png", path="data/i/a.png")
    assert show_pictures(asked, Images(), "data").at == {0: gone}


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"show": "all", "k": 2}, "k: only for show: first, not for all"),
        ({"k": 2}, "k: only for show: first, not for all"),
        ({"show": "first", "seed": 1}, "seed: only for show: shuffled or degraded or occluded"),
        ({"show": "captions"}, "show: captions needs model: the model that describes the pictures"),
        ({"show": "degraded"}, "show: degraded needs by: a list of rotation, tilt, shadow"),
        ({"show": "degraded", "by": ["blur", "blur"]}, "by: 'blur' is listed twice"),
        ({"show": "degraded", "by": ["blur"], "grade": 4}, "less than or equal to 3"),
        ({"show": "occluded", "share": 0}, "greater than 0"),
        ({"show": "composite", "by": ["blur"]}, "by: only for show: degraded, not for composite"),
    ],
)
def test_what_does_not_go_together_is_said(given: dict[str, Any], line: str) -> None:
    with pytest.raises(ValidationError, match=line):
        Images.model_validate(given)
