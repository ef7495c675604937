"""The provider `inspect`: any provider of inspect_ai, one attempt per request."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from omibench.errors import ModelError, reason_of
from omibench.extras import require_extra
from omibench.models.api.failures import TOO_LONG, Failure
from omibench.models.api.http import read_key, with_own_secrets
from omibench.models.api.replies import (
    CUT,
    MOST_CALLS,
    Show,
    classify_outcome,
    is_counted,
    join_texts,
    no_answer,
    parse_call,
    split_reply,
)
from omibench.models.drawn import decode_picture
from omibench.models.provider import is_continued, refuse_options
from omibench.models.registry import provider
from omibench.models.sdk import SdkProvider
from omibench.params.models.providers import InspectModel
from omibench.schemas.request import Conversation, Message, Request, Response, TextPart, Usage
from omibench.text.masking import mask_line, remember

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Content, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import ToolInfo

MANAGED: Final = {
    "adaptive_connections", "attempt_timeout", "batch", "best_of", "cache", "fail_on_refusal",
    "fallback_models", "logprobs", "max_connections", "max_retries", "max_tokens", "num_choices",
    "prompt_logprobs", "seed", "stream_idle_timeout", "system_message", "temperature", "timeout",
    "top_p",
}  # fmt: skip
"""Fields of inspect_ai's GenerateConfig that omibench sets, or that would change what one request
is: other models, several answers, retries, a cache."""


@provider("inspect", block=InspectModel)
class InspectProvider(SdkProvider[InspectModel]):
    """A model that inspect_ai can query. Its own retries, cache and limits are off."""

    _client: Model | None = None
    _options: Mapping[str, Any] = {}

    def check(self, requests: Sequence[Request]) -> None:
        """Check the requests and create the client. Raises as `EngineProvider.answer`."""
        super().check(requests)
        for request in requests:
            if is_continued(request.conversation):
                raise ModelError(
                    f"setting {request.tags.setting!r}: model {self.name!r} would have to continue "
                    "its own turn, which inspect_ai does not offer; choose another model"
                )
        if self._client is None:
            self._client, self._options = _open_client(self.name, self.model)

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "inspect_ai scores no options; choose another model")

    async def respond(self, request: Request) -> Response:
        """See `SdkProvider.respond`."""
        if self._client is None:
            raise ModelError(f"model {self.name!r}: `check` opens its client; this is a bug")
        config = _configure(self.model, self._options, self.limits.concurrency, request)
        messages = list(_convert_turns(request.conversation, self.pictures.inline))
        tools = _convert_tools(request.conversation)
        return _read_output(await self._client.generate(messages, tools, config=config))

    async def close(self) -> None:
        """Close the client of inspect_ai."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.api.aclose()

    def find_failure(self, error: Exception) -> Failure | None:
        """Look for the failure in what inspect_ai has wrapped, the innermost exception first."""
        chain: list[Exception] = [error]
        while isinstance(inner := _unwrap(chain[-1]), Exception) and inner not in chain:
            chain.append(inner)
        found = (super(InspectProvider, self).find_failure(one) for one in reversed(chain))
        return next(filter(None, found), None)


def _unwrap(error: Exception) -> BaseException | None:
    last = getattr(error, "last_attempt", None)  # tenacity's RetryError
    return last.exception() if last is not None else error.__cause__


def _open_client(name: str, model: InspectModel) -> tuple[Model, dict[str, Any]]:
    """Create the client of a model, and return its options of GenerateConfig with their secrets.

    Raises:
        MissingExtraError: inspect_ai is not installed.
        ModelError: inspect_ai does not know the model's provider or an argument, or a key or an SDK
            is missing.
    """
    require_extra("inspect", f"model {name!r} (provider 'inspect')")
    from inspect_ai.model import GenerateConfig, get_model

    model = with_own_secrets(model)
    managed = sorted(MANAGED & model.config.keys())
    if managed:
        raise ModelError(
            f"model {name!r}: `config.{managed[0]}` is set by omibench; remove it, and use the "
            "decoding of a setting or `limits`"
        )
    for variable, value in os.environ.items():  # what inspect_ai reads, an error text can repeat
        if variable.endswith(("_KEY", "_TOKEN")):
            remember(value)
    key = read_key(model.key_env).get_secret_value() if model.key_env else None
    try:
        GenerateConfig(**model.config)
        client = get_model(
            model.id, base_url=model.base_url, api_key=key, memoize=False, **model.args
        )
    except Exception as error:  # of any provider: PrerequisiteError, ImportError, TypeError, ...
        raise ModelError(
            f"model {name!r}: inspect_ai cannot open {model.id!r}: {mask_line(reason_of(error))}"
        ) from None
    sdk: Any = getattr(client.api, "client", None)
    if hasattr(sdk, "max_retries"):  # OpenAI's and Anthropic's SDK retry on their own
        sdk.max_retries = 0
    return client, model.config


def _configure(
    model: InspectModel, options: Mapping[str, Any], concurrency: int, request: Request
) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    decoding = request.decoding
    return GenerateConfig(
        **options,
        max_tokens=decoding.max_tokens,
        temperature=decoding.temperature if model.can.temperature else None,
        top_p=decoding.top_p,
        seed=request.index if model.can.seed else None,
        logprobs=True if model.can.logprobs else None,
        max_retries=0,
        max_connections=concurrency,
        cache=False,
    )


def _convert_turns(conversation: Conversation, show: Show) -> Iterator[ChatMessage]:
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
    )
    from inspect_ai.tool import ToolCall

    names = {call.id: call.name for turn in conversation.messages for call in turn.calls}
    for turn in conversation.messages:
        if turn.role == "system":
            yield ChatMessageSystem(content=join_texts(turn))
        elif turn.role == "user":
            yield ChatMessageUser(content=_convert_parts(turn, show))
        elif turn.role == "tool":
            content = _convert_parts(turn, show)
            name = names.get(turn.answers or "")
            yield ChatMessageTool(content=content, tool_call_id=turn.answers, function=name)
        elif turn.carried:
            yield ChatMessageAssistant.model_validate_json(turn.carried)
        else:
            calls = [
                ToolCall(id=call.id, function=call.name, arguments=_as_arguments(call.arguments))
                for call in turn.calls
            ]
            yield ChatMessageAssistant(content=_convert_parts(turn, show), tool_calls=calls or None)


def _as_arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": text}


def _convert_parts(turn: Message, show: Show) -> list[Content]:
    from inspect_ai.model import ContentImage, ContentText

    return [
        ContentText(text=part.text)
        if isinstance(part, TextPart)
        else ContentImage(image=show(part).url)
        for part in turn.parts
    ]


def _convert_tools(conversation: Conversation) -> list[ToolInfo]:
    from inspect_ai.tool import ToolInfo, ToolParams

    return [
        ToolInfo(
            name=tool.name,
            description=tool.description,
            parameters=ToolParams.model_validate(tool.parameters),
        )
        for tool in conversation.tools
    ]


def _read_output(output: ModelOutput) -> Response:
    """Convert an output.

    Raises:
        Failure: It has no content; or inspect_ai puts an error of the provider in its place, as it
            does where the content is refused or too long.
    """
    from inspect_ai.model import ContentImage, ContentReasoning, ContentText

    usage = _read_usage(output)
    stop = output.stop_reason if output.choices else None
    counted = is_counted(usage)
    if output.error or (stop in {"content_filter", "model_length"} and not counted):
        raise Failure(
            output.error or output.completion,
            status=200 if counted else 400,
            refused=stop if stop == "content_filter" else None,
            content=TOO_LONG if stop == "model_length" else None,
            maybe_paid=counted,
        )
    if not output.choices:
        raise no_answer()
    message = output.choices[0].message
    content = message.content
    parts: list[Content] = [ContentText(text=content)] if isinstance(content, str) else [*content]
    pieces = (
        part.text
        if isinstance(part, ContentText)
        else decode_picture(part.image if isinstance(part, ContentImage) else "")
        for part in parts
    )
    thoughts = [part for part in parts if isinstance(part, ContentReasoning)]
    texts = [part.summary or "" if part.redacted else part.reasoning for part in thoughts]
    text, reasoning, drawn, drawn_at = split_reply(pieces, "\n".join(filter(None, texts)))
    calls = tuple(
        parse_call(call.id, call.function, call.arguments)
        for call in (message.tool_calls or [])[:MOST_CALLS]
    )
    outcome = classify_outcome(
        text, cut=stop in CUT, refused=stop == "content_filter", called=bool(calls or drawn)
    )
    if outcome == "empty" and not counted:
        raise no_answer()
    logprobs = output.choices[0].logprobs
    return Response(
        text=text,
        outcome=outcome,
        calls=calls,
        drawn=drawn,
        drawn_at=drawn_at,
        carried=message.model_dump_json(exclude_none=True) if calls and thoughts else None,
        finish_reason=stop,
        reasoning=reasoning,
        usage=usage,
        cost_usd=output.usage.total_cost if output.usage else None,
        latency_s=output.time,
        provider_id=output.response_id,
        served_model=output.model or None,
        logprob=sum(token.logprob for token in logprobs.content) if logprobs else None,
    )


def _read_usage(output: ModelOutput) -> Usage:
    """Count the tokens. inspect_ai counts cache reads and writes separately from the input."""
    counts = output.usage
    if counts is None:
        return Usage()
    read, written = counts.input_tokens_cache_read, counts.input_tokens_cache_write
    return Usage(
        input_tokens=counts.input_tokens + (read or 0) + (written or 0),
        output_tokens=counts.output_tokens,
        cached_tokens=read,
        reasoning_tokens=counts.reasoning_tokens,
    )
