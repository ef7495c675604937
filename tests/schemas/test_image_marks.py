from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from omibench.schemas.problem import list_image_marks, split_at_image_marks

TEXTS = st.lists(st.sampled_from(["[IMAGE0]", "[IMAGE12]", "[IMAGE", "]", "a", " ", "\n"]))


@given(TEXTS)
def test_nothing_is_lost(words: list[str]) -> None:
    text = "".join(words)
    runs = split_at_image_marks(text)
    assert "".join(run if isinstance(run, str) else f"[IMAGE{run}]" for run in runs) == text
    assert [run for run in runs if isinstance(run, int)] == list_image_marks(text)
