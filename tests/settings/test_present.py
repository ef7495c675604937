"""Presenting: every image exactly where it is marked, as many as are meant, and no more words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.params.setting import Setting
from omibench.schemas.problem import IMAGE_MARK, Choice, Figure, Question
from omibench.schemas.request import ImagePart, Part, TextPart
from omibench.settings.conditions import NOT_SHOWN
from omibench.settings.present import present


def figures(count: int) -> list[Figure]:
    return [Figure(file=f"images/{i}.png", sha256=f"{i:064x}") for i in range(count)]


def parts_of(question: Question, setting: Setting | None = None, folder: str = "") -> list[Part]:
    conversation = present(question, setting or Setting(), folder=folder)
    assert conversation is not None
    assert [m.role for m in conversation.messages] == ["user"]
    return list(conversation.messages[0].parts)


def shape(parts: list[Part]) -> list[str | int]:
    return [p.text if isinstance(p, TextPart) else int(p.sha256, 16) for p in parts]


def test_images_stand_where_they_are_marked() -> None:
    question = Question(id="p", question="Given [IMAGE1] and [IMAGE0], find x.", images=figures(2))
    parts = parts_of(question, folder="data/frozen")
    head, *rest = shape(parts)
    assert str(head).endswith("[Question]\nGiven ")
    assert rest == [
        1,
        " and ",
        0,
        " find x.\n\nLet's think step-by-step!".replace(" find", ", find"),
    ]
    image = parts[1]
    assert isinstance(image, ImagePart)
    assert image.path == str(Path("data/frozen/images/1.png"))


def test_choices_have_letters_and_picture_choices_are_pictures() -> None:
    choices = [
        Choice(label="A", text="two"),
        Choice(label="B", image=1),
        Choice(label="C", image=0),
    ]
    question = Question(id="p", question="Which?", images=figures(2), choices=choices)
    head, *rest = shape(parts_of(question, Setting(prompt="direct")))
    assert str(head).endswith("[Question]\nWhich?\n\n[Choices]\nA. two\nB. ")
    assert rest == [1, "\nC. ", 0]


def test_an_open_problem_has_no_block_of_choices() -> None:
    (text,) = shape(parts_of(Question(id="p", question="Why?")))
    assert "[Choices]" not in str(text)
    assert str(text).endswith("[Question]\nWhy?\n\nLet's think step-by-step!")


def test_images_that_are_marked_nowhere_follow_the_question_in_order() -> None:
    question = Question(id="p", question="See [IMAGE1].", images=figures(3))
    assert [p for p in shape(parts_of(question)) if isinstance(p, int)] == [1, 0, 2]


@pytest.mark.parametrize(("images", "shown"), [("all", [2, 0, 1]), ("first", [2]), ("none", [])])
def test_a_hidden_image_leaves_words(images: str, shown: list[int]) -> None:
    choices = [Choice(label="A", image=0), Choice(label="B", image=1)]
    question = Question(id="p", question="In [IMAGE2]?", images=figures(3), choices=choices)
    parts = shape(parts_of(question, Setting(images=images)))
    assert [p for p in parts if isinstance(p, int)] == shown
    assert sum(str(p).count(NOT_SHOWN) for p in parts) == 3 - len(shown)


def test_emma_writes_its_own_labels() -> None:
    question = Question(
        id="p", question="<image_1> How many?", choices=[Choice(label="A", text="3")]
    )
    (text,) = shape(parts_of(question, Setting(prompt="emma-direct")))
    assert str(text).startswith("<image_1> How many?\n(A) 3\nAnswer with the option's letter")


WORDS = st.text(st.characters(exclude_characters="[]", exclude_categories=("Cs",)), max_size=12)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    count = draw(st.integers(0, 5))
    marks = st.integers(0, count - 1).map(lambda i: f"[IMAGE{i}]") if count else WORDS
    text = "".join(draw(st.lists(st.one_of(WORDS, marks), max_size=8)))
    picture = st.integers(0, count - 1) if count else st.none()
    choices = draw(
        st.none()
        | st.lists(
            st.builds(lambda i, t: (i, t if i is None else None), picture | st.none(), WORDS),
            min_size=2,
            max_size=5,
        )
    )
    made = [
        Choice(label=chr(65 + n), image=i, text=t) for n, (i, t) in enumerate(choices or [])
    ] or None
    return Question(id="p", question=text, images=figures(count), choices=made)


@given(questions(), st.sampled_from(["cot", "direct", "emma-cot", "usnco-v"]))
def test_all_images_are_sent_in_the_order_of_their_marks(question: Question, prompt: str) -> None:
    sent = [p for p in shape(parts_of(question, Setting(prompt=prompt))) if isinstance(p, int)]
    marks = [int(m) for m in IMAGE_MARK.findall(question.question)]
    pictures = [c.image for c in question.choices or [] if c.image is not None]
    loose = [i for i in range(len(question.images)) if i not in {*marks, *pictures}]
    assert sent == [*marks, *loose, *pictures]


@given(questions(), st.sampled_from(["all", "first", "none"]))
def test_no_mark_is_left_and_no_part_is_blank(question: Question, images: str) -> None:
    parts = parts_of(question, Setting(images=images))
    texts = [p.text for p in parts if isinstance(p, TextPart)]
    assert not IMAGE_MARK.search("".join(texts))
    assert all(text.strip() for text in texts)
    distinct = {p for p in shape(parts) if isinstance(p, int)}
    count = len(question.images)
    assert len(distinct) == {"all": count, "first": min(count, 1), "none": 0}[images]


def test_formulas_are_sent_as_they_stand() -> None:
    formula = r"$2\pi\sqrt{\frac{67R}{20g}}$ and $\ce{SO4^2-}$, at \$5 & 7 %"
    choices = [
        Choice(label="A", text=rf"${{}}_{{2}}^{{4}}x'$ {formula}"),
        Choice(label="B", text="$x$"),
    ]
    question = Question(id="p", question=f"Find {formula}.", images=[], choices=choices)
    text = "".join(str(part) for part in shape(parts_of(question)))
    assert text.count(formula) == 2
    assert rf"A. ${{}}_{{2}}^{{4}}x'$ {formula}" in text
