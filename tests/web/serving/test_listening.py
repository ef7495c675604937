"""Where the server listens, and what it needs for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import MissingInputError, OutputError, ParamsError
from omibench.web.address import ServedAddress, check_listening, open_listener, read_secret

TLS = "https://review.example.org"


@pytest.mark.parametrize(
    ("host", "has_secret", "origin"),
    [("127.0.0.1", False, ""), ("::1", False, ""), ("0.0.0.0", True, TLS), ("10.0.0.2", True, TLS)],
)
def test_it_listens_on_this_machine_or_behind_tls(host: str, has_secret: bool, origin: str) -> None:
    check_listening(host, has_secret, origin)


@pytest.mark.parametrize(
    ("host", "has_secret", "origin", "message"),
    [
        ("0.0.0.0", False, "", "requires TLS"),
        ("0.0.0.0", True, "", "requires TLS"),
        ("review.example.org", True, "", "requires TLS"),
        ("::", True, "", "requires TLS"),
        ("127.0.0.1", False, TLS, "--secret-file"),
        ("0.0.0.0", True, "http://review.example.org", "give the address"),
        ("0.0.0.0", True, "review.example.org", "give the address"),
        ("0.0.0.0", True, f"{TLS}/path", "give the address"),
    ],
)
def test_it_refuses_to_be_reached_without(
    host: str, has_secret: bool, origin: str, message: str
) -> None:
    with pytest.raises(ParamsError, match=message):
        check_listening(host, has_secret, origin)


def test_a_secret_is_long_and_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with pytest.raises(MissingInputError, match="cannot be read"):
        read_secret(path)
    path.write_text("x" * 40 + "\n")
    path.chmod(0o644)
    with pytest.raises(ParamsError, match="chmod 600"):
        read_secret(path)
    path.chmod(0o600)
    assert read_secret(path) == b"x" * 40
    path.write_text("short")
    with pytest.raises(ParamsError, match="5 bytes but needs 32"):
        read_secret(path)


def test_an_address_that_is_taken_is_named() -> None:
    with pytest.raises(OutputError, match=r"--host 192\.0\.2\.1 --port 1: cannot listen"):
        open_listener(ServedAddress(host="192.0.2.1", port=1))
