"""Tools through batches: calls come back, and what was called tells one line from another."""

from __future__ import annotations

from tests.asks import answers, ask, say, talk
from tests.models.apis import every_api
from tests.models.batch.conftest import Make

from model_server.handle import ServerHandle
from omibench.models.api.batch_api import name_draw
from omibench.schemas.request import Request, ToolCall, ToolSpec

LOOK = ToolSpec(name="look", description="Look again.", parameters={"type": "object"})


def after(arguments: str, tools: tuple[ToolSpec, ...] = (LOOK,)) -> Request:
    """A question after one call, whose result is the same whatever was called."""
    call = ToolCall(id="c1", name="look", arguments=arguments)
    return talk(
        say("user", "Through a batch"),
        say("assistant", calls=(call,)),
        say("tool", "Error.", answers="c1"),
        tools=tools,
    )


def test_what_was_called_and_offered_names_a_draw() -> None:
    asked = [after('{"a": 1}'), after('{"a": 2}'), after('{"a": 1}', tools=())]
    assert len({name_draw({"id": "m"}, request) for request in asked}) == 3


@every_api
def test_a_turn_with_calls_and_the_one_after(server: ServerHandle, make: Make, api: str) -> None:
    calls = [{"name": "look", "arguments": {"image": "image_1"}}]
    server.configure(replies={"Through": {"text": "\\boxed{7}", "calls": calls}})
    first = ask("Through a batch", tools=(LOOK,))
    requests = [first, after('{"a": 1}'), after('{"a": 2}')]
    called, *others = answers(make(api), *requests)
    assert [call.name for call in called.calls] == ["look"]
    assert [response.text for response in others] == ["\\boxed{7}"] * 2
