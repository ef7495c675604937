"""No text holds a control token when it reaches a chat template."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from omibench.models.local.prompts import defuse, special_tokens

SPECIALS = frozenset({"<|im_end|>", "<|im_start|>", "</s>", "aa"})
WORDS = st.lists(st.sampled_from([*SPECIALS, "<|im_", "end|>", "a", "x < y", "é"])).map("".join)


@given(WORDS)
def test_no_control_token_is_left_and_no_other_character_is_lost(text: str) -> None:
    safe = defuse(text, SPECIALS)
    assert not any(token in safe for token in SPECIALS)
    assert safe.replace(" ", "") == text.replace(" ", "")


def test_control_tokens_are_those_marked_special() -> None:
    tokenizer = SimpleNamespace(
        all_special_tokens=["<s>", " "],
        added_tokens_decoder={
            1: Added("<|image_pad|>", special=True),
            2: Added("<think>", special=False),
        },
    )
    assert special_tokens(tokenizer) == {"<s>", "<|image_pad|>"}


class Added(str):
    """A token as `tokenizers` has it: its text, and whether it is special."""

    special: bool

    def __new__(cls, text: str, special: bool) -> Added:
        made = super().__new__(cls, text)
        made.special = special
        return made
