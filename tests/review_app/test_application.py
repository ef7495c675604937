"""The application as browsers meet it: logins, sessions, pictures, what is posted, other sites."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from omibench.errors import OutputError
from omibench.graph.code_hash import Tree
from omibench.review.app.application import DECISION_BYTES, ROUTES, run_server
from omibench.review.app.context import ServerSettings
from omibench.review.app.database import set_password
from omibench.review.app.service import ReviewService
from omibench.review.folder import compute_head, read_decisions
from omibench.schemas.review import TaskPicture
from omibench.web.server import ATTEMPTS_OF_ADDRESS, ATTEMPTS_OF_NAME, WINDOW_S
from review_app.builders import (
    GOOD,
    PEOPLE,
    Browser,
    Clock,
    find_token,
    log_in,
    make_service,
    make_task,
    open_browser,
    open_client,
)

HTML = {"accept": "text/html"}
DATA = b"\x89PNG\r\n\x1a\n and the rest of it"
SHA256 = hashlib.sha256(DATA).hexdigest()


def test_pages_ask_for_a_login_and_lead_back(service: ReviewService) -> None:
    client = open_client(service)
    page = client.get("/tasks/item%3Ap1", headers=HTML)
    location = page.headers["location"]
    assert (page.status_code, location) == (303, "/login?target=%2Ftasks%2Fitem%3Ap1")
    assert client.get("/", headers={"accept": "*/*"}).status_code == 401
    for name in ("ann", "nobody"):
        answer = log_in(client, name, "wrong")
        assert answer.status_code == 401
        assert "Wrong name or password." in answer.text
    answer = log_in(client, "ann", target="/tasks/item%3Ap1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks/item%3Ap1")
    assert client.get("/tasks/item%3Ap1", headers=HTML).status_code == 200


OPEN_TO_ALL = {("GET", "/login"), ("POST", "/login"), ("POST", "/logout"), ("GET", "/healthz")}


@pytest.mark.parametrize(
    ("method", "address"),
    [
        (method, route.path.replace("{task:path}", "item%3Ap1").replace("{sha256}", "0" * 64))
        for route in ROUTES
        if isinstance(route, Route)
        for method in sorted((route.methods or set()) - {"HEAD"})
    ],
)
def test_nothing_is_given_or_taken_without_a_login(
    service: ReviewService, method: str, address: str
) -> None:
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


def test_a_request_without_the_token_of_its_session_changes_nothing(
    service: ReviewService, ann: Browser
) -> None:
    ann.open("item:p1")
    ann.token = "another"
    answer = ann.send("item:p1")
    assert (answer.status_code, answer.json()["reason"]) == (403, "csrf")
    assert ann.open("item:p1")["history"] == []
    form = {"csrf": "another", "name": "ann", "password": "wrong"}
    client = open_client(service)
    find_token(client)
    assert client.post("/login", data=form).status_code == 403


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
def test_a_request_from_another_site_changes_nothing(ann: Browser, headers: dict[str, str]) -> None:
    ann.open("item:p1")
    ann.client.headers.update(headers)
    assert ann.send("item:p1").status_code == 403
    assert ann.open("item:p1")["history"] == []


def test_every_answer_has_the_policy(service: ReviewService) -> None:
    client = open_client(service)
    for address in ("/login", "/nowhere", "/static/app.css", "/healthz"):
        headers = client.get(address).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
    assert client.get("/login").headers["cache-control"] == "no-store"
    assert client.get("/healthz").text == "ok\n"
    assert client.get("/login", headers={"host": "evil.example"}).status_code == 403
    for host in ("localhost:8765", "127.0.0.1", "[::1]:8765"):
        assert client.get("/login", headers={"host": host}).status_code == 200


def test_behind_tls_cookies_are_for_this_name_alone(service: ReviewService) -> None:
    client = open_client(service, ServerSettings(origin="https://review.example"))
    answer = client.get("/login", headers={"host": "review.example"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-omibench-review=")
    for attribute in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert attribute in cookie
    assert "max-age" in answer.headers["strict-transport-security"]


def test_a_session_that_was_ended_is_ended_for_copies_too(ann: Browser) -> None:
    assert ann.client.get("/").status_code == 200
    assert ann.client.post("/logout", data={"csrf": "another"}).status_code == 403
    answer = ann.client.post("/logout", data={"csrf": ann.token})
    assert answer.headers["location"] == "/login"
    # The browser of this test sends the cookie on.
    assert ann.client.get("/").status_code == 401


def test_another_password_or_list_of_people_ends_sessions(
    service: ReviewService, ann: Browser, abe: Browser
) -> None:
    with service.database.write() as connection:
        set_password(connection, "ann", "another password")
    assert ann.client.get("/").status_code == 401
    assert abe.client.get("/").status_code == 200
    others = [person for person in PEOPLE if person["name"] != "abe"]
    (service.folder / "reviewers.yaml").write_text(json.dumps(others))
    assert abe.client.get("/").status_code == 401
    assert log_in(open_client(service), "abe").status_code == 401


def test_a_cookie_that_was_changed_or_signed_elsewhere_is_none(
    service: ReviewService, ann: Browser
) -> None:
    cookie = str(ann.client.headers["cookie"])
    for text in (cookie[:-2] + "xx", cookie.replace("=", "=W10", 1), "omibench-review-0=x"):
        ann.client.headers["cookie"] = text
        assert ann.client.get("/").status_code == 401
    stranger = open_client(service)  # another secret
    stranger.headers["cookie"] = cookie
    assert stranger.get("/").status_code == 401


@pytest.mark.slow
def test_a_class_may_log_in_from_one_address(tmp_path: Path) -> None:
    client = open_client(make_service(tmp_path))
    for number in range(ATTEMPTS_OF_ADDRESS + 2):
        assert log_in(client, "ann").status_code == 303, number
        client.cookies.clear()


def test_after_some_wrong_passwords_the_right_one_has_to_wait(tmp_path: Path) -> None:
    clock = Clock()
    client = open_client(make_service(tmp_path, clock=clock))
    limit = client.app.state.context.login_limit  # type: ignore[attr-defined]
    for _ in range(ATTEMPTS_OF_NAME - 1):
        limit.add_failure("ann", "elsewhere", clock().timestamp())
    assert log_in(client, "ann", "wrong").status_code == 401
    answer = log_in(client, "ann")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, str(int(WINDOW_S) + 1))
    assert "Too many attempts" in answer.text
    clock.advance(WINDOW_S)
    assert log_in(client, "ann").status_code == 303


@pytest.mark.parametrize(
    "name", ["steps:a/b c/é#2?x", "steps:../../p", "item:p/claim", "x&<script>", "a; b=c+d"]
)
def test_an_id_of_any_signs_is_one_address(tmp_path: Path, name: str) -> None:
    ann = open_browser(make_service(tmp_path, [make_task(1, id=name), make_task(2)]), "ann")
    assert ann.open(name)["task"]["id"] == name
    assert ann.send(name, "draft", "PUT").status_code == 204
    assert ann.send(name, "claim").status_code == 204
    assert ann.send(name).json()["next"] == "/tasks/item%3Ap2"


@pytest.mark.parametrize(
    ("values", "status", "message"),
    [
        ({"fields": {"valid": "valid", "quality": 9}}, 422, "1 to 5"),
        ({"fields": {"valid": "valid"}}, 422, "is missing"),
        ({"fields": GOOD | {"stars": 1}}, 422, "is not a field"),
        ({"fields": [1]}, 400, "fields: "),
        ({"comment": 3}, 400, "comment: "),
        ({"comment": "x" * 200_001}, 400, "comment: "),
        ({"comment": "x" * DECISION_BYTES}, 413, "KiB are not accepted"),
        ({"seconds": -1}, 400, "seconds: "),
        ({"seconds": "1"}, 400, "seconds: "),
        ({"seconds": 1e9}, 400, "seconds: "),
        ({"base": 3}, 400, "base: Input should be a valid string"),
        ({"content_hash": None}, 400, "content_hash: "),
        ({"confirmed": "x"}, 400, "confirmed: "),
    ],
)
def test_a_decision_is_checked(
    ann: Browser, values: dict[str, Any], status: int, message: str
) -> None:
    ann.open("item:p1")
    answer = ann.send("item:p1", **values)
    assert answer.status_code == status
    assert message in answer.json()["message"]
    assert ann.open("item:p1")["history"] == []


def test_line_ends_of_a_browser_are_those_of_the_content(ann: Browser) -> None:
    ann.open("item:p1")
    fields = GOOD | {"question": "one\r\ntwo"}
    assert ann.send("item:p1", fields=fields, comment="a\r\nb").status_code == 201
    (entry,) = ann.open("item:p1")["history"]
    assert (entry["fields"]["question"], entry["comment"]) == ("one\ntwo", "a\nb")


def serve_picture(folder: Path, data: bytes = DATA, **values: Any) -> ReviewService:
    """A review of one task with a picture, whose file has some bytes."""
    picture = TaskPicture(sha256=SHA256, suffix="png")
    (folder / "pictures").mkdir()
    (folder / "pictures" / f"{SHA256}.png").write_bytes(data)
    return make_service(folder, [make_task(1, pictures=[picture], **values)])


def test_a_picture_is_sent_as_what_it_is_to_those_who_see_its_task(tmp_path: Path) -> None:
    people = {"annotator": ["ann"], "auditor": ["bob"]}
    service = serve_picture(tmp_path, people=people)
    answers = {
        name: open_browser(service, name).client.get(f"/pictures/{SHA256}")
        for name in ("ann", "abe", "bob", "eve")
    }
    codes = {name: answer.status_code for name, answer in answers.items()}
    assert codes == {"ann": 200, "abe": 404, "bob": 200, "eve": 200}
    assert answers["ann"].content == DATA
    assert answers["ann"].headers["content-type"] == "image/png"
    assert answers["ann"].headers["x-content-type-options"] == "nosniff"
    assert open_client(service).get(f"/pictures/{SHA256}").status_code == 401


@pytest.mark.parametrize(
    "address",
    [
        f"/pictures/{'9' * 64}",
        "/pictures/..%2Freviewers.yaml",
        "/pictures/../reviewers.yaml",
        "/pictures/%2e%2e/reviewers.yaml",
        "/pictures/..%2f..%2f..%2fetc%2fpasswd",
        f"/pictures/{SHA256}.png",
        "/static/..%2f..%2fserver.py",
        "/static/%2e%2e/server.py",
        "/static/katex/..%2f..%2f..%2fpolicy.py",
    ],
)
def test_no_address_becomes_a_path(tmp_path: Path, address: str) -> None:
    answer = open_browser(serve_picture(tmp_path), "ann").client.get(address)
    assert answer.status_code in {400, 404}
    assert "reviewers" not in answer.text


def test_a_picture_whose_file_is_another_or_a_link_is_not_there(tmp_path: Path) -> None:
    client = open_browser(serve_picture(tmp_path, b"another"), "ann").client
    assert client.get(f"/pictures/{SHA256}").status_code == 404
    (tmp_path / "pictures" / f"{SHA256}.png").unlink()
    (tmp_path / "elsewhere").write_bytes(DATA)
    (tmp_path / "pictures" / f"{SHA256}.png").symlink_to(tmp_path / "elsewhere")
    assert client.get(f"/pictures/{SHA256}").status_code == 404


def test_metrics_are_for_this_machine_and_for_seniors(
    service: ReviewService, ann: Browser, eve: Browser
) -> None:
    ann.decide("item:p1")
    head = compute_head(read_decisions(service.folder / "decisions.jsonl").require_whole())
    text = eve.client.get("/metrics").text
    assert f'omibench_review_head_info{{sha256="{head}"}} 1' in text
    assert "omibench_review_events_total 1\n" in text
    assert 'omibench_review_tasks{kind="item",status="audit"} 1' in text
    assert open_client(service).get("/metrics").status_code == 401
    assert ann.client.get("/metrics").status_code == 403
    for origin, status in (("", 200), ("https://review.example", 401)):
        client = open_client(service, ServerSettings(origin=origin))
        client._transport.client = ("127.0.0.1", 1)  # type: ignore[attr-defined]
        assert client.get("/metrics").status_code == status


def test_an_address_that_is_taken_is_named(service: ReviewService) -> None:
    with pytest.raises(OutputError, match=r"--host 192\.0\.2\.1 --port 1: cannot listen"):
        run_server(service, ServerSettings(host="192.0.2.1", port=1), print)


def test_nothing_that_is_served_imports_pymupdf() -> None:
    """PyMuPDF is under the AGPL: pages are pictures."""
    tree = Tree()
    modules = tree.closure("omibench.review.app", "omibench.cli.review.serve")
    assert {"omibench.review.app.demo", "omibench.review.state"} <= modules
    packages = tree.packages(sorted(modules))
    assert {"starlette", "argon2", "uvicorn"} <= packages
    assert not {"pymupdf", "fitz"} & packages
    assert not {name for name in tree.closure("omibench.review.app") if "stages" in name}
