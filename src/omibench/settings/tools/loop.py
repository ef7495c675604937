"""The loop: a model calls tools, sees their results, and calls again or answers.

A pure function of the initial conversation and of the responses so far, except for the pictures
that the tools make: all earlier turns are replayed for each next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from omibench.params.tool import Tools
from omibench.schemas.request import (
    Conversation,
    Message,
    Part,
    Response,
    TextPart,
    ToolCall,
)
from omibench.schemas.tool_calls import read_calls, write_call
from omibench.settings.tools.arguments import LONGEST, specs
from omibench.settings.tools.bench import Bench
from omibench.settings.tools.words import MOST_CALLS, ToolWords

NO_FILES: Mapping[str, str] = {}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class _Called(NamedTuple):
    """The assistant's text and calls of one turn, as sent back and as run."""

    text: str
    repeated: tuple[ToolCall, ...]
    run: tuple[ToolCall, ...]
    total: int


def next_turn(
    opening: Conversation,
    tools: Tools,
    folder: Path,
    responses: Sequence[Response],
    prompts: Mapping[str, str] = NO_FILES,
) -> Conversation | None:
    """Return the next request of the loop; None if the last response is the answer.

    `opening` presents the problem, with its pictures in the last message; results of tools are kept
    in `folder`; `prompts` are files that replace our wording, by prompt name. A problem without
    pictures is sent without tools. Raises as `Bench.run` does.
    """
    pictures = Conversation(messages=opening.messages[-1:]).images
    if not pictures:
        return None if responses else opening
    bench = Bench(tools, pictures, folder, len(opening.images))
    words = ToolWords(tools, prompts)
    stages = words.stages
    messages = _begin_messages(opening, words.write_instructions(bench.inventory), stages[0])
    stage, calls_left = 0, tools.max_turns - 1
    for response in responses:
        called = _calls(response, tools) if calls_left else None
        if called is not None:
            calls_left -= 1
            messages += _results(called, response, bench, tools)
            if called.total > MOST_CALLS:
                messages.append(_user(words.describe_left_out(called.total)))
            if not calls_left:
                messages.append(_user(words.forbid_calls(last=stage == len(stages) - 1)))
        elif stage < len(stages) - 1:
            stage += 1
            messages += [_assistant(response.text), _user(stages[stage])]
        else:
            return None
    native = tools.style == "native" and calls_left
    return Conversation(
        messages=tuple(_merge_turns(messages)), tools=specs(tools.offered) if native else ()
    )


def _begin_messages(opening: Conversation, rules: str, stage: str) -> list[Message]:
    """Put the rules first, since some APIs accept a system turn only there."""
    messages = [Message(role="system", parts=(TextPart(text=rules),)), *opening.messages]
    return [*messages, _user(stage)] if stage else messages


def _calls(response: Response, tools: Tools) -> _Called | None:
    """Return the calls of a response, or None."""
    if tools.style == "native":
        if not response.calls:
            return None
        run = response.calls[:MOST_CALLS]
        repeated = tuple(_repeat_call(call, n) for n, call in enumerate(run, start=1))
        ids = [call.id for call in repeated]
        if len(set(ids)) < len(ids):
            repeated = tuple(
                c.model_copy(update={"id": f"call_{n}"}) for n, c in enumerate(repeated, 1)
            )
        return _Called(response.text, repeated, run, len(response.calls))
    written = read_calls(response.text)
    if written is None:
        return None
    run = tuple(written.calls[:MOST_CALLS])
    blocks = [write_call(call.name, call.arguments) for call in run if call.name]
    text = "\n\n".join(filter(None, [written.before, *blocks])) or "(a call that cannot be read)"
    return _Called(text, (), run, len(written.calls))


def _repeat_call(call: ToolCall, number: int) -> ToolCall:
    """Return a call to send back: servers reject odd names and broken arguments."""
    return ToolCall(
        id=call.id if _ID.fullmatch(call.id) else f"call_{number}",
        name=re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unknown",
        arguments=call.arguments if _is_object(call.arguments) else "{}",
    )


def _is_object(text: str) -> bool:
    if len(text) > LONGEST:
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _results(called: _Called, response: Response, bench: Bench, tools: Tools) -> Iterator[Message]:
    """Return the assistant's turn and its results: a turn per call, or one if textual."""
    results = [bench.run(call) for call in called.run]
    parts: list[tuple[Part, ...]] = [
        (TextPart(text=text[:2000]), *([image] if image else [])) for text, image in results
    ]
    if tools.style == "text":
        yield _assistant(called.text)
        yield Message(role="user", parts=reduce(_join_parts, parts))
        return
    words = (TextPart(text=called.text),) if called.text.strip() else ()
    yield Message(role="assistant", parts=words, calls=called.repeated, carried=response.carried)
    for call, content in zip(called.repeated, parts, strict=True):
        yield Message(role="tool", parts=content, answers=call.id)


def _merge_turns(messages: Sequence[Message]) -> Iterator[Message]:
    """Merge neighbouring user or system turns: some templates reject two in a row."""
    last: Message | None = None
    for message in messages:
        if last is not None and last.role == message.role in ("user", "system"):
            last = last.model_copy(update={"parts": _join_parts(last.parts, message.parts)})
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _join_parts(first: tuple[Part, ...], second: tuple[Part, ...]) -> tuple[Part, ...]:
    end, start = first[-1], second[0]
    if isinstance(end, TextPart) and isinstance(start, TextPart):
        return (*first[:-1], TextPart(text=f"{end.text}\n\n{start.text}"), *second[1:])
    return (*first, *second)


def _user(text: str) -> Message:
    return Message(role="user", parts=(TextPart(text=text),))


def _assistant(text: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=text),))
