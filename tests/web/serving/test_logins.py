"""The number of attempts, and where a login leads."""

from __future__ import annotations

import pytest

from omibench.web.server import (
    ATTEMPTS_OF_ADDRESS,
    ATTEMPTS_OF_NAME,
    WINDOW_S,
    LoginLimit,
    choose_target,
)


def test_few_attempts_are_made_for_one_name_and_from_one_address() -> None:
    limit = LoginLimit()
    for number in range(ATTEMPTS_OF_NAME):
        assert limit.find_wait("ann", "a", 0) == 0
        limit.add_failure("ann", f"address {number}", number)
    assert limit.find_wait("ann", "another", 10) == WINDOW_S - 10
    assert limit.find_wait("ann", "another", WINDOW_S) == 0
    limit.forget_name("ann")
    assert limit.find_wait("ann", "another", 10) == 0
    for number in range(ATTEMPTS_OF_ADDRESS):
        limit.add_failure(f"name {number}", "a", 0)
    assert limit.find_wait("abe", "a", 1) == WINDOW_S - 1


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
