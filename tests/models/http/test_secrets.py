"""Keys are found in the environment or a file, and shown nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omibench.errors import ModelError
from omibench.models.api.http import read_key
from omibench.text.masking import mask

KEY = "planted-9f8e7d6c5b4a"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMIBENCH_KEYS", raising=False)
    monkeypatch.delenv("A_KEY", raising=False)


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "keys"
    path.write_text(f"# of the lab\nOTHER=1\nexport A_KEY = '{KEY}'\n\n")
    path.chmod(0o600)
    monkeypatch.setenv("OMIBENCH_KEYS", str(path))
    return path


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", f" {KEY}\n")
    key = read_key("A_KEY")
    assert key.get_secret_value() == KEY
    assert KEY not in repr(key) + str(key)


def test_from_a_file(keys: Path) -> None:
    assert read_key("A_KEY").get_secret_value() == KEY


def test_the_environment_comes_first(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "another-key")
    assert read_key("A_KEY").get_secret_value() == "another-key"


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelError, match="the key A_KEY is missing: set the environment variable"):
        read_key("A_KEY")


def test_a_commented_line_is_no_key(keys: Path) -> None:
    keys.write_text(f"#A_KEY={KEY}")
    with pytest.raises(ModelError, match=r"add the line A_KEY=\.\.\. to .*keys"):
        read_key("A_KEY")


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_a_file_that_others_may_read_is_refused(keys: Path) -> None:
    keys.chmod(0o640)
    with pytest.raises(ModelError, match="chmod 600"):
        read_key("A_KEY")


def test_a_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OMIBENCH_KEYS", str(tmp_path / "none"))
    with pytest.raises(ModelError, match="cannot be read: it does not exist"):
        read_key("A_KEY")


def test_what_was_read_is_masked(keys: Path) -> None:
    read_key("A_KEY")
    assert mask(f"no access for {KEY}, sorry") == "no access for ***, sorry"
