"""The application as browsers meet it: login, tasks, decisions, who may see what."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.routing import Route

from omibench.review.app.application import ROUTES
from review_app.builders import (
    BAD,
    GOOD,
    find_token,
    log_in,
    make_service,
    make_task,
    open_browser,
    open_client,
    status_of,
)

HTML = {"accept": "text/html"}


def test_pages_ask_for_a_login_and_lead_back(tmp_path: Path) -> None:
    client = open_client(make_service(tmp_path))
    page = client.get("/tasks/item%3Ap1", headers=HTML)
    assert (page.status_code, page.headers["location"]) == (
        303,
        "/login?target=%2Ftasks%2Fitem%3Ap1",
    )
    assert client.get("/", headers={"accept": "*/*"}).status_code == 401
    answer = log_in(client, "ann", target="/tasks/item%3Ap1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks/item%3Ap1")
    assert client.get("/tasks/item%3Ap1", headers=HTML).status_code == 200


def test_wrong_names_and_passwords_are_told_in_the_same_words(tmp_path: Path) -> None:
    client = open_client(make_service(tmp_path))
    wrong, unknown = log_in(client, "ann", "wrong"), log_in(client, "nobody", "wrong")
    assert wrong.status_code == unknown.status_code == 401
    assert "Wrong name or password." in wrong.text
    assert "Wrong name or password." in unknown.text


def test_an_item_goes_from_annotator_to_auditor_to_the_end(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, bob = open_browser(service, "ann"), open_browser(service, "bob")
    answer = ann.decide("item:p1", **GOOD)
    assert (answer.status_code, answer.json()["next"]) == (201, "/tasks/item%3Ap2")
    assert status_of(service, "item:p1") == "audit"
    assert bob.decide("item:p1", **GOOD).status_code == 201
    assert status_of(service, "item:p1") == "settled"


def test_a_difference_goes_to_the_senior_who_sees_the_history(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, bob, eve = (open_browser(service, name) for name in ("ann", "bob", "eve"))
    ann.decide("item:p1", **GOOD)
    bob.decide("item:p1", **BAD)
    assert "/tasks/item%3Ap1" in eve.client.get("/").text
    document = eve.open("item:p1")
    assert document["state"] == {
        "status": "escalated",
        "rounds": 1,
        "differences": ["valid", "quality"],
    }
    assert ann.open("item:p1")["state"] == {"status": None, "rounds": 0, "differences": []}
    assert "scalated" not in ann.client.get("/").text + bob.client.get("/").text
    people = [(entry["person"], entry["fields"]["valid"]) for entry in document["history"]]
    assert people == [("ann", "valid"), ("bob", "invalid")]
    assert eve.decide("item:p1", **BAD).status_code == 201
    assert eve.open("item:p1")["state"]["status"] == "settled"


def test_a_request_without_the_token_of_its_session_changes_nothing(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    ann.open("item:p1")
    ann.token = "another"
    answer = ann.send("item:p1")
    assert (answer.status_code, answer.json()["reason"]) == (403, "csrf")
    assert ann.open("item:p1")["history"] == []
    client = open_client(service)
    find_token(client)
    form = {"csrf": "another", "name": "ann", "password": "wrong"}
    assert client.post("/login", data=form).status_code == 403


OPEN_TO_ALL = {("GET", "/login"), ("POST", "/login"), ("POST", "/logout"), ("GET", "/healthz")}


def list_addresses() -> list[tuple[str, str]]:
    return [
        (method, route.path.replace("{task:path}", "item%3Ap1").replace("{sha256}", "0" * 64))
        for route in ROUTES
        if isinstance(route, Route)
        for method in sorted((route.methods or set()) - {"HEAD"})
    ]


@pytest.mark.parametrize(("method", "address"), list_addresses())
def test_nothing_is_given_or_taken_without_a_login(
    tmp_path: Path, method: str, address: str
) -> None:
    service = make_service(tmp_path)
    client = open_client(service)
    answer = client.request(method, address, json={}, headers={"x-csrf-token": "x"})
    if (method, address) in OPEN_TO_ALL:
        assert answer.status_code in {200, 303, 403}
        assert "Why 1?" not in answer.text
        return
    assert (answer.status_code, answer.json()["reason"]) == (401, "login")
    visit = find_token(client)  # a session in which nobody has logged in
    answer = client.request(method, address, json={}, headers={"x-csrf-token": visit})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "name", ["steps:a/b c/é#2?x", "steps:../../p", "item:p/claim", "x&<script>", "a; b=c+d"]
)
def test_an_id_of_any_signs_is_one_address(tmp_path: Path, name: str) -> None:
    ann = open_browser(make_service(tmp_path, [make_task(1, id=name), make_task(2)]), "ann")
    assert ann.open(name)["task"]["id"] == name
    assert ann.send(name, "draft", "PUT").status_code == 204
    assert ann.send(name, "claim").status_code == 204
    assert ann.send(name).json()["next"] == "/tasks/item%3Ap2"
