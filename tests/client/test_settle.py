"""Lost attempts are settled by a stated amount, or by the provider's export of usage or cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import FileFormatError, MissingInputError, OmibenchError, ParamsError
from omibench.models.client.usage import read_usage, settle_by_usage, settle_stated
from omibench.params.study import Study, parse_study
from omibench.store.ledger import BudgetAccount, Ledger

DAY = 86400
BEGIN = 20_000 * DAY
"""2024-10-04, 00:00 UTC."""
PRICE = {"input": 1.0, "cached_input": 0.1, "output": 10.0, "batch": 0.5, "as_of": "2026-11-21"}
NOON = BEGIN + DAY // 2
AFTER = BEGIN + 2 * DAY


def values(folder: Path) -> dict[str, Any]:
    one = {"provider": "openai", "id": "gpt-5-mini", "key_env": "K", "price": PRICE}
    other = {"provider": "anthropic", "id": "claude-opus-5", "key_env": "K", "price": PRICE}
    own = {"name": "s", "store": str(folder / "store"), "budget_usd": 10.0}
    return {"study": own, "models": {"gpt": one, "claude": other}}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Two dollars known to be spent, and three lost attempts of 0.5 at most, for each model."""
    monkeypatch.setattr("omibench.store.ledger.time.time", lambda: float(NOON))
    with Ledger(tmp_path / "store") as ledger:
        for model in ("gpt", "claude"):
            account = BudgetAccount("s", model, 10.0, 60)
            paid = ledger.reserve(account, 2.0)
            assert paid is not None
            ledger.settle(paid.id, 2.0)
            for _ in range(3):
                lost = ledger.reserve(account, 0.5)
                assert lost is not None
                ledger.settle(lost.id, None, "the connection failed: ReadError")
    return parse_study(values(tmp_path), "test")


def iso(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def openai_usage(results: list[dict[str, Any]], **page: Any) -> str:
    bucket = {"object": "bucket", "start_time": BEGIN, "end_time": BEGIN + DAY, "results": results}
    return json.dumps({"object": "page", "data": [bucket], "has_more": False, **page})


def anthropic_usage(results: list[dict[str, Any]]) -> str:
    bucket = {"starting_at": iso(BEGIN), "ending_at": iso(BEGIN + DAY), "results": results}
    return json.dumps({"data": [bucket], "has_more": False, "next_page": None})


TOKENS = {"object": "organization.usage.completions.result", "input_tokens": 1_100_000,
          "input_cached_tokens": 1_000_000, "output_tokens": 200_000,
          "num_model_requests": 5, "model": "gpt-5-mini-2025-08-07", "batch": False}  # fmt: skip
CLAUDE_TOKENS = {
    "uncached_input_tokens": 100_000, "cache_read_input_tokens": 1_000_000,
    "cache_creation": {"ephemeral_1h_input_tokens": 100_000, "ephemeral_5m_input_tokens": 80_000},
    "output_tokens": 190_000, "model": "claude-opus-5", "service_tier": "standard",
}  # fmt: skip
EXPORTS: dict[str, tuple[str, str, float]] = {
    "openai usage": ("u.json", openai_usage([TOKENS]), 0.2),
    "openai usage of a batch": ("u.json", openai_usage([TOKENS, {**TOKENS, "batch": True}]), 1.3),
    "openai usage of another model": (
        "u.json", openai_usage([TOKENS, {**TOKENS, "model": "gpt-4o"}]), 0.2,
    ),
    "openai pages": ("u.json", f"[{openai_usage([TOKENS])}]", 0.2),
    "openai a page a line": (
        "u.jsonl", openai_usage([TOKENS], has_more=True) + "\n" + openai_usage([]), 0.2,
    ),
    "openai costs": (
        "c.json",
        openai_usage([{"amount": {"value": 2.75, "currency": "usd"}, "line_item": None}]), 0.75,
    ),
    "openai costs by line item": (
        "c.json",
        openai_usage(
            [{"amount": {"value": "2.25", "currency": "usd"}, "line_item": f"{name}, {what}"}
             for name in ("gpt-5-mini-2025-08-07", "gpt-4o") for what in ("output",)]
        ), 0.25,
    ),
    "openai costs as csv": (
        "c.csv",
        "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,line_item\n"
        f"{BEGIN},{BEGIN + DAY},x,y,2.5,usd,\n", 0.5,
    ),
    "openai usage as csv": (
        "u.csv",
        "start_time,end_time,num_model_requests,input_tokens,input_cached_tokens,output_tokens,"
        f"model,batch\n{BEGIN},{BEGIN + DAY},5,1100000,1000000,200000,gpt-5-mini,False\n", 0.2,
    ),
    "less than is known": (
        "c.json",
        openai_usage([{"amount": {"value": 1.0, "currency": "usd"}, "line_item": None}]), 0.0,
    ),
    "anthropic usage": ("u.json", anthropic_usage([CLAUDE_TOKENS]), 0.1 + 0.1 + 0.3 + 1.9 - 2.0),
    "anthropic cost in cents": (
        "c.json", anthropic_usage([{"currency": "USD", "amount": "245.0", "model": None}]), 0.45,
    ),
    "anthropic cost as csv": (
        "c.csv",
        "usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd\n"
        f"{iso(BEGIN)[:10]},claude-opus-5,Default,k,message,,output,2.3\n"
        f"{iso(BEGIN)[:10]},claude-haiku-4-5,Default,k,message,,output,9.9\n", 0.3,
    ),
    "anthropic usage as csv": (
        "u.csv",
        "usage_date_utc,model_version,api_key,workspace,usage_type,context_window,"
        "usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,"
        "usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,"
        "web_search_count,inference_geo,speed\n"
        f"{iso(BEGIN)[:10]},claude-opus-5,k,Default,standard,0-200k,100000,80000,100000,1000000,"
        "190000,0,,\n", 0.1 + 0.1 + 0.3 + 1.9 - 2.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_tells_what_the_lost_attempts_cost(
    tmp_path: Path, study: Study, name: str
) -> None:
    file, text, usd = EXPORTS[name]
    (tmp_path / file).write_text(text)
    done = settle_by_usage(study, tmp_path / file, AFTER)
    assert done.attempts == 3
    assert (done.charged, done.usd) == (pytest.approx(1.5), pytest.approx(usd))
    with Ledger(tmp_path / "store") as ledger:
        spending = ledger.spending("s")
        (kept,) = ledger.settlements("s")
    assert spending.spent == pytest.approx(4.0 + usd)
    assert spending.unknown == pytest.approx(1.5), "that of the other provider's model"
    assert (kept.attempts, kept.usd) == (3, pytest.approx(usd))
    assert f"{file} (sha256 " in kept.source


Change = Callable[[str], str]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text.replace('"has_more": false', '"has_more": true'), "announces more"),
        (lambda text: text.replace("1100000", '"many"'), "not a usage export"),
        (lambda text: text.replace("1100000", "-5"), "is not an amount"),
        (lambda text: text.replace("1100000", "NaN"), "is not JSON"),
        (lambda text: text.replace('"data"', '"date"'), "lacks 'data'"),
        (lambda text: text.replace(str(BEGIN), str(BEGIN + DAY)), "does not cover"),
        (lambda text: text.replace(str(BEGIN + DAY), str(BEGIN + 600)), "does not cover"),
        (lambda text: text.replace(str(BEGIN + DAY), str(AFTER + 1)), "does not cover"),
        (lambda text: text.replace('"gpt-5-mini-2025-08-07"', "null"), "grouped by model"),
        (lambda _: "<html>sign in</html>", "is not JSON"),
        (lambda _: "[" * 100_000, "is nested more than"),
        (lambda _: "[]", "contains no usage"),
    ],
)
def test_what_is_no_whole_export_settles_nothing(
    tmp_path: Path, study: Study, change: Change, line: str
) -> None:
    (tmp_path / "u.json").write_text(change(openai_usage([TOKENS])))
    with pytest.raises(OmibenchError, match=line):
        settle_by_usage(study, tmp_path / "u.json", AFTER)
    with Ledger(tmp_path / "store") as ledger:
        assert ledger.spending("s").unknown == pytest.approx(3.0)


def test_another_currency_is_none_of_ours(tmp_path: Path) -> None:
    row = {"amount": {"value": 2.75, "currency": "eur"}, "line_item": None}
    (tmp_path / "c.json").write_text(openai_usage([row]))
    with pytest.raises(FileFormatError, match="not in US dollars"):
        read_usage(tmp_path / "c.json")


def test_what_is_lost_after_the_export_stays_charged(
    tmp_path: Path, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omibench.store.ledger.time.time", lambda: float(BEGIN + DAY + 7))
    with Ledger(tmp_path / "store") as ledger:
        lost = ledger.reserve(BudgetAccount("s", "gpt", 10.0, 60), 0.5)
        assert lost is not None
        ledger.settle(lost.id, None)
    (tmp_path / "u.json").write_text(openai_usage([TOKENS]))
    assert settle_by_usage(study, tmp_path / "u.json", AFTER).attempts == 3
    with Ledger(tmp_path / "store") as ledger:
        assert sum(loss.attempts for loss in ledger.list_losses("s") if loss.model == "gpt") == 1


def test_a_person_states_the_amount(tmp_path: Path, study: Study) -> None:
    assert settle_stated(study, 0.07, "bill", "gpt").attempts == 3
    assert settle_stated(study, 0.0, "").attempts == 3
    with Ledger(tmp_path / "store") as ledger:
        assert ledger.spending("s") == (pytest.approx(4.07), 0, 0)
        assert ledger.settlements("s")[0].source.endswith(": bill")
    with pytest.raises(MissingInputError, match="nothing to settle"):
        settle_stated(study, 0.07, "")
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ParamsError, match="must be an amount"):
            settle_stated(study, wrong, "")
    with pytest.raises(ParamsError, match="no such model"):
        settle_stated(study, 1.0, "", "gtp")


def test_the_verbs_show_and_settle(tmp_path: Path, study: Study) -> None:
    text = json.dumps(values(tmp_path))
    shown = CliRunner().invoke(app, ["budget", "show", "--params", text])
    assert shown.exit_code == 0
    assert "s: $4.00 spent, $3.00 charged for requests of unknown cost" in shown.output
    assert "gpt: 3 requests charged $1.50, at most $1.50: the connection failed" in shown.output
    done = CliRunner().invoke(
        app, ["budget", "settle", "--usd", "0.5", "--note", "a\x1b[31mb", "--params", text]
    )
    assert "6 lost requests, charged $3.00 until now, are settled at $0.5" in done.output
    assert "\x1b" not in done.output
    shown = CliRunner().invoke(app, ["budget", "show", "--json", "--params", text])
    told = json.loads(shown.output)
    assert (told["spent"], told["lost"], told["settled"][0]["attempts"]) == (4.5, [], 6)
    both = CliRunner().invoke(app, ["budget", "settle", "--params", text])
    assert isinstance(both.exception, ParamsError)


def test_a_store_without_a_ledger_is_shown_and_left_alone(tmp_path: Path) -> None:
    text = json.dumps(values(tmp_path))
    assert "$0.00 spent" in CliRunner().invoke(app, ["budget", "show", "--params", text]).output
    assert not (tmp_path / "store").exists()
    done = CliRunner().invoke(app, ["budget", "settle", "--usd", "1", "--params", text])
    assert isinstance(done.exception, MissingInputError)
