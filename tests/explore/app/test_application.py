"""What the explorer answers, as a browser asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from omibench.explore.app.settings import ExplorerSources
from omibench.explore.selection import Study


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
    assert (study["models"], study["rules"], study["orders"]) == ([], [], ["dataset"])
    page = browser.get("/api/items?search=klotz").json()
    assert page["total"] == 7
    assert page["items"][0]["verdicts"] == []
    place = browser.get(f"/api/items/{page['items'][0]['id']}?search=klotz").json()
    assert place["columns"] == []
    assert place["next"] == page["items"][1]["id"]
