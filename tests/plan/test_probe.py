"""Before a run: keys and addresses from here, and one small request each with --probe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.models.apis import PRICE
from typer.testing import CliRunner

from command_line import app
from model_server.handle import ServerHandle
from omibench.params.models.providers import OpenAIModel
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Question
from omibench.schemas.tables import write_jsonl
from omibench.store.ledger import Ledger
from omibench.study.plan.probe import TOKENS, endpoint_faults, probe_cost, probe_study

SECRET = "planted-key-0123456789"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_KEY", SECRET)
    monkeypatch.setenv("WRONG_KEY", "another-planted-one-77")


def values(server: ServerHandle, folder: Path, **models: dict[str, Any]) -> dict[str, Any]:
    block = {"provider": "openai", "id": "stub-model", "key_env": "PROBE_KEY", "price": PRICE}
    block["base_url"] = server.openai_url
    named = {name: block | more for name, more in models.items()}
    return {
        "study": {"name": "s", "store": str(folder / "store"), "results": str(folder / "results")},
        "models": named,
        "settings": {"cot": {}},
        "infer": {"models": list(named), "settings": ["cot"]},
    }


def made(server: ServerHandle, folder: Path, budget: float | None = None, **models: Any) -> Study:
    study = values(server, folder, **models)
    if budget is not None:
        study["study"]["budget_usd"] = budget
    return parse_study(study, "test")


def test_each_model_is_asked_once_and_nothing_is_kept(server: ServerHandle, tmp_path: Path) -> None:
    server.configure(api_keys=[SECRET], any_model=False, models=["stub-model"])
    study = made(
        server, tmp_path, 1.0,
        right={}, responses={"api": "responses"}, batches={"batch": True},
        claude={"provider": "anthropic", "base_url": server.anthropic_url, "thinking": 2048},
        key={"key_env": "WRONG_KEY"}, name={"id": "no-such-model"},
        path={"base_url": f"{server.base_url}/nowhere"},
        gone={"base_url": "http://127.0.0.1:9/v1"},
    )  # fmt: skip
    found = probe_study(study)
    assert [name for name, fault in found.items() if fault is None] == [
        "right", "responses", "batches", "claude",
    ]  # fmt: skip
    assert "the key from WRONG_KEY is not accepted" in (found["key"] or "")
    assert "id 'no-such-model'" in (found["name"] or "")
    assert "unknown model or path" in (found["path"] or "")
    assert "nothing listens there" in (found["gone"] or "")
    assert "planted" not in json.dumps(found)
    stats = server.stats()
    assert stats["requests"] == 4
    assert sum(entry["paid"] for entry in stats["contents"].values()) == 4
    with Ledger(str(tmp_path / "store")) as ledger:
        spending = ledger.spending("s")
    assert 0 < spending.spent < 0.01
    assert (spending.reserved, spending.unknown) == (0.0, 0.0)
    assert not list((tmp_path / "store").glob("*/*.jsonl"))


def test_a_budget_holds_for_probes_too(server: ServerHandle, tmp_path: Path) -> None:
    found = probe_study(made(server, tmp_path, 0.0, right={}))
    assert found == {"right": "the budget does not cover a probe"}
    assert server.stats()["requests"] == 0


def test_what_probes_cost_at_most(server: ServerHandle, tmp_path: Path) -> None:
    line = probe_cost(made(server, tmp_path, a={}, b={"price": None}))
    assert line.startswith(f"Probes: 2 requests of at most {TOKENS} new tokens, at most $0.0")
    assert line.endswith("and unknown without a price: b")


def test_models_that_answer_here_are_not_probed(tmp_path: Path, root: Path) -> None:
    text = (root / "params.yaml").read_text("utf-8")
    assert probe_study(parse_study(yaml.safe_load(text), "params.yaml")) == {}


def test_the_command(server: ServerHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.configure(api_keys=[SECRET])
    frozen = tmp_path / "results" / "freeze" / "questions.jsonl"
    write_jsonl(frozen, [Question(id="p0", question="What is 1 + 1?")])
    study = values(server, tmp_path, right={}, wrong={"key_env": "WRONG_KEY"})
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(study, sort_keys=False), "utf-8")
    command = ["plan", "--params", str(tmp_path / "params.yaml")]
    plain = CliRunner().invoke(app, command)
    assert (plain.exit_code, server.stats()["requests"]) == (0, 0)
    probed = CliRunner().invoke(app, [*command, "--probe"])
    assert probed.exit_code == 3
    assert "Probes: 2 requests" in probed.output
    assert "  right: answers" in probed.output
    assert "  wrong: HTTP 401" in probed.output
    assert "Plan of the study 's'" in probed.output
    monkeypatch.delenv("PROBE_KEY")
    monkeypatch.delenv("OMIBENCH_KEYS", raising=False)
    missing = CliRunner().invoke(app, command)
    assert missing.exit_code == 0
    assert "omibench: right: the key PROBE_KEY is missing" in missing.output


def test_faults_that_are_seen_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_KEY", SECRET)
    monkeypatch.delenv("NO_KEY", raising=False)
    monkeypatch.delenv("OMIBENCH_KEYS", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "host.org/v1")
    fine = {"provider": "openai", "id": "x", "key_env": "PROBE_KEY", "base_url": "https://h/v1"}
    blocks = {
        "fine": fine,
        "a": fine | {"key_env": "NO_KEY"},
        "b": fine | {"key_env": "NO_KEY"},
        "port": fine | {"base_url": "https://h:99999/v1"},
        "variable": {k: v for k, v in fine.items() if k != "base_url"},
        "named": fine | {"extra_body": {"api_key": "${NO_KEY}"}},
    }
    found = endpoint_faults({n: OpenAIModel.model_validate(b) for n, b in blocks.items()})
    assert [line.partition(":")[0] for line in found] == ["a, b, named", "port", "variable"]
    assert "the key NO_KEY is missing" in found[0]
    assert "https://h:99999/v1 is not valid" in found[1]
    assert "host.org/v1 is not valid" in found[2]
