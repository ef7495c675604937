from __future__ import annotations

from omibench.text.visible import HEAD_CHARS, TAIL_CHARS, answering_part, visible


def test_thinking_is_no_part_of_the_answer() -> None:
    assert visible("<think>maybe A</think> B") == "B"
    assert visible("<think>a</think> x <think>b</think> y") == "y"
    assert answering_part("<think>still at it") == ""
    assert answering_part("B <think>or C") == "B "
    assert visible("a < b </thinkers> c") == "a < b </thinkers> c"


def test_invisible_and_full_width_characters_become_plain() -> None:
    assert visible("\u200b答案:\uff22\x00") == "答案:B"
    assert visible("\u202eB\u202c") == "B"
    plain = "".join(map(chr, range(128)))
    assert visible(f"{plain}é") == f"{visible(f'{plain}e')[:-1]}é"
    assert visible(f"a{plain}") == "a\t\n\n" + plain[32:127]


def test_of_a_long_text_both_ends_are_kept() -> None:
    text = "HEAD" + "x" * 1_000_000 + "TAIL"
    kept = visible(text)
    assert kept.startswith("HEAD")
    assert kept.endswith("TAIL")
    assert len(kept) == HEAD_CHARS + TAIL_CHARS + 1
