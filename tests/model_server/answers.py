"""Answers computed from requests: the same request always gets the same answer."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from model_server.asked import Asked, uniform
from model_server.config import Config, Reply

Finish = Literal["stop", "calls", "length", "filter"]
TOKEN = 4
"""Characters of a token: text is cut into pieces of this length."""
IMAGE_TOKENS = 256
FILLER = "Each figure is read in turn and the quantities are compared. "


@dataclass(frozen=True, slots=True)
class Choice:
    """One draw."""

    text: str
    reasoning: str
    finish: Finish
    calls: tuple[tuple[str, str], ...] = ()
    """Names and arguments as JSON text."""
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """All draws of one request and the tokens billed: `output` includes `reasoning`."""

    choices: tuple[Choice, ...]
    input: int
    cached: int
    output: int
    reasoning: int


def count(text: str) -> int:
    """Tokens of a text."""
    return math.ceil(len(text) / TOKEN)


def pieces(text: str) -> list[str]:
    """The tokens of a text; joined they are the text."""
    return [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]


def logprobs(text: str, top: int) -> list[tuple[str, float, list[tuple[str, float]]]]:
    """Per token: the token, its log-probability, and the `top` most likely with theirs."""
    rows = []
    for place, token in enumerate(pieces(text)):
        p = 0.5 + 0.45 * uniform("logprob", text, place)
        rest = [(f"<{k}>", math.log((1 - p) / 2**k)) for k in range(1, top)]
        rows.append((token, math.log(p), [(token, math.log(p)), *rest][:top]))
    return rows


def answer(asked: Asked, config: Config) -> Answer:
    """Every draw of a request."""
    reply = next((r for part, r in config.replies.items() if part in asked.text), None)
    choices = tuple(_choice(asked, config, reply, i) for i in range(asked.n))
    reasoning = sum(count(c.reasoning) for c in choices)
    prompt = count(asked.text) + IMAGE_TOKENS * len(asked.images)
    return Answer(
        choices=choices,
        input=prompt,
        cached=int(prompt * config.cached_fraction),
        output=reasoning + sum(count(c.text) + _call_tokens(c) for c in choices),
        reasoning=reasoning,
    )


def _call_tokens(choice: Choice) -> int:
    return sum(count(name) + count(arguments) for name, arguments in choice.calls)


def _choice(asked: Asked, config: Config, reply: Reply | None, i: int) -> Choice:
    thought = (reply.reasoning or "") if reply is not None and asked.thinks else ""
    if reply is not None and reply.calls and asked.may_call and asked.rounds < reply.rounds:
        calls = tuple((call.name, _written(call.arguments)) for call in reply.calls)
        return Choice(reply.says, thought, "calls", calls=calls)
    if reply is None:
        return _limited(_computed(asked, config, i), "", asked)
    texts = [reply.text] if isinstance(reply.text, str) else reply.text
    return replace(_limited(texts[i % len(texts)], thought, asked), images=tuple(reply.images))


def _written(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _computed(asked: Asked, config: Config, place: int) -> str:
    """At temperature 0 every draw is the same, as with a real model."""
    draw: tuple[object, ...] = ()
    if asked.temperature != 0:
        draw = (asked.seed, place, 0)
    u = uniform("answer", config.seed, asked.turns_key, *draw)
    value = "ABCD"[int(u * 4)] if config.letters else str(int(u * 1000))
    text = f"The answer is \\boxed{{{value}}}."
    return _filler(config.answer_chars - len(text)) + text


def _filler(chars: int) -> str:
    return (FILLER * (chars // len(FILLER) + 1))[:chars] if chars > 0 else ""


def _limited(text: str, thought: str, asked: Asked) -> Choice:
    """Max tokens cut first the answer, then the reasoning."""
    finish: Finish = "stop"
    if asked.max_tokens is not None and count(thought) + count(text) > asked.max_tokens:
        thought = thought[: asked.max_tokens * TOKEN]
        text = text[: (asked.max_tokens - count(thought)) * TOKEN]
        finish = "length"
    return Choice(text, thought, finish)
