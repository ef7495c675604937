from __future__ import annotations

from omibench.text.visible import HEAD_CHARS, TAIL_CHARS, drop_hidden_text, find_answering_part


def test_thinking_is_no_part_of_the_answer() -> None:
    assert drop_hidden_text("<think>maybe A</think> B") == "B"
    assert drop_hidden_text("<think>a</think> x <think>b</think> y") == "y"
    assert find_answering_part("<think>still at it") == ""
    assert find_answering_part("B <think>or C") == "B "
    assert drop_hidden_text("a < b </thinkers> c") == "a < b </thinkers> c"


def test_invisible_and_full_width_characters_become_plain() -> None:
    assert drop_hidden_text("\u200b答案:\uff22\x00") == "答案:B"
    assert drop_hidden_text("\u202eB\u202c") == "B"
    plain = "".join(map(chr, range(128)))
    assert drop_hidden_text(f"{plain}é") == f"{drop_hidden_text(f'{plain}e')[:-1]}é"
    assert drop_hidden_text(f"a{plain}") == "a\t\n\n" + plain[32:127]


def test_of_a_long_text_both_ends_are_kept() -> None:
    text = "HEAD" + "x" * 1_000_000 + "TAIL"
    kept = drop_hidden_text(text)
    assert kept.startswith("HEAD")
    assert kept.endswith("TAIL")
    assert len(kept) == HEAD_CHARS + TAIL_CHARS + 1
