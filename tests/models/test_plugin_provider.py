"""A provider of a plug-in: its block in params.yaml, its identity, and the budget over it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from jsonschema import Draft202012Validator
from tests.asks import ask

from omibench.errors import ModelError, ParamsError, PluginError
from omibench.graph.job_hash import slice_study
from omibench.graph.result_files import params_schema
from omibench.models.client.ask import open_asker
from omibench.models.cost import worst_case
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.models.registry import Folders, provider
from omibench.models.sequential import SequentialProvider
from omibench.params.models.base import ModelBlock, ServedModel
from omibench.params.models.registry import PROVIDERS
from omibench.params.roles import Display, Runtime
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.plugins.registry import loading
from omibench.schemas.request import (
    Request,
    Response,
    Usage,
)
from omibench.study.plan.plan import describe_model

PRICE = {"input": 1.0, "output": 10.0, "as_of": "2026-11-21"}


class EchoModel(ServedModel):
    provider: Literal["echo", "greedy", "counting"]
    volume: int = 1
    threads: Runtime[int] = 1
    note: Display[str] = ""


class EchoProvider(SequentialProvider[EchoModel]):
    """Repeats what it is asked; every answer costs what its worst case is."""

    def __init__(self, name: str, model: EchoModel, folders: Folders) -> None:
        super().__init__(name, model)

    def respond(self, request: Request) -> Response:
        assert self.model.price is not None
        cost = worst_case(self.model, self.model.price, [request])
        return Response(text=request.conversation.text * self.model.volume, cost_usd=cost)


class GreedyProvider(BaseProvider[EchoModel]):
    """Asks without leave of the budget."""

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        for request in requests:
            yield request, Response(text="bought", cost_usd=100.0)


SENT: list[Request] = []


class CountingProvider(SequentialProvider[EchoModel]):
    """An SDK's reply as the documentation has it: text and tokens, no dollars."""

    def respond(self, request: Request) -> Response:
        SENT.append(request)
        return Response(text="said", usage=Usage(input_tokens=100, output_tokens=20))


class BareModel(ModelBlock):
    provider: Literal["bare"]
    id: str
    price: None = None


class FreeModel(EchoModel):
    is_free: ClassVar[bool] = True
    provider: Literal["free"]  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with loading("echo.py"):
        provider("echo", block=EchoModel)(EchoProvider)
        provider("greedy", block=EchoModel)(GreedyProvider)
        provider("counting", block=EchoModel)(CountingProvider)
        provider("bare", block=BareModel)(CountingProvider)
        provider("free", block=FreeModel)(CountingProvider)
    yield
    PROVIDERS.forget("echo.py")


def study(folder: Path, budget_usd: float | None = None, **more: Any) -> Study:
    values = {
        "study": {"store": str(folder / "store"), "budget_usd": budget_usd},
        "models": {"m": {"provider": "echo", "id": "one", "price": PRICE} | more},
        "settings": {"cot": {}},
        "infer": {"models": ["m"], "settings": ["cot"]},
    }
    return parse_study(values, "test")


def requests(count: int) -> list[Request]:
    return [ask(f"question {n}", problem=str(n), max_tokens=1000) for n in range(count)]


def test_a_priced_model_of_a_plug_in_is_held_by_the_budget(tmp_path: Path) -> None:
    model = study(tmp_path).models["m"]
    assert isinstance(model, EchoModel)
    assert model.is_paid
    assert model.price is not None
    asked = requests(5)
    worst = max(worst_case(model, model.price, [request]) for request in asked)
    with open_asker(study(tmp_path, budget_usd=2.5 * worst), "m") as asker:
        outcomes = [response.outcome for response in asker(asked)]
    assert outcomes == ["answered"] * 2 + ["budget_stop"] * 3
    with open_asker(study(tmp_path), "m") as asker:
        assert [response.outcome for response in asker(asked)] == ["answered"] * 5


@pytest.mark.parametrize("provider", ["counting", "bare"])
def test_what_is_not_declared_free_is_refused_under_a_budget_until_it_has_a_price(
    tmp_path: Path, provider: str
) -> None:
    more: dict[str, Any] = {"provider": provider} | ({"id": "one"} if provider != "bare" else {})
    unpriced = study(tmp_path, **more, budget_usd=0.000001, price=None)
    with pytest.raises(
        ModelError, match=r"models\.m: has no price, so .* budget of under \$0.0001"
    ):
        ask_all(unpriced)
    assert SENT == []
    assert describe_model(unpriced.models["m"], simulated=False)["money"] == "unknown"
    assert ask_all(study(tmp_path, provider=provider, price=None)) == ["answered"] * 8


def test_a_model_that_is_declared_free_runs_under_any_budget(tmp_path: Path) -> None:
    own = study(tmp_path, provider="free", budget_usd=0.000001, price=None)
    assert ask_all(own) == ["answered"] * 8
    zero = {**PRICE, "input": 0.0, "output": 0.0}
    assert ask_all(study(tmp_path, provider="counting", price=zero, budget_usd=0.01)) == (
        ["answered"] * 8
    )


def ask_all(of: Study) -> list[str]:
    """The outcomes of eight requests."""
    SENT.clear()
    with open_asker(of, "m") as asker:
        return [response.outcome for response in asker(requests(8))]


def test_a_provider_that_asks_without_leave_is_stopped_at_its_first_answer(tmp_path: Path) -> None:
    greedy = study(tmp_path, budget_usd=1.0, provider="greedy")
    with (
        open_asker(greedy, "m") as asker,
        pytest.raises(ModelError, match=r"model 'm'.*sent a request without a reservation"),
    ):
        asker(requests(5))


def test_fields_of_a_plug_ins_block_have_roles_as_built_in_ones_do(tmp_path: Path) -> None:
    plain = study(tmp_path)
    shown = study(tmp_path, note="new", threads=4)
    louder = study(tmp_path, volume=2)
    assert louder.models["m"].store_identity == {"provider": "echo", "id": "one", "volume": 2}
    assert plain.models["m"].store_identity == shown.models["m"].store_identity
    cell = Cell("m", "cot")
    assert slice_study(plain, "infer", cell) == slice_study(shown, "infer", cell)
    assert slice_study(plain, "infer", cell) != slice_study(louder, "infer", cell)
    assert slice_study(plain, "analyze") != slice_study(shown, "analyze")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"volumee": 2}, "models.m.volumee: unknown key; did you mean 'volume'?"),
        ({"volume": "loud"}, "models.m.volume: Input should be a valid integer"),
        ({"provider": "ekho"}, "models.m.provider: unknown provider 'ekho'; did you mean 'echo'?"),
        (
            {"provider": None},
            "models.m.provider: is missing; available: anthropic, python, experts, "
            "google-translate, inspect, transformers-chat, transformers-reward",
        ),
        ({"limits": {"attempts": 0}}, "models.m.limits.attempts: Input should be greater"),
        ({"volume": "loud", "threads": "a"}, "(and 1 more mistake)"),
    ],
)
def test_a_mistake_in_the_block_of_a_plug_in_is_one_line(
    tmp_path: Path, block: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParamsError) as error:
        study(tmp_path, **block)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_schema_takes_blocks_of_plug_ins_and_checks_built_in_ones() -> None:
    schema = Draft202012Validator(json.loads(params_schema()))
    assert schema.is_valid({"models": {"m": {"provider": "echo", "volume": 2}}})
    assert schema.is_valid({"models": {"m": {"provider": "openai", "id": "gpt"}}})
    assert not schema.is_valid({"models": {"m": {"provider": "openai", "idd": "gpt"}}})
    assert not schema.is_valid({"models": {"m": {"id": "gpt"}}})


def test_a_built_in_provider_belongs_to_omibench_whoever_imports_it_first() -> None:
    from omibench.models.openai import OpenAIProvider
    from omibench.params.models.providers import OpenAIModel

    with loading("echo.py"):
        provider("openai", block=OpenAIModel)(OpenAIProvider)
        with pytest.raises(PluginError, match=r"provider 'openai' is defined by omibench and by"):
            provider("openai", block=OpenAIModel)(EchoProvider)
    assert PROVIDERS.origin("openai") == "omibench"
