"""Convert conversations for chat templates, and a model's output to Responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from omibench.errors import ModelError
from omibench.models.http.replies import (
    classify_outcome,
    compute_cost,
    divide_usage,
    split_reasoning,
)
from omibench.models.http.tool_turns import move_pictures
from omibench.models.local.runs import SampleRun
from omibench.models.local.tools import Spoken, parse_reply, template_calls
from omibench.params.models.base import Price
from omibench.schemas.request import Conversation, ImagePart, Response, Usage

THINK = "<think>"


class RejectedPromptError(ModelError):
    """An engine rejects a prompt of a call, for example as too long.

    When answering, the other prompts of the call are still answered; option scores are all or
    nothing.
    """


class Draw(NamedTuple):
    """One sample from an engine: text, reason for its end, tokens.

    `finish` is `stop`, `length`, or the engine's own term for a failure.
    """

    text: str
    finish: str
    output_tokens: int


class Drawn(NamedTuple):
    """The samples of one run. `opened`: the prompt already ended inside a thinking block."""

    draws: list[Draw]
    input_tokens: int
    cached_tokens: int | None = None
    opened: bool = False


def special_tokens(tokenizer: Any) -> frozenset[str]:
    """Return the control tokens of a tokenizer, such as ends of turns and image placeholders."""
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    marked = {str(token) for token in added if getattr(token, "special", False)}
    return frozenset(t for t in marked | set(tokenizer.all_special_tokens) if t.split() == [t])


def defuse(text: str, specials: Iterable[str]) -> str:
    """Break every control token in a text by a space after its first character.

    Otherwise the text of a paper or a response could end its turn or claim an image.
    """
    tokens = sorted((s for s in specials if s in text), key=len, reverse=True)
    if not tokens:
        return text
    pattern = re.compile("|".join(map(re.escape, tokens)))
    while pattern.search(text):
        text = pattern.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", text)
    return text


def chat_messages(
    conversation: Conversation,
    specials: Iterable[str],
    show: Callable[[ImagePart], dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return the messages of a conversation; `show` builds the content part of an image.

    Tool turns are text; their pictures follow in a user turn.
    """
    return [
        {
            "role": message.role,
            **template_calls(message, lambda text: defuse(text, specials)),
            "content": [
                show(part)
                if isinstance(part, ImagePart)
                else {"type": "text", "text": defuse(part.text, specials)}
                for part in message.parts
            ],
        }
        for message in move_pictures(conversation.messages)
    ]


def make_responses(
    run: SampleRun, drawn: Drawn, price: Price | None, latency_s: float
) -> list[Response]:
    """Build one response per request of a run; a greedy draw answers all its samples.

    The prompt's tokens are divided over its samples. `latency_s` is the time of their batch.
    """
    copies = len(run.requests) // len(drawn.draws)
    prompt = Usage(input_tokens=drawn.input_tokens, cached_tokens=drawn.cached_tokens)
    prompts = iter(divide_usage(prompt, len(run.requests)))
    responses = []
    for draw in drawn.draws:
        words = _words(draw, drawn.opened, bool(run.conversation.tools))
        for output_usage in divide_usage(Usage(output_tokens=draw.output_tokens), copies):
            usage = next(prompts).model_copy(update={"output_tokens": output_usage.output_tokens})
            measurements = {
                "usage": usage,
                "cost_usd": compute_cost(price, usage),
                "latency_s": round(latency_s, 3),
            }
            responses.append(words.model_copy(update=measurements))
    return responses


def _words(draw: Draw, opened: bool, tools: bool) -> Response:
    if draw.finish not in ("stop", "length"):
        return Response(text="", outcome="provider_error", error=f"the engine: {draw.finish}")
    answer, reasoning = split_reasoning(THINK + draw.text if opened else draw.text, "")
    words, calls = parse_reply(answer) if tools else Spoken(answer, ())
    cut = draw.finish == "length"
    return Response(
        text=words,
        outcome=classify_outcome(words, cut=cut, refused=False, called=bool(calls)),
        calls=calls,
        finish_reason=draw.finish,
        reasoning=reasoning,
    )


def make_failures(run: SampleRun, error: str) -> list[Response]:
    """Build the responses of a run that the engine rejected."""
    return [Response(text="", outcome="provider_error", error=error) for _ in run.requests]


def option_ids(tokenizer: Any, options: Iterable[str], name: str) -> list[int]:
    """Return the token of each option. Raises ModelError if an option is not exactly one token."""
    ids = []
    for option in options:
        tokens = tokenizer.encode(option, add_special_tokens=False)
        if len(tokens) != 1:
            raise ModelError(
                f"model {name!r}: the option {option!r} is {len(tokens)} tokens; "
                "log-probabilities are exact only for options of one token, such as a letter"
            )
        ids.append(int(tokens[0]))
    return ids
