"""What other sites may not do."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.review.app.context import ServerSettings
from review_app.builders import make_service, open_browser, open_client


def test_every_answer_has_the_policy(tmp_path: Path) -> None:
    client = open_client(make_service(tmp_path))
    for address in ("/login", "/nowhere", "/static/app.css", "/healthz"):
        headers = client.get(address).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
    assert client.get("/login").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_request_from_another_site_changes_nothing(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    ann = open_browser(make_service(tmp_path), "ann")
    ann.open("item:p1")
    ann.client.headers.update(headers)
    assert ann.send("item:p1").status_code == 403
    assert ann.open("item:p1")["history"] == []


def test_a_name_that_points_here_is_no_name_of_the_server(tmp_path: Path) -> None:
    client = open_client(make_service(tmp_path))
    assert client.get("/login", headers={"host": "evil.example"}).status_code == 403
    for host in ("localhost:8765", "127.0.0.1", "[::1]:8765"):
        assert client.get("/login", headers={"host": host}).status_code == 200


def test_behind_tls_cookies_are_for_this_name_alone(tmp_path: Path) -> None:
    settings = ServerSettings(origin="https://review.example")
    client = open_client(make_service(tmp_path), settings)
    answer = client.get("/login", headers={"host": "review.example"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-omibench-review=")
    for attribute in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert attribute in cookie
    assert "max-age" in answer.headers["strict-transport-security"]
