"""Presenting: every image exactly where it is marked, as many as are meant, and no more words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from omibench.params.setting import Setting
from omibench.schemas.problem import IMAGE_MARK, Choice, Figure, Question
from omibench.schemas.request import Part, TextPart
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
