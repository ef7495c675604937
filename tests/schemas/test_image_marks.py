from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from omibench.schemas.image_marks import (
    list_image_marks,
    pair_with_pictures,
    split_at_image_marks,
)

TEXTS = st.lists(st.sampled_from(["[IMAGE0]", "[IMAGE12]", "[IMAGE", "]", "a", " ", "\n"]))


def test_text_and_pictures_stand_in_turn() -> None:
    text = "Compare [IMAGE0] with [IMAGE1][IMAGE0]"
    assert split_at_image_marks(text) == ["Compare ", 0, " with ", 1, "", 0, ""]
    assert list_image_marks(text) == [0, 1, 0]
    assert split_at_image_marks("[IMAGE]") == ["[IMAGE]"]


@given(TEXTS)
def test_nothing_is_lost(words: list[str]) -> None:
    text = "".join(words)
    runs = split_at_image_marks(text)
    assert "".join(run if isinstance(run, str) else f"[IMAGE{run}]" for run in runs) == text
    assert [run for run in runs if isinstance(run, int)] == list_image_marks(text)


def test_every_run_is_paired_with_the_picture_behind_it() -> None:
    text = "A [IMAGE1] b [IMAGE0] c [IMAGE7]"
    assert pair_with_pictures(text, ["first", "second"]) == [
        ("A ", "second"), (" b ", "first"), (" c ", None), ("", None),
    ]  # fmt: skip
