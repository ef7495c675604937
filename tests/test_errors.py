"""Why a file cannot be read or written, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import reason_of


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "No such file or directory", "x"), "it does not exist"),
        (IsADirectoryError(21, "Is a directory", "x"), "it is a folder, not a file"),
        (NotADirectoryError(20, "Not a directory", "x"), "its path leads through a file"),
        (PermissionError(13, "Permission denied", "x"), "you lack the permission"),
        (OSError(28, "No space left on device", "x"), "No space left on device"),
        (OSError("a reader's\nown words"), "a reader's own words"),
        (ValueError(), "ValueError"),
    ],
)
def test_a_reason_is_in_words(error: Exception, said: str) -> None:
    assert reason_of(error).startswith(said)
    assert "Errno" not in reason_of(error)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"caf\xe9")
    with pytest.raises(UnicodeDecodeError) as found:
        file.read_text("utf-8")
    assert reason_of(found.value) == "it is not UTF-8 text (it contains the byte 0xe9)"
