"""The hash of a file is that of its bytes; what is no file is one line."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from omibench.errors import MissingInputError
from omibench.files.reading import hash_file


@pytest.mark.parametrize("size", [0, 1, 300_000])
def test_a_file_is_hashed_whole(tmp_path: Path, size: int) -> None:
    content = b"\x07" * size
    (tmp_path / "file").write_bytes(content)
    assert hash_file(tmp_path / "file") == hashlib.sha256(content).hexdigest()


def test_what_is_no_regular_file_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("pipe", "named pipe"), ("absent", "does not exist"), (".", "a folder")):
        with pytest.raises(MissingInputError, match=why):
            hash_file(tmp_path / name)
