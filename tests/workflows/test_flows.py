"""Flows against a Prefect server: what is bought, refused, retried, told and shown."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.extras import require_extra
from tests.workflows_support import KEY_ENV, PROBLEMS, SECRET, Hook, ask_api, flow, study_folder

from model_server.handle import ServerHandle

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = {"is_null_": True}


def paid(endpoint: ServerHandle) -> dict[str, int]:
    return {key: entry["paid"] for key, entry in endpoint.stats()["contents"].items()}


def test_the_store_is_filled_in_shards_and_the_pages_show_it(
    folder: Path, endpoint: ServerHandle, prefect_home: Path, api_url: str
) -> None:
    done = flow("evaluate", folder, prefect_home, api_url, "params.yaml", "--shard", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "results/analyze/report.html").is_file()
    assert list(paid(endpoint).values()) == [1] * (2 * PROBLEMS), "each was bought once"
    newest = {"sort": "START_TIME_DESC", "limit": 1, "flow_runs": {"parent_task_run_id": ROOT}}
    (run,) = ask_api(api_url, "/flow_runs/filter", newest)
    own = {"flow_runs": {"id": {"any_": [run["id"]]}}}  # other tests' flows are on this server too
    tasks = ask_api(api_url, "/task_runs/filter", {"limit": 200, **own})
    shards = [t for t in tasks if t["name"].startswith("old-one ")]
    assert len(shards) == 2 * 3, "12 requests in shards of 5, under two settings"
    assert all({"study kept", "model old-one"} <= set(t["tags"]) for t in shards)
    artifacts = {a["key"]: a for a in ask_api(api_url, "/artifacts/latest/filter", {})}
    assert len(json.loads(artifacts["board"]["data"])) == 2
    assert "report.html" in artifacts["report"]["data"]
    limits = ask_api(api_url, "/v2/concurrency_limits/filter", {})
    (lane,) = [limit for limit in limits if limit["name"].endswith(" old-one")]
    assert (lane["limit"], lane["active_slots"]) == (4, 0)
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.long
def test_a_wrong_key_is_not_tried_again(
    folder: Path, endpoint: ServerHandle, prefect_home: Path, api_url: str
) -> None:
    wrong = {KEY_ENV: "sk-planted-wrong-1234567890"}
    more = ("params.yaml", "--shard", "3")
    done = flow("evaluate", folder, prefect_home, api_url, *more, **wrong)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the endpoint rejects every request: HTTP 401" in done.stderr
    lanes, shard = 4, 3
    assert endpoint.stats()["rejected"] <= lanes * shard, "only the first shards met the wall"
    assert "planted-wrong" not in done.stdout + done.stderr
    assert not (folder / "results/analyze/report.html").exists()


@pytest.mark.long
def test_a_budget_that_is_too_small_adds_nothing_and_says_so_once(
    tmp_path: Path, root: Path, endpoint: ServerHandle, prefect_home: Path, api_url: str, hook: Hook
) -> None:
    folder = study_folder(tmp_path / "study", root, endpoint.openai_url, monthly=0.0001)
    endpoint.add_model("new-1")
    before = (folder / "params.yaml").read_text()
    done = flow("reevaluate", folder, prefect_home, api_url, **hook.variables)
    assert done.returncode == 3, done.stdout + done.stderr
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith("omibench: new-1: evaluating it is expected to cost $")
    assert "are left; nothing was added. Raise reevaluate.monthly_budget_usd" in line
    assert (folder / "params.yaml").read_text() == before
    assert endpoint.stats()["paid"] == 0
    (waiting,) = json.loads((folder / "results/reevaluate/journal.json").read_text())["models"]
    assert (waiting["model"], waiting["state"]) == ("new-1", "waiting")
    again = flow("reevaluate", folder, prefect_home, api_url, **hook.variables)
    assert again.returncode == 0, "it was told; now it waits\n" + again.stderr
    assert hook.events() == ["waiting"]
    assert (folder / "params.yaml").read_text() == before
    assert endpoint.stats()["paid"] == 0


@pytest.mark.long
def test_a_model_that_the_budget_cuts_off_goes_on_when_there_is_more_to_spend(
    tmp_path: Path, root: Path, endpoint: ServerHandle, prefect_home: Path, api_url: str, hook: Hook
) -> None:
    enough_as_expected = 0.05
    folder = study_folder(tmp_path / "study", root, endpoint.openai_url, monthly=enough_as_expected)
    endpoint.add_model("new-1")
    endpoint.configure(answer_chars=4000)
    cut = flow("reevaluate", folder, prefect_home, api_url, **hook.variables)
    assert cut.returncode == 3, cut.stdout + cut.stderr
    assert "new-1: the budget ended before" in cut.stderr.strip().splitlines()[-1]
    assert state_of(folder, "new-1") == "waiting"
    assert "the budget ended before" in (folder / "board/changes.md").read_text()
    bought = endpoint.stats()["paid"]
    assert bought > 0

    quiet = flow("reevaluate", folder, prefect_home, api_url, **hook.variables)
    assert quiet.returncode == 0, "it was told; now it waits\n" + quiet.stderr
    assert "no new models in 1 watches" in quiet.stdout + quiet.stderr
    assert endpoint.stats()["paid"] == bought
    assert hook.events() == ["budget"]

    params = folder / "params.yaml"
    limit = "monthly_budget_usd: "
    text = params.read_text()
    params.write_text(text.replace(f"{limit}{enough_as_expected}", f"{limit}5"))
    ended = flow("reevaluate", folder, prefect_home, api_url, **hook.variables)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert state_of(folder, "new-1") == "done"
    for setting in ("cot", "direct"):
        outcomes = pl.read_parquet(folder / f"results/infer/new-1/{setting}.parquet")["outcome"]
        assert "budget_stop" not in set(outcomes)
    assert list(paid(endpoint).values()) == [1] * (4 * PROBLEMS), "nothing was bought twice"


def state_of(folder: Path, model: str) -> str:
    journal = json.loads((folder / "results/reevaluate/journal.json").read_text())
    return str({entry["model"]: entry["state"] for entry in journal["models"]}[model])
