"""A session ends with the login, the password, the day, or the person's place in the list."""

from __future__ import annotations

import json
from pathlib import Path

from omibench.review.app.database import set_password
from omibench.web.server import ATTEMPTS_OF_NAME, WINDOW_S
from review_app.builders import (
    PEOPLE,
    Clock,
    log_in,
    make_service,
    open_browser,
    open_client,
)


def test_a_session_that_was_ended_is_ended_for_copies_too(tmp_path: Path) -> None:
    ann = open_browser(make_service(tmp_path), "ann")
    assert ann.client.get("/").status_code == 200
    assert ann.client.post("/logout", data={"csrf": "another"}).status_code == 403
    answer = ann.client.post("/logout", data={"csrf": ann.token})
    assert answer.headers["location"] == "/login"
    # The browser of this test sends the cookie on.
    assert ann.client.get("/").status_code == 401


def test_another_password_ends_all_sessions(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    with service.database.write() as connection:
        set_password(connection, "ann", "another password")
    assert ann.client.get("/").status_code == 401


def test_who_is_no_longer_in_the_list_is_out(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    others = [person for person in PEOPLE if person["name"] != "ann"]
    (tmp_path / "reviewers.yaml").write_text(json.dumps(others))
    assert ann.client.get("/").status_code == 401
    assert log_in(open_client(service), "ann").status_code == 401


def test_a_cookie_that_was_changed_or_signed_elsewhere_is_none(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    cookie = str(ann.client.headers["cookie"])
    for text in (cookie[:-2] + "xx", cookie.replace("=", "=W10", 1), "omibench-review-0=x"):
        ann.client.headers["cookie"] = text
        assert ann.client.get("/").status_code == 401
    stranger = open_client(service)  # another secret
    stranger.headers["cookie"] = cookie
    assert stranger.get("/").status_code == 401


def test_after_some_wrong_passwords_the_right_one_has_to_wait(tmp_path: Path) -> None:
    clock = Clock()
    service = make_service(tmp_path, clock=clock)
    client = open_client(service)
    limit = client.app.state.context.login_limit  # type: ignore[attr-defined]
    for _ in range(ATTEMPTS_OF_NAME - 1):
        limit.add_failure("ann", "elsewhere", clock().timestamp())
    assert log_in(client, "ann", "wrong").status_code == 401
    answer = log_in(client, "ann")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, str(int(WINDOW_S) + 1))
    assert "Too many attempts" in answer.text
    clock.advance(WINDOW_S)
    assert log_in(client, "ann").status_code == 303
