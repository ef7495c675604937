"""Served inspection pages: who gets them, and what is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from tests.ocr_view.test_correcting_browser import look_with_doubts
from typer.testing import CliRunner

from command_line import app
from omibench.explore.ocr_view.files import VERSION, LookFiles
from omibench.explore.ocr_view.page import write_scripts
from omibench.explore.ocr_view.serve import make_application
from omibench.stages.ocr.corrections.entry import read_corrections
from omibench.stages.ocr.sources.manifest import select_sources
from omibench.web.address import ServedAddress
from omibench.web.login import SecretLogin

TOKEN = "a token of a test that is long enough"
ENTRY: dict[str, Any] = {
    "paper": "mock.pdf",
    "problem": "2",
    "figure": {"image": 0, "page": 1, "box": [100, 200, 300, 400]},
    "by": "Ana",
}


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    look_with_doubts(folder)
    write_scripts(folder / "scripts")
    return folder


def make_files(folder: Path, corrections: Path) -> LookFiles:
    papers = [folder / "mock.pdf"]
    return LookFiles(folder / "looks", corrections, None, papers, select_sources(papers, None))


@pytest.fixture
def corrections(tmp_path: Path) -> Path:
    return tmp_path / "corrections.yaml"


@pytest.fixture
def client(looked: Path, corrections: Path) -> TestClient:
    files = make_files(looked, corrections)
    served = make_application(files, ServedAddress(), TOKEN.encode(), looked / "scripts")
    return TestClient(served, base_url="http://localhost", follow_redirects=False)


def log_in(client: TestClient) -> dict[str, Any]:
    assert client.get(f"/login?token={TOKEN}").status_code == 303
    values: dict[str, Any] = client.get("/api/corrections").json()
    return values


def save(client: TestClient, state: dict[str, Any], **values: Any) -> Any:
    body = {"entry": ENTRY, "version": state["version"], "replaced": []} | values
    return client.post("/api/corrections", json=body, headers={"x-csrf-token": state["token"]})


@pytest.mark.parametrize(
    "path", ["/", "/mock.pdf.html", "/api/corrections", "/formulas/formulas.js"]
)
def test_nothing_is_shown_without_the_token(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"accept": "text/html"}).status_code == 303
    assert client.post("/api/corrections", json={}).status_code == 401
    assert client.get("/login?token=wrong").status_code == 401
    assert client.post("/login", data={"token": TOKEN}).status_code == 303


def test_a_session_of_the_explorer_is_not_valid_here(client: TestClient) -> None:
    for port, application in ((0, "explore"), (0, "look")):
        login = SecretLogin(TOKEN.encode(), application, is_secure=False, port=port)
        response = Response()
        login.let_in(response)
        value = response.headers["set-cookie"].partition(";")[0].partition("=")[2]
        for name in ("look", "explore"):
            headers = {"cookie": f"omibench-{name}-{port}={value}"}
            is_valid = name == application == "look"
            assert client.get("/api/corrections", headers=headers).status_code == (
                200 if is_valid else 401
            )


def test_attempts_are_limited(client: TestClient) -> None:
    codes = [client.get("/login?token=wrong").status_code for _ in range(9)]
    assert codes == [401] * 8 + [429]
    assert client.get(f"/login?token={TOKEN}").status_code == 429


def test_only_pages_of_the_papers_and_our_scripts_are_served(
    client: TestClient, looked: Path
) -> None:
    log_in(client)
    (looked / "looks/other.html").write_text("<script>alert(1)</script>")
    assert client.get("/").headers["location"] == "/mock.pdf.html"
    page = client.get("/mock.pdf.html")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    for path in ("/other.html", "/..%2fmock.pdf", "/formulas/..%2f..%2fmock.pdf"):
        assert client.get(path).status_code == 404
    script = client.get("/formulas/corrections.js")
    assert script.text == (looked / "scripts/corrections.js").read_text()


def test_a_correction_is_saved_and_a_late_one_refused(
    client: TestClient, corrections: Path
) -> None:
    corrections.write_text("# mine\ncorrections:\n")
    state = log_in(client)
    answer = save(client, state)
    assert (answer.status_code, answer.json()["line"]) == (201, 3)
    (entry,) = read_corrections(corrections)
    assert entry.correction.figure is not None
    assert entry.correction.figure.box == (100, 200, 300, 400)
    late = save(client, state)
    assert (late.status_code, late.json()["reason"]) == (409, "changed")
    assert "nothing was saved" in late.json()["message"]
    state = client.get("/api/corrections").json()
    twice = save(client, state)
    assert (twice.status_code, twice.json()["reason"], twice.json()["lines"]) == (409, "place", [3])
    assert save(client, state, replaced=[3]).status_code == 201
    assert corrections.read_text().startswith("# mine\n")
    assert len(read_corrections(corrections)) == 1


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"entry": ENTRY | {"by": ""}}, 422),
        ({"entry": ENTRY | {"figure": {"image": 0, "page": 1, "box": []}}}, 422),
        ({"entry": []}, 400),
        ({"version": None}, 400),
        ({"replaced": "3"}, 400),
        ({"replaced": [True]}, 400),
        ({"replaced": [3]}, 422),
    ],
)
def test_a_bad_entry_writes_nothing(
    client: TestClient, corrections: Path, values: dict[str, Any], status: int
) -> None:
    answer = save(client, log_in(client), **values)
    assert answer.status_code == status
    assert answer.json()["message"]
    assert not corrections.exists()


def test_other_sites_cannot_save(client: TestClient, corrections: Path) -> None:
    state = log_in(client)
    body = {"entry": ENTRY, "version": ""}
    token = {"x-csrf-token": state["token"]}
    assert client.post("/api/corrections", json=body).status_code == 403
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert (
            client.post("/api/corrections", json=body, headers=token | headers).status_code == 403
        )
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403
    assert not corrections.exists()


def test_a_broken_file_is_reported(client: TestClient, corrections: Path) -> None:
    corrections.write_text("corrections:\n- {paper: mock.pdf}\n")
    answer = save(client, log_in(client))
    assert answer.status_code == 422
    assert "line 2" in answer.json()["message"]


@pytest.mark.slow
def test_the_command_writes_pages_once(looked: Path, tmp_path: Path) -> None:
    out = tmp_path / "looks"
    words = ["look", str(looked / "mock.pdf"), "--out", str(out), "--params", "{}"]
    first = CliRunner().invoke(app, words)
    assert (first.exit_code, first.stdout.strip()) == (0, str(out / "mock.pdf.html"))
    assert "reading mock.pdf" in first.stderr
    assert CliRunner().invoke(app, words).stderr == ""
    assert "reading" in CliRunner().invoke(app, [*words, "--again"]).stderr
    page = out / "mock.pdf.html"
    page.write_text(page.read_text().replace(VERSION, ""))  # as an earlier version wrote it
    assert "reading mock.pdf" in CliRunner().invoke(app, words).stderr
    assert VERSION in page.read_text()
    other = [*words[:2], str(tmp_path / "b/other.pdf"), *words[2:], "--serve"]
    (tmp_path / "b").mkdir()
    (tmp_path / "b/other.pdf").write_bytes((looked / "mock.pdf").read_bytes())
    refused = CliRunner().invoke(app, other)
    assert "give --corrections FILE" in str(refused.exception)
    assert not (out / "other.pdf.html").exists()
    outside = CliRunner().invoke(app, [*words, "--serve", "--host", "0.0.0.0"])
    assert "--behind-tls" in str(outside.exception)
    assert CliRunner().invoke(app, ["look", "--params", "{}"]).exit_code != 0
