"""A prompt of one's own is read whole, or one line says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.files.prompt_file import read_prompt


def test_the_text_is_read_without_white_space_around_it(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("\n Say what you see.\n\n Then stop. \n", "utf-8")
    assert read_prompt(str(tmp_path / "own.txt"), "captioner") == "Say what you see.\n\n Then stop."


@pytest.mark.parametrize(
    ("content", "why"), [(b" \n", "is empty"), (b"\xff", "is not UTF-8"), (None, "does not exist")]
)
def test_what_cannot_be_used_is_named(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "own.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ParamsError, match=f"own.txt: the prompt of the captioner.*{why}"):
        read_prompt(str(file), "captioner")
