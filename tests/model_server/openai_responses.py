"""Responses of the OpenAI API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from model_server.answers import Answer
from model_server.api import Api
from model_server.asked import Asked, bad, decoding, need, positive
from model_server.config import Config, Kind
from model_server.openai_parts import Json, error, token_rows, turn
from model_server.tools import may_call, response_rounds


def parse(body: Mapping[str, Any]) -> Asked:
    """A body of POST /v1/responses, which knows neither n nor seed. Raises Refused."""
    for name in ("n", "seed", "messages", "max_tokens", "stop"):
        if name in body:
            raise bad(f"Unknown parameter: '{name}'.", name)
    given = body.get("input")
    turns = [("user", (given,))] if isinstance(given, str) else map(turn, need(body, "input", list))
    system = body.get("instructions")
    wants = "message.output_text.logprobs" in (body.get("include") or ())
    return Asked(
        model=body["model"],
        turns=(*([("system", (system,))] if system else []), *turns),
        decoding=decoding(body),
        max_tokens=positive(body, "max_output_tokens"),
        temperature=body.get("temperature"),
        top_logprobs=(body.get("top_logprobs") or 0) if wants else None,
        thinks=(body.get("reasoning") or {}).get("effort") != "none",
        may_call=may_call(body, ("parameters",)),
        rounds=response_rounds(given) if isinstance(given, list) else 0,
    )


def render(asked: Asked, answer: Answer, config: Config, *, serial: str, kind: Kind) -> Json:
    """A response: an item of reasoning when there was any, then the message."""
    choice = answer.choices[0]
    output: list[Json] = []
    if answer.reasoning:
        shown = [{"type": "summary_text", "text": choice.reasoning}]
        summary = shown if config.reasoning_field != "hidden" else []
        output.append({"id": f"rs_{serial}", "type": "reasoning", "summary": summary})
    reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(choice.finish)
    status = "incomplete" if reason else "completed"
    status = "cancelled" if kind == "broken_off" else status
    if choice.text and choice.finish != "filter":
        text: Json = {"type": "output_text", "text": choice.text, "annotations": []}
        text["logprobs"] = token_rows(choice, asked) or []
        item = {"id": f"msg_{serial}", "type": "message", "role": "assistant"}
        output.append(item | {"status": status, "content": [text]})
    for n, (name, arguments) in enumerate(choice.calls):
        call = {"type": "function_call", "id": f"fc_{serial}_{n}", "call_id": f"call_{n}"}
        output.append(call | {"name": name, "arguments": arguments, "status": "completed"})
    for n, url in enumerate(choice.images):
        drawn = {"type": "image_generation_call", "id": f"ig_{serial}_{n}", "status": "completed"}
        output.append(drawn | {"result": url.partition(",")[2]})
    return {
        "id": f"resp_{serial}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "model": "another-model" if kind == "wrong_model" else asked.model,
        "output": [] if kind == "fewer_choices" else output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": answer.input,
            "input_tokens_details": {"cached_tokens": answer.cached, "cache_write_tokens": 0},
            "output_tokens": answer.output,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning},
            "total_tokens": answer.input + answer.output,
        },
    }


RESPONSES = Api("responses", "/v1/responses", parse, render, error)
