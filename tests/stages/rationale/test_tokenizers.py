"""A token is what the named tokenizer says."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from omibench.errors import MissingInputError, OmibenchError, ParamsError
from omibench.stages.rationale.degenerate import open_tokenizer


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("The cart, 12.5 m", 7), ("由图一得速度。", 7), ("a_b c", 2)],
)
def test_words_numbers_characters_and_signs(text: str, count: int) -> None:
    assert open_tokenizer("words")(text) == count


class _Halves:
    """Stands in for a tokenizer of transformers: two characters a token."""

    def __init__(self, tokenizer_file: str) -> None:
        if "model" not in Path(tokenizer_file).read_text("utf-8"):
            raise Exception("no tokenizer:\nexpected `model`")

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [0] * (len(text) // 2 + 2 * add_special_tokens)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("transformers")
    module.__spec__ = ModuleSpec("transformers", None)
    module.PreTrainedTokenizerFast = _Halves
    monkeypatch.setitem(sys.modules, "transformers", module)


@pytest.mark.usefixtures("package")
def test_a_file_is_the_tokenizer_of_a_model(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text('{"model": {}}')
    assert open_tokenizer(str(file))("four" * 3) == 6


@pytest.mark.usefixtures("package")
def test_a_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    with pytest.raises(
        ParamsError, match=r"is not a tokenizer\.json: no tokenizer: expected `model`$"
    ):
        open_tokenizer(str(file))


def test_a_file_that_is_not_there_or_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="wrods"):
        open_tokenizer(str(tmp_path / "wrods"))
    with pytest.raises(OmibenchError):
        open_tokenizer(str(tmp_path))
