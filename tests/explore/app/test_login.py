"""Who is let in where others than this machine can reach the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.explore.app.conftest import Open

from omibench.explore.app.settings import ExplorerSources
from omibench.web.server import ATTEMPTS_OF_NAME

SECRET = "a secret of thirty-two characters"
TLS = {"origin": "https://explore.example", "secret": SECRET.encode()}


@pytest.fixture
def stranger(open_client: Open, results: Path) -> Any:
    """A browser that has not logged in."""
    client = open_client(ExplorerSources(results / "freeze"), **TLS)
    client.base_url = "https://explore.example"
    client.follow_redirects = False
    return client


def test_nothing_is_shown_before_the_login(stranger: Any) -> None:
    page = stranger.get("/items/x?a=1", headers={"accept": "text/html"})
    assert page.status_code == 303
    assert page.headers["location"] == "/login?target=%2Fitems%2Fx%3Fa%3D1"
    for address in ("/api/study", "/pictures/" + "0" * 64, "/api/sent/x"):
        assert stranger.get(address).status_code == 401
    assert stranger.post("/api/notes", json={}).status_code == 401
    assert stranger.get("/healthz").status_code == 200
    assert 'value="/items/x?a=1"' in stranger.get("/login?target=/items/x%3Fa%3D1").text


def test_the_secret_lets_in_for_this_name_alone(stranger: Any) -> None:
    answer = stranger.post("/login", data={"secret": f" {SECRET} ", "target": "/items/x"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/items/x")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-omibench-explore=")
    for attribute in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert attribute in cookie
    assert stranger.get("/api/study").status_code == 200
    stranger.cookies.clear()
    forged = {"cookie": "__Host-omibench-explore=forged.a.b"}
    assert stranger.get("/api/study", headers=forged).status_code == 401


def test_few_attempts_are_made(stranger: Any) -> None:
    for _ in range(ATTEMPTS_OF_NAME):
        assert stranger.post("/login", data={"secret": "guess"}).status_code == 401
    assert stranger.post("/login", data={"secret": SECRET}).status_code == 429


def test_a_login_leads_to_no_other_site(stranger: Any) -> None:
    answer = stranger.post("/login", data={"secret": SECRET, "target": "//evil.example"})
    assert answer.headers["location"] == "/"
    hostile = stranger.get("/login", params={"target": '/"><script>alert(1)</script>'})
    assert "<script>alert" not in hostile.text


def test_without_a_secret_there_is_no_login(open_client: Open, results: Path) -> None:
    client = open_client(ExplorerSources(results / "freeze"))
    assert client.get("/api/study").status_code == 200
    client.follow_redirects = False
    assert client.post("/login", data={"secret": "x"}).headers["location"] == "/"
