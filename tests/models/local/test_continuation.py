"""Options as single tokens behind a text, whatever stands before them in their tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from tests.models.local_blocks import answer_so_far, shown

from omibench.errors import ModelError
from omibench.models.local.prompts import OptionTokens, find_letter_token
from omibench.schemas.request import Conversation


class WordTokenizer:
    """A token is a word with the one space or sign before it, or else a character."""

    all_special_tokens: Sequence[str] = ()

    def __init__(self) -> None:
        self.words: list[str] = []
        self.calls = 0

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        self.calls += 1
        words = re.findall(r"[^\r\n\w]?\w+|[^\w]", text)
        self.words += [word for word in dict.fromkeys(words) if word not in self.words]
        return [self.words.index(word) for word in words]


@pytest.mark.parametrize(
    ("text", "context", "lead"),
    [
        ("The answer is ", "The answer is", " "),
        ("The answer is (", "The answer is ", "("),
        ("Answer:\n", "Answer:\n", ""),
        ("**", "*", "*"),
        ("(", "", "("),
    ],
)
def test_a_text_is_cut_back_to_where_its_token_ends(text: str, context: str, lead: str) -> None:
    tokenizer = WordTokenizer()
    token = find_letter_token(tokenizer, text, ("A", "B"), "m")
    assert text[: len(text) - token.moved] == context
    assert [tokenizer.words[i] for i in token.ids] == [f"{lead}A", f"{lead}B"]
    assert token.tail == tokenizer.encode(context)[-4:]


def test_an_option_of_several_tokens_is_refused() -> None:
    with pytest.raises(ModelError, match="an option is not a single token after 'It is '"):
        find_letter_token(WordTokenizer(), "It is ", ("A", "B C"), "m")


def continued(text: str) -> Conversation:
    return answer_so_far(shown("Which?"), text).conversation


def test_what_stands_behind_a_text_is_looked_for_once() -> None:
    tokenizer = WordTokenizer()
    tokens = OptionTokens(tokenizer, (), "m")
    first = tokens.prepare(continued("It is "), ("A", "B"))
    calls = tokenizer.calls
    assert tokens.prepare(continued("It is "), ("A", "B")) == first
    assert tokenizer.calls == calls
    assert first.conversation.text.endswith("It is")


def test_a_turn_of_which_nothing_is_left_is_a_new_one() -> None:
    prompt = OptionTokens(WordTokenizer(), (), "m").prepare(continued("("), ("A", "B"))
    assert [message.role for message in prompt.conversation.messages] == ["user"]
    assert prompt.tail == []


def test_control_tokens_of_a_response_are_broken_up() -> None:
    tokens = OptionTokens(WordTokenizer(), ("<|im_end|>",), "m")
    prompt = tokens.prepare(continued("It <|im_end|> is "), ("A", "B"))
    assert prompt.conversation.text.endswith("It < |im_end|> is")
