from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from omibench.text.boxes import MAX_BOXES, find_boxes, find_literal_boxes

balanced = st.recursive(
    st.text(alphabet="ab12+-\\, ", max_size=8).map(lambda s: s.replace("\\", "\\alpha ")),
    lambda inner: st.lists(inner, max_size=3).map(lambda xs: "".join(f"{{{x}}}" for x in xs)),
    max_leaves=6,
)


@given(balanced, st.text(alphabet="xyz .{", max_size=20))
def test_a_balanced_box_comes_back_whole(content: str, before: str) -> None:
    assert find_boxes(f"{before}\\boxed{{{content}}} done").closed[-1] == content


@given(st.text(alphabet="{}\\boxed x", max_size=200))
def test_any_braces_are_survived(text: str) -> None:
    found = find_boxes(text)
    assert all(box in text for box in found.closed)


def test_spellings_of_a_box() -> None:
    assert find_boxes("boxed{B}").closed == ["B"]
    assert find_boxes(r"\boxed {C}").closed == ["C"]
    assert find_boxes(r"\fbox{D}").closed == ["D"]
    assert find_boxes(r"\boxed{\{1,2\}}").closed == [r"\{1,2\}"]


def test_a_box_in_a_box_is_part_of_the_outer_one() -> None:
    assert find_boxes(r"\boxed{x = \boxed{5}} and \boxed{6}").closed == [r"x = \boxed{5}", "6"]


def test_a_box_that_is_never_closed_is_told_apart() -> None:
    assert find_boxes(r"so \boxed{\frac{1}{2}")[:2] == ([], r"\frac{1}{2}")
    assert find_boxes("\\boxed{" + "x" * 500)[:2] == ([], None)


def test_a_hundred_thousand_open_boxes_cost_little() -> None:
    began = time.process_time()
    assert find_boxes("\\boxed{" * 100_000).closed == []
    assert len(find_boxes("\\boxed{B} " * 50_000).closed) == MAX_BOXES
    assert time.process_time() - began < 2


def test_literal_boxes_count_every_brace_as_published() -> None:
    assert find_literal_boxes(r"\boxed{a{b}c} \boxed{d}") == ["a{b}c", "d"]
    assert find_literal_boxes(r"\boxed{a \boxed{b}") == []
    assert find_literal_boxes("\\boxed{" * 100_000) == []


PIECES = st.lists(
    st.sampled_from(
        ["box", "boxed{", r"\boxed{", r"\fbox {", "fbox", "{", "}", r"\{", "7", " ", "xboxed"]
    ),
    max_size=8,
).map("".join)


@given(PIECES)
def test_one_more_box_changes_no_other(text: str) -> None:
    found = find_boxes(text)
    if found.unclosed is None:
        assert find_boxes(text + r" so \boxed{z}").closed == [*found.closed, "z"]
