"""The names of servers, as requests state them."""

from __future__ import annotations

import pytest

from omibench.web.address import strip_port


@pytest.mark.parametrize(
    ("host", "name"),
    [("A.example:80", "a.example"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("a", "a"), ("", "")],
)
def test_a_port_is_no_part_of_a_name(host: str, name: str) -> None:
    assert strip_port(host) == name
