"""Stand-ins use a tool once where one is on offer, and answer as they would have without."""

from __future__ import annotations

import json

import pytest
from tests.asks import say, talk
from tests.models.conftest import Make, request

from omibench.schemas.request import (
    NOT_YET,
    Message,
    Request,
    Response,
    ToolCall,
    ToolSpec,
    read_calls,
    write_call,
)

CROP = ToolSpec(name="crop", description="Cut.", parameters={"type": "object"})
BLUR = ToolSpec(name="blur", description="Blur.", parameters={"type": "object"})


def told(tools: tuple[ToolSpec, ...], *more: Message, rules: str = "") -> Request:
    asked = request("mcq").conversation.messages
    return talk(say("system", rules), *asked, *more, tools=tools, problem="mcq", max_tokens=4096)


def results(call: ToolCall) -> tuple[Message, ...]:
    return (
        say("assistant", calls=(call,)),
        say("tool", "result_1.", answers=call.id),
    )


def test_a_tool_is_used_once_and_the_answer_stays_the_same(simulate: Make) -> None:
    model = simulate()
    first = model.respond(told((BLUR, CROP)))
    (call,) = first.calls
    assert (first.simulated, first.outcome, call.name) == (True, "answered", "crop")
    left, top, right, bottom = json.loads(call.arguments)["box"]
    assert 0 <= left < right <= 1
    assert 0 <= top < bottom <= 1
    answer = model.respond(told((BLUR, CROP), *results(call)))
    assert answer.calls == ()
    assert answer.text == model.respond(request("mcq")).text


def test_the_text_protocol_is_followed(simulate: Make) -> None:
    model = simulate()
    rules = f"{write_call('crop', '{}')}\n- crop: Cut.\n- blur: Blur."
    first = model.respond(told((), rules=rules))
    read = read_calls(first.text)
    assert read is not None
    assert [call.name for call in read.calls] == ["crop"]
    turns = (say("assistant", first.text), say("user", "result_1."))
    answer = model.respond(told((), *turns, rules=rules))
    assert answer.text == model.respond(request("mcq")).text


@pytest.mark.parametrize("native", [True, False])
def test_a_stage_that_reads_gives_no_answer(simulate: Make, native: bool) -> None:
    model = simulate()
    call = ToolCall(id="c", name="crop", arguments="{}")
    used = results(call)
    if not native:
        used = (say("assistant", write_call("crop", "{}")), say("user", "result_1."))
    stage = say("user", f"For now, {NOT_YET}.")
    reads: list[Response] = [
        model.respond(told((), stage)),
        model.respond(told((), stage, *used)),
    ]
    assert all("boxed" not in response.text for response in reads)
    ends = (say("assistant", "I see."), say("user", "Now solve it."))
    answer = model.respond(told((), stage, *used, *ends))
    assert answer.text == model.respond(request("mcq")).text
