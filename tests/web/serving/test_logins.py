"""The number of attempts."""

from __future__ import annotations

from omibench.web.serving.logins import (
    ATTEMPTS_OF_ADDRESS,
    ATTEMPTS_OF_NAME,
    WINDOW_S,
    LoginLimit,
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
