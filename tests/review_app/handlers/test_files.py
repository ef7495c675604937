"""Pictures by look-up, and what programs ask."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from omibench.review.app.context import ServerSettings
from omibench.review.folder import compute_head, read_decisions
from omibench.schemas.review import TaskPicture
from review_app.builders import make_service, make_task, open_browser, open_client

DATA = b"\x89PNG\r\n\x1a\n and the rest of it"
SHA256 = hashlib.sha256(DATA).hexdigest()


def write_picture(folder: Path, name: str, data: bytes) -> None:
    (folder / "pictures").mkdir(exist_ok=True)
    (folder / "pictures" / name).write_bytes(data)


def test_a_picture_of_a_task_is_sent_as_what_it_is(tmp_path: Path) -> None:
    picture = TaskPicture(sha256=SHA256, suffix="png")
    service = make_service(tmp_path, [make_task(1, pictures=[picture])])
    write_picture(tmp_path, f"{SHA256}.png", DATA)
    answer = open_browser(service, "ann").client.get(f"/pictures/{SHA256}")
    assert (answer.status_code, answer.content) == (200, DATA)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
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
    picture = TaskPicture(sha256=SHA256, suffix="png")
    service = make_service(tmp_path, [make_task(1, pictures=[picture])])
    write_picture(tmp_path, f"{SHA256}.png", DATA)
    answer = open_browser(service, "ann").client.get(address)
    assert answer.status_code in {400, 404}
    assert "reviewers" not in answer.text


def test_a_picture_whose_file_is_another_or_a_link_is_not_there(tmp_path: Path) -> None:
    picture = TaskPicture(sha256=SHA256, suffix="png")
    service = make_service(tmp_path, [make_task(1, pictures=[picture])])
    client = open_browser(service, "ann").client
    write_picture(tmp_path, f"{SHA256}.png", b"another")
    assert client.get(f"/pictures/{SHA256}").status_code == 404
    (tmp_path / "pictures" / f"{SHA256}.png").unlink()
    (tmp_path / "elsewhere").write_bytes(DATA)
    (tmp_path / "pictures" / f"{SHA256}.png").symlink_to(tmp_path / "elsewhere")
    assert client.get(f"/pictures/{SHA256}").status_code == 404


def test_a_picture_of_a_task_of_others_is_not_there(tmp_path: Path) -> None:
    picture = TaskPicture(sha256=SHA256, suffix="png")
    task = make_task(1, pictures=[picture], people={"annotator": ["ann"], "auditor": ["bob"]})
    service = make_service(tmp_path, [task])
    write_picture(tmp_path, f"{SHA256}.png", DATA)
    codes = {
        name: open_browser(service, name).client.get(f"/pictures/{SHA256}").status_code
        for name in ("ann", "abe", "bob", "eve")
    }
    assert codes == {"ann": 200, "abe": 404, "bob": 200, "eve": 200}


def test_metrics_are_for_this_machine_and_for_seniors(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    open_browser(service, "ann").decide("item:p1")
    head = compute_head(read_decisions(tmp_path / "decisions.jsonl").require_whole())
    local = open_client(service)
    local._transport.client = ("127.0.0.1", 1)  # type: ignore[attr-defined]
    text = local.get("/metrics").text
    assert f'omibench_review_head_info{{sha256="{head}"}} 1' in text
    assert "omibench_review_events_total 1\n" in text
    assert 'omibench_review_tasks{kind="item",status="audit"} 1' in text
    assert open_client(service).get("/metrics").status_code == 401
    assert open_browser(service, "ann").client.get("/metrics").status_code == 403
    assert open_browser(service, "eve").client.get("/metrics").text == text
    behind = open_client(service, ServerSettings(origin="https://review.example"))
    behind._transport.client = ("127.0.0.1", 1)  # type: ignore[attr-defined]
    assert behind.get("/metrics").status_code == 401


def test_the_server_says_that_it_is_there(tmp_path: Path) -> None:
    assert open_client(make_service(tmp_path)).get("/healthz").text == "ok\n"
