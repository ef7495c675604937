"""Tokenizers by name, for measuring the length of rationales."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Final

from omibench.errors import ParamsError, reason_of
from omibench.extras import require_extra
from omibench.files.intake import read_bytes, read_text
from omibench.params.stages.rationale import WORDS

CountTokens = Callable[[str], int]
"""Returns the number of tokens of a text."""
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")


def open_tokenizer(name: str, option: str = "rationale.tokenizer") -> CountTokens:
    """Return the tokenizer with a name.

    Args:
        name: `words`, where each word, number, Chinese character and sign is a token; or the path
            of a model's `tokenizer.json`, which transformers reads.
        option: The option with the name, for messages.

    Returns:
        A function that counts tokens, without start and end tokens.

    Raises:
        ParamsError: The file is not a tokenizer.
        MissingInputError: The file does not exist.
        MissingExtraError: The package is not installed.
    """
    if name == WORDS:
        return count_words
    read_text(name)
    require_extra("transformers", f"{option}: {name}", "transformers")
    from transformers import PreTrainedTokenizerFast

    try:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=name)
    except Exception as error:  # the package raises bare exceptions
        raise ParamsError(f"{option}: {name} is not a tokenizer.json: {reason_of(error)}") from None
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))


def count_words(text: str) -> int:
    """Return the words, numbers, Chinese characters and signs of a text."""
    return len(_WORD.findall(text))


def describe_tokenizer(name: str) -> str:
    """Describe a tokenizer; one from a file by its hash. Raises as `read_bytes`."""
    if name == WORDS:
        return "`words`: each word, number, Chinese character and sign is a token"
    digest = hashlib.sha256(read_bytes(name)).hexdigest()
    return f"the tokenizer of the file with the SHA-256 `{digest}`"
