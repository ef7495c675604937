"""Where a login leads."""

from __future__ import annotations

import pytest

from omibench.review_app.handlers.pages import choose_target


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
