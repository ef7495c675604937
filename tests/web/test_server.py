"""Where a server listens, what it takes, and whom it lets in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import MissingInputError, OutputError, ParamsError
from omibench.web.address import (
    ServedAddress,
    check_listening,
    open_listener,
    read_secret,
    strip_port,
)
from omibench.web.bodies import RequestError, parse_object
from omibench.web.server import (
    ATTEMPTS_OF_ADDRESS,
    ATTEMPTS_OF_NAME,
    WINDOW_S,
    LoginLimit,
    choose_target,
)

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


@pytest.mark.parametrize(
    "body",
    [b"", b"[1]", b"{", b"\xff", b'{"fields": NaN}', b'{"a": "\\ud800"}', b"[" * 100_000],
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError):
        parse_object(body)


def test_json_that_nests_deeply_is_refused() -> None:
    value: Any = 1
    for _ in range(20):
        value = [value]
    with pytest.raises(RequestError):
        parse_object(json.dumps({"fields": value}).encode())


def test_few_attempts_are_made_for_one_name_and_from_one_address() -> None:
    limit = LoginLimit()
    for number in range(ATTEMPTS_OF_NAME):
        assert limit.find_wait("ann", "a", 0) == 0
        limit.add_failure("ann", f"address {number}", number)
    assert limit.find_wait("ann", "another", 10) == WINDOW_S - 10
    assert limit.find_wait("ann", "another", WINDOW_S) == 0
    limit.take_back("ann", "another", 10)
    assert limit.find_wait("ann", "another", 10) == 0
    for number in range(ATTEMPTS_OF_ADDRESS):
        limit.add_failure(f"name {number}", "a", 0)
    assert limit.find_wait("abe", "a", 1) == WINDOW_S - 1


def test_logins_that_succeed_block_nobody_and_wipe_out_no_failure() -> None:
    limit = LoginLimit()
    for number in range(5 * ATTEMPTS_OF_ADDRESS):
        assert limit.find_wait(f"name {number}", "a", number) == 0
        limit.add_failure(f"name {number}", "a", number)
        limit.take_back(f"name {number}", "a", number)
    for number in range(ATTEMPTS_OF_ADDRESS):
        limit.add_failure(f"guess {number}", "b", number)
        limit.add_failure("mallory", "b", number + 0.5)
        limit.take_back("mallory", "b", number + 0.5)
    assert limit.find_wait("abe", "b", ATTEMPTS_OF_ADDRESS) > 0


def test_what_is_remembered_is_bounded() -> None:
    limit = LoginLimit()
    for number in range(6_000):
        limit.add_failure(f"name {number}", f"address {number}", 0)
    assert len(limit._failures) <= 10_000


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("/tasks/item%3Ap1", "/tasks/item%3Ap1"),
        ("/progress?x=1", "/progress?x=1"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\r\nx: y", "/"),
        ("/" + "x" * 3000, "/"),
        ("", "/"),
    ],
)
def test_a_login_leads_to_no_other_site(text: str, target: str) -> None:
    assert choose_target(text) == target


@pytest.mark.parametrize(
    ("host", "name"),
    [("A.example:80", "a.example"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("a", "a"), ("", "")],
)
def test_a_port_is_no_part_of_a_name(host: str, name: str) -> None:
    assert strip_port(host) == name
