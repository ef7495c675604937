"""What the explorer answers, as a browser asks for it, and what others cannot make it do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.explore.app.conftest import Open
from tests.explore.app.studies import copy_results, make_sources

from omibench.explore.app.live import LiveStudy
from omibench.explore.app.settings import ExplorerSources
from omibench.explore.search import FIELDS
from omibench.explore.selection import Study
from omibench.graph.code_hash import Tree
from omibench.params.setting import Cell
from omibench.web.server import ATTEMPTS_OF_NAME


def test_the_study_says_what_there_is_to_look_at(client: Any, explored: Study) -> None:
    study = client.get("/api/study").json()
    assert [model["name"] for model in study["models"]] == ["sim-middle", "sim-strong", "sim-weak"]
    assert len(study["cells"]) == 9
    assert study["main_rules"] in [rules["name"] for rules in study["rules"]]
    subject = next(facet for facet in study["facets"] if facet["name"] == "subject")
    assert sum(value["count"] for value in subject["values"]) == len(explored.items.ids)
    needs = {ready["name"]: ready["needs"] for ready in study["ready"]}
    assert needs["all-wrong"] == needs["judge-differs"] == ""
    assert "--other" in needs["changed"]
    assert study["simulated"]
    assert study["notes"] is False


def test_a_page_of_items_has_the_verdicts_of_every_cell(client: Any) -> None:
    page = client.get("/api/items?limit=5&offset=2&order=hardest").json()
    assert (page["total"], page["offset"], len(page["items"])) == (28, 2, 5)
    assert all(len(item["verdicts"]) == len(page["cells"]) == 9 for item in page["items"])
    assert page["address"] == "order=hardest&offset=2&limit=5"
    assert client.get("/api/items?" + page["address"]).json() == page


def test_many_columns_are_pages_too(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = client.get("/api/items").json()
    assert (whole["column"], whole["columns"], whole["limit"]) == (0, 9, 100)
    assert all(isinstance(v, int) for item in whole["items"] for v in item["verdicts"])
    monkeypatch.setattr("omibench.explore.app.views.MOST_COLUMNS", 4)
    last = client.get("/api/items?column=8").json()
    assert last["cells"] == whole["cells"][8:]
    middle = client.get("/api/items?column=4").json()
    assert middle["cells"] == whole["cells"][4:8]
    assert middle["address"] == "column=4"
    for item, part in zip(whole["items"], middle["items"], strict=True):
        assert part["verdicts"] == item["verdicts"][4:8]
        right = sum(verdict >= 0.5 for verdict in item["verdicts"])
        assert (part["right"], part["asked"]) == (item["right"], item["asked"]) == (right, 9)
    beyond = client.get("/api/items?column=99").json()
    assert (beyond["column"], beyond["cells"]) == (0, whole["cells"][:4])


def test_an_item_has_its_responses_and_its_neighbours_in_the_filter(client: Any) -> None:
    query = "is.subject=physics&order=hardest"
    ids = [item["id"] for item in client.get(f"/api/items?{query}").json()["items"]]
    assert len(ids) > 2
    address = f"/api/items/{quote(ids[1], safe='')}?cells=sim-weak/cot&cells=sim-strong/direct"
    place = client.get(f"{address}&{query}").json()
    assert (place["previous"], place["next"]) == (ids[0], ids[2])
    assert (place["position"], place["total"]) == (1, len(ids))
    assert [column["model"] for column in place["columns"]] == ["sim-weak", "sim-strong"]
    assert place["item"]["id"] == ids[1]
    assert len(place["outcomes"]) == 9
    elsewhere = client.get(f"{address}&ready=all-right").json()
    assert elsewhere["position"] is None


@pytest.mark.parametrize(
    ("address", "status", "message"),
    [
        ("/api/items?limit=x", 400, "an integer"),
        ("/api/items?order=zzz", 400, "unknown value"),
        ("/api/items?models=nobody", 400, "'nobody' is not in the run"),
        ("/api/items?wat=1", 400, "unknown part"),
        ("/api/items/nothing", 404, "' not found"),
        ("/api/items/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404, "' not found"),
        ("/api/items/x?cells=alone", 400, "MODEL/SETTING"),
        ("/api/sent/x", 404, "request 'x' not found"),
        ("/api/nowhere", 404, "page not found"),
        ("/pictures/..%2f..%2fx", 404, "not found"),
        ("/pictures/" + "0" * 64, 404, "picture not found"),
        ("/static/..%2f__init__.py", 404, "page not found"),
    ],
)
def test_an_address_that_names_nothing_is_one_line(
    client: Any, address: str, status: int, message: str
) -> None:
    answer = client.get(address)
    assert answer.status_code == status
    assert message in answer.text
    assert "Traceback" not in answer.text


def test_every_answer_has_the_policy(client: Any) -> None:
    for address in ("/", "/api/study", "/nowhere", "/items/x", "/healthz"):
        policy = client.get(address).headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'" in policy
        assert "unsafe" not in policy
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403


def test_pages_escape_the_title(open_client: Any, results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "<script>alert(1)<"
    folder.symlink_to(results)
    hostile = open_client(ExplorerSources(results / "freeze", results=folder))
    page = hostile.get("/").text
    assert "<script>alert" not in page


def test_items_are_there_before_a_model_is_asked(open_client: Any, results: Path) -> None:
    browser = open_client(ExplorerSources(results / "freeze"))
    study = browser.get("/api/study").json()
    assert (study["models"], study["rules"]) == ([], [])
    assert not {"hardest", "tokens"} & set(study["orders"])
    page = browser.get("/api/items?search=klotz").json()
    assert page["total"] == 7
    assert page["items"][0]["verdicts"] == []
    place = browser.get(f"/api/items/{page['items'][0]['id']}?search=klotz").json()
    assert place["columns"] == []
    assert place["next"] == page["items"][1]["id"]


# Ids, texts and labels of others are shown, and do nothing.


NAMES = (
    "../../etc/passwd",
    "a/b?c=d&e#f",
    "<script>alert(1)</script>",
    'x" onload="alert(1)',
    "{{7777*7777}}",
    "é\u202e\u0000z",
)
TEXT = (
    "</script><script>alert(1)</script>\u2028{{7777*7777}} [IMAGE0] "
    "$\\href{javascript:alert(1)}{x}$"
)


def rename_items(folder: Path) -> None:
    """Give the first items ids of a hostile dataset."""
    for file in ("questions.jsonl", "answers.jsonl"):
        path = folder / "freeze" / file
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for row, name in zip(rows, NAMES, strict=False):
            texts = {"question": f"{TEXT} [IMAGE1]"} if "question" in row else {"answer": [TEXT]}
            row.update({"id": name, **texts})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def hostile(results: Path, tmp_path: Path, open_client: Open) -> Any:
    """A browser of a hostile dataset."""
    folder = copy_results(results, tmp_path / "<b>results")
    rename_items(folder)
    return open_client(make_sources(folder))


@pytest.mark.parametrize("name", NAMES)
def test_an_item_is_found_by_whatever_id_it_has(hostile: Any, name: str) -> None:
    address = quote(name, safe="")
    answer = hostile.get(f"/api/items/{address}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["item"]["id"] == name
    assert answer.json()["item"]["question"].startswith(TEXT)
    page = hostile.get(f"/items/{address}").text
    assert "<script>alert" not in page
    assert 'onload="alert' not in page
    assert str(7777**2) not in page


def test_lists_hold_hostile_texts_as_texts(hostile: Any) -> None:
    page = hostile.get("/api/items").json()
    assert [item["id"] for item in page["items"]][: len(NAMES)] == list(NAMES)
    assert page["items"][0]["gold"].startswith(" ".join(TEXT.split())[:150])
    assert "<b>" not in hostile.get("/").text
    found = hostile.get("/api/items", params={"search": "{JavaScript:alert(1)}"}).json()
    assert found["total"] == len(NAMES)


def test_addresses_are_bounded(hostile: Any) -> None:
    assert hostile.get("/api/items", params={"search": "x" * 300}).status_code == 400
    assert len(hostile.get("/api/items?limit=100000").json()["items"]) <= 500
    many = "&".join("cells=sim-weak/cot" for _ in range(5))
    assert hostile.get(f"/api/items/{quote(NAMES[1], safe='')}?{many}").status_code == 400


SEARCHES = (
    "(a+)+$", "(?:.*a){30}", "[", "\\", "%", "_", "*", "' OR 1=1 --", "\0", "\x1b[2J", "\r\nX: y",
    "\ud800", "\u202e", "İ" * 100, "ﬀ" * 200, "a" * 200, " " * 5000, "{{7*7}}", "${7*7}",
    "<script>alert(1)</script>", "$\\href{x}{y}$", "../../etc/passwd", "!!python/object:x",
    "=cmd|x", "1e999", "NaN", "null", "\u2028", "😀", "\ufeff",
)  # fmt: skip


@pytest.mark.parametrize("name", ["search", "models", "is.subject", "is." + "x" * 999, "rules"])
def test_whatever_is_searched_is_a_text(client: Any, name: str) -> None:
    fields = [("in", field) for field in FIELDS]
    for text in SEARCHES:
        value = quote(text, errors="surrogatepass")
        answer = client.get(f"/api/items?{quote(name)}={value}&{urlencode(fields)}")
        assert answer.status_code in (200, 400), text
        assert answer.headers["content-type"] == "application/json"
        assert len(answer.json().get("message", "")) < 1000
        assert "Traceback" not in answer.text


# Who is let in where others than this machine can reach the server.


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


# Files that change while they are looked at.


def test_what_has_not_changed_is_not_read_again(folder: Path) -> None:
    live = LiveStudy(make_sources(folder), 0)
    assert live.read() is live.read()


def test_a_new_cell_is_there_at_the_next_look(folder: Path) -> None:
    path = folder / "infer" / "sim-weak" / "cot.parquet"
    data = path.read_bytes()
    path.unlink()
    live = LiveStudy(make_sources(folder), 0)
    before = live.read().study.run
    assert before is not None
    assert Cell("sim-weak", "cot") not in before.cells
    path.write_bytes(data)
    after = live.read().study.run
    assert after is not None
    assert Cell("sim-weak", "cot") in after.cells


def test_a_file_that_is_being_written_keeps_what_was_there(folder: Path) -> None:
    live = LiveStudy(make_sources(folder), 0)
    questions = folder / "freeze" / "questions.jsonl"
    questions.write_text(questions.read_text()[:200])
    snapshot = live.read()
    assert len(snapshot.study.items.ids) == 28
    assert "questions.jsonl" in snapshot.warnings[0]


def test_within_a_second_nobody_looks(folder: Path) -> None:
    live = LiveStudy(make_sources(folder), 3600)
    (folder / "infer" / "sim-weak" / "cot.parquet").unlink()
    run = live.read().study.run
    assert run is not None
    assert len(run.cells) == 9


# PyMuPDF, which is under the AGPL, is never loaded: pages are pictures.


TREE = Tree()


def test_nothing_that_is_served_imports_pymupdf() -> None:
    modules = TREE.closure("omibench.explore.app", "omibench.cli.explore")
    assert "omibench.explore.app.notes" in modules
    packages = TREE.packages(sorted(modules))
    assert {"starlette", "uvicorn", "polars"} <= packages
    assert not {"pymupdf", "fitz", "argon2"} & packages
    assert not {name for name in modules if name.startswith("omibench.stages.ocr")}
    assert not {name for name in modules if name.startswith("omibench.review.app.")}


@pytest.mark.parametrize("stages", [(), ("infer",)])
def test_a_study_that_has_just_begun_is_shown(
    open_client: Any, results: Path, tmp_path: Path, stages: tuple[str, ...]
) -> None:
    for stage in ("freeze", *stages):
        shutil.copytree(results / stage, tmp_path / stage)
    live = LiveStudy(make_sources(tmp_path), 0)
    live.index()
    browser = open_client(make_sources(tmp_path))
    page = browser.get("/api/items?order=-id").json()
    assert (page["total"], page["columns"]) == (28, 0)
    place = browser.get(f"/api/items/{page['items'][0]['id']}").json()
    assert (place["total"], place["outcomes"], place["columns"]) == (28, [], [])
    by_tokens = browser.get("/api/items?order=-tokens")
    assert by_tokens.status_code == (200 if stages else 400)
    assert "no verdicts to filter by" in browser.get("/api/items?ready=refused").json()["message"]
    assert browser.get("/list.csv").text.count("\n") > 28
