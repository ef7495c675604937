"""Where the explorer shows the pictures that a model drew in its response."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.analyze.explorer.requests import LONGEST, place_drawn, shorten_response


@given(st.text(max_size=30), st.data())
def test_a_place_is_counted_as_scripts_count(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    units = text.encode("utf-16-le", "surrogatepass")
    at = place_drawn(text, [place], 0)
    assert units[: 2 * at].decode("utf-16-le", "surrogatepass") == text[:place]


def test_a_picture_without_a_place_follows_the_text() -> None:
    assert place_drawn("abc", [], 0) == place_drawn("abc", [1], 1) == 3


def test_places_follow_the_text_through_its_cut() -> None:
    half = LONGEST // 2
    text = "a" * half + "b" * 500 + "c" * half
    shown = shorten_response(text)
    early, inside, late, last = (
        place_drawn(text, [place], 0) for place in (7, half + 9, half + 510, len(text))
    )
    assert (early, last) == (7, len(shown))
    assert half <= inside <= shown.index("c" * half)
    assert shown[late:] == "c" * (half - 10)
