"""Prompts of local engines: pictures, runs of samples, tools, chat templates and options."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from omibench.errors import MissingInputError, ModelError, reason_of
from omibench.files.pictures import READERS
from omibench.files.reading import read_bytes
from omibench.models.api.replies import (
    MOST_CALLS,
    classify_outcome,
    compute_cost,
    divide_usage,
    move_pictures,
    parse_call,
    split_reply,
)
from omibench.models.drawn import as_rgb
from omibench.models.provider import is_continued
from omibench.params.models.base import Price
from omibench.schemas.request import (
    Conversation,
    Decoding,
    DrawnPart,
    ImagePart,
    Message,
    Request,
    Response,
    TextPart,
    ToolCall,
    Usage,
)

if TYPE_CHECKING:
    from PIL.Image import Image


DECODED = 256
"""Decoded pictures kept for later requests."""


def pixels(image: ImagePart) -> int:
    """Return the pixels of a picture from its header. Raises as `decode`."""
    return _pixels(image.path, _state(image))


def decode(image: ImagePart) -> Image:
    """Decode a picture as RGB: rotated by its EXIF tag, on white if transparent.

    Raises MissingInputError if the file is missing, and ModelError if Pillow cannot read it or it
    has more pixels than Pillow's MAX_IMAGE_PIXELS.
    """
    picture = _decode(image.path, image.sha256, _state(image))
    return picture if image.patch is None else cover_patch(picture, image.patch)


def cover_patch(image: Image, patch: tuple[int, int, int]) -> Image:
    """Copy an RGB picture with a black square of `side` pixels at (x, y)."""
    x, y, side = patch
    copy = image.copy()
    copy.paste((0, 0, 0), (x, y, x + side, y + side))
    return copy


def _state(image: ImagePart) -> tuple[int, int]:
    try:
        file_stat = os.stat(image.path)  # noqa: PTH116
    except OSError as error:
        name = image.path or f"image {image.sha256[:12]}"
        raise MissingInputError(f"{name}: cannot be opened: {reason_of(error)}") from None
    return file_stat.st_mtime_ns, file_stat.st_size


@lru_cache(maxsize=65536)
def _pixels(path: str, state: tuple[int, int]) -> int:
    with _open_image(path) as image:
        return int(image.width * image.height)


@lru_cache(maxsize=DECODED)
def _decode(path: str, sha256: str, state: tuple[int, int]) -> Image:
    from PIL import ImageOps

    with _open_image(path) as image:
        try:
            return as_rgb(ImageOps.exif_transpose(image))
        except (OSError, ValueError, SyntaxError) as error:
            raise ModelError(
                f"{path}: is damaged and cannot be decoded: {reason_of(error)}; restore the file"
            ) from None


def _open_image(path: str) -> Any:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            # Up to twice its limit Pillow only warns; such a picture is rejected here.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(io.BytesIO(read_bytes(path)), formats=READERS)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise ModelError(
            f"{path}: has more than {Image.MAX_IMAGE_PIXELS} pixels, the supported maximum; scale "
            "the picture down and freeze the dataset again"
        ) from None
    except (OSError, ValueError, SyntaxError) as error:
        raise ModelError(f"{path}: is not a readable picture: {reason_of(error)}") from None


# Requests for local engines: samples of one conversation together, each with its seed.
#
# A sample's seed is derived from the content of its request and its index, so a sample does not
# depend on the other requests, and k=8 continues the samples of k=4.

Weighed = TypeVar("Weighed")


class SampleRun(NamedTuple):
    """Samples of one conversation under one decoding, with consecutive indices."""

    requests: tuple[Request, ...]

    @property
    def conversation(self) -> Conversation:
        """The conversation of the run."""
        return self.requests[0].conversation

    @property
    def decoding(self) -> Decoding:
        """The decoding of the run."""
        return self.requests[0].decoding

    @property
    def draws(self) -> int:
        """Number of samples to draw: one if decoding is greedy, since all would be equal."""
        return 1 if self.decoding.temperature == 0 else len(self.requests)

    def halves(self) -> tuple[SampleRun, SampleRun]:
        """Cut the run in two; it must contain several requests."""
        middle = len(self.requests) // 2
        return SampleRun(self.requests[:middle]), SampleRun(self.requests[middle:])


def group_runs(requests: Iterable[Request], limit: int | None = None) -> list[SampleRun]:
    """Group requests into runs of at most `limit` draws, in the order of their first requests."""
    groups: dict[tuple[object, ...], list[Request]] = {}
    for request in requests:
        decoding = request.decoding
        key = (request.conversation, decoding.temperature, decoding.top_p, decoding.max_tokens)
        groups.setdefault(key, []).append(request)
    return [run for group in groups.values() for run in _cut(group, limit)]


def _cut(group: list[Request], limit: int | None) -> Iterator[SampleRun]:
    if group[0].decoding.temperature == 0:
        yield SampleRun(tuple(group))
        return
    group = sorted(group, key=lambda request: request.index)
    start = 0
    for end, (previous, following) in enumerate(pairwise(group), start=1):
        if following.index != previous.index + 1 or end - start == limit:
            yield SampleRun(tuple(group[start:end]))
            start = end
    yield SampleRun(tuple(group[start:]))


def derive_seed(run: SampleRun, model_seed: int) -> int:
    """Return the seed of a run's first sample, below 2^49; the next take the next integers.

    The length limit does not count: a sample under a larger limit begins with the same text.
    """
    messages = [
        [
            m.role,
            [[p.text] if isinstance(p, TextPart) else [p.content_key, "image"] for p in m.parts],
        ]
        for m in run.conversation.messages
    ]
    text = json.dumps([model_seed, run.decoding.temperature, run.decoding.top_p, messages])
    digest = hashlib.blake2b(text.encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") + run.requests[0].index


def cut_chunks(
    runs: Iterable[Weighed], limit: float, weight: Callable[[Weighed], float]
) -> Iterator[list[Weighed]]:
    """Cut runs into chunks with a total weight of at most `limit`, but at least one run each."""
    chunk: list[Weighed] = []
    total = 0.0
    for run in runs:
        size = weight(run)
        if chunk and total + size > limit:
            yield chunk
            chunk, total = [], 0.0
        chunk.append(run)
        total += size
    if chunk:
        yield chunk


# Tools for local engines: offered through the chat template, parsed from the output.
#
# Calls have the form `<tool_call>{"name": ..., "arguments": ...} </tool_call>` (Hermes), which the
# templates of Qwen and many others request.

OPENING, CLOSING = "<tool_call>", "</tool_call>"


def group_by_tools(runs: Iterable[SampleRun]) -> list[list[SampleRun]]:
    """Group runs by the tools that they offer, since one call of an engine offers one set."""
    ordered = sorted(runs, key=_names)
    return [list(group) for _, group in groupby(ordered, key=_names)]


def check_template(template: object, name: str) -> None:
    """Raise ModelError if a chat template does not offer tools in the supported form."""
    if OPENING not in str(template):
        raise ModelError(
            f"model {name!r}: its chat template does not offer tools in the supported form "
            f"({OPENING}); set `style: text` under the setting's `tools`"
        )


def template_calls(message: Message, safe: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields besides content of a turn with calls or tool results in a chat template."""
    if message.answers is not None:
        return {"tool_call_id": message.answers}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.loads(safe(call.arguments))},
        }
        for call in message.calls
    ]
    return {"tool_calls": calls} if calls else {}


def parse_reply(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the text of a reply, and the calls in it; an invalid call has the name ""."""
    head, *blocks = text.split(OPENING)
    words: list[str] = [head]
    calls: list[ToolCall] = []
    for block in blocks[:MOST_CALLS]:
        body, _, after = block.partition(CLOSING)
        calls.append(_call(f"call_{len(calls) + 1}", body))
        words.append(after)
    return "".join(words).strip() if calls else text, tuple(calls)


def _call(id: str, body: str) -> ToolCall:
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return ToolCall(id=id, name="", arguments='it is no object {"name": ..., "arguments": ...}')
    return parse_call(id, call["name"], call.get("arguments"))


def _names(run: SampleRun) -> list[str]:
    return [tool.name for tool in run.conversation.tools]


# Convert conversations for chat templates, and a model's output to Responses.

THINK = "<think>"


class RejectedPromptError(ModelError):
    """An engine rejects a prompt of a call, for example as too long.

    When answering, the other prompts of the call are still answered; option scores are all or
    nothing.
    """


class Draw(NamedTuple):
    """One sample from an engine: text, reason for its end, tokens.

    `finish` is `stop`, `length`, or the engine's own term for a failure. `pieces` are its text and
    pictures in sequence, if it can draw, with `image_tokens` of the pictures.
    """

    text: str
    finish: str
    output_tokens: int
    pieces: Sequence[str | DrawnPart] = ()
    image_tokens: int | None = None


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


def opens_thinking(tokenizer: Any, prompt: Sequence[int]) -> bool:
    """Return whether a prompt, as tokens, ends inside a thinking block."""
    return bool(tokenizer.decode(list(prompt[-8:])).rstrip().endswith(THINK))


def make_responses(run: SampleRun, drawn: Drawn, price: Price | None) -> list[Response]:
    """Build one response per request of a run; a greedy draw answers all its samples.

    The prompt's tokens are divided over its samples.
    """
    copies = len(run.requests) // len(drawn.draws)
    prompt = Usage(input_tokens=drawn.input_tokens, cached_tokens=drawn.cached_tokens)
    prompts = iter(divide_usage(prompt, len(run.requests)))
    responses = []
    for draw in drawn.draws:
        words = _words(draw, drawn.opened, bool(run.conversation.tools))
        spent = Usage(output_tokens=draw.output_tokens, image_output_tokens=draw.image_tokens)
        for output_usage in divide_usage(spent, copies):
            usage = next(prompts).model_copy(update=output_usage.model_dump(exclude_none=True))
            measurements = {"usage": usage, "cost_usd": compute_cost(price, usage)}
            responses.append(words.model_copy(update=measurements))
    return responses


def _words(draw: Draw, opened: bool, tools: bool) -> Response:
    if draw.finish not in ("stop", "length"):
        return Response(text="", outcome="provider_error", error=f"the engine: {draw.finish}")
    reply = split_reply([THINK if opened else "", *(draw.pieces or [draw.text])])
    words, calls = parse_reply(reply.text) if tools else (reply.text, ())
    cut = draw.finish == "length"
    return Response(
        text=words,
        outcome=classify_outcome(words, cut=cut, refused=False, called=bool(calls)),
        calls=calls,
        drawn=reply.drawn,
        drawn_at=reply.drawn_at if words == reply.text else (),
        finish_reason=draw.finish,
        reasoning=reply.reasoning,
    )


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


# Options as the next token, also in the middle of an assistant turn.
#
# A letter inside a response is usually one token together with the space or bracket before it, so a
# response that is cut off before its letter does not end at a token boundary. The context is cut
# back to a boundary that fits every option, and the characters in between are added to each option.

MOST_MOVED = 3
"""Maximum characters before a letter that can be part of its token."""
TAIL = 4
"""Tokens at the end of a prompt that are compared."""


class OptionPrompt(NamedTuple):
    """A conversation, and each option as one possible next token."""

    conversation: Conversation
    ids: list[int]
    tail: list[int]
    """The last tokens of the continued turn; empty if a new turn begins."""


class LetterToken(NamedTuple):
    """The end of a text at which each option is exactly one further token."""

    moved: int
    """Characters at its end that belong to the tokens of the options."""
    ids: list[int]
    tail: list[int]


class OptionTokens:
    """Finds the tokens of options as the continuation of a conversation.

    The result is cached per text, since many conversations differ only in a patch.

    Args:
        tokenizer: The model's tokenizer.
        specials: Its control tokens, which no text can contain.
        name: The model's name in the study.
    """

    def __init__(self, tokenizer: Any, specials: Iterable[str], name: str) -> None:
        self._tokenizer, self._specials, self._name = tokenizer, frozenset(specials), name
        self._tokens: dict[tuple[str, tuple[str, ...]], LetterToken] = {}

    def prepare(self, conversation: Conversation, options: Sequence[str]) -> OptionPrompt:
        """Find the token of each option as the continuation of a conversation.

        Args:
            conversation: The conversation; if it ends in an assistant turn, that turn is continued.
            options: The options, such as letters.

        Returns:
            The conversation, with its last turn cut back by the characters that belong to the
            options' tokens, and these tokens.

        Raises:
            ModelError: An option is not exactly one token there.
        """
        if not is_continued(conversation):
            return OptionPrompt(conversation, option_ids(self._tokenizer, options, self._name), [])
        *before, turn = conversation.messages
        part = turn.parts[-1]
        text = defuse(part.text, self._specials) if isinstance(part, TextPart) else ""
        token = self._find_token(text, tuple(options))
        context = text[: len(text) - token.moved]
        messages = [*before]
        if context.strip():
            parts = (*turn.parts[:-1], TextPart(text=context))
            messages.append(turn.model_copy(update={"parts": parts}))
        shortened = conversation.model_copy(update={"messages": tuple(messages)})
        return OptionPrompt(shortened, token.ids, token.tail if context.strip() else [])

    def _find_token(self, text: str, options: tuple[str, ...]) -> LetterToken:
        if (text, options) not in self._tokens:
            self._tokens[text, options] = find_letter_token(
                self._tokenizer, text, options, self._name
            )
        return self._tokens[text, options]


def find_letter_token(tokenizer: Any, text: str, options: Sequence[str], name: str) -> LetterToken:
    """Cut a text back, by few characters, until every option adds exactly one token.

    Args:
        tokenizer: The model's tokenizer.
        text: The text before the option.
        options: The options.
        name: The model's name in the study.

    Raises:
        ModelError: No position fits.
    """
    for moved in range(min(MOST_MOVED, len(text)) + 1):
        context, lead = text[: len(text) - moved], text[len(text) - moved :]
        tokens = _encode(tokenizer, context)
        longer = [_encode(tokenizer, context + lead + option) for option in options]
        if all(row[:-1] == tokens for row in longer):
            return LetterToken(moved, [row[-1] for row in longer], tokens[-TAIL:])
    raise ModelError(
        f"model {name!r}: an option is not a single token after {text[-20:]!r}; log-probabilities "
        "are exact only for options of one token, such as a letter"
    )


def split_by_turn(prompts: Sequence[OptionPrompt]) -> Iterator[list[OptionPrompt]]:
    """Split into runs of neighbours that all continue an assistant turn or all begin a new one."""
    for _, alike in groupby(prompts, lambda prompt: is_continued(prompt.conversation)):
        yield list(alike)


def check_tail(prompt: Sequence[int], tail: Sequence[int], name: str) -> None:
    """Check that a prompt ends with the continued turn.

    Args:
        prompt: The tokens of the prompt, from the engine.
        tail: `OptionPrompt.tail`.
        name: The model's name in the study.

    Raises:
        ModelError: It does not: the chat template changes the end of the turn.
    """
    if tail and list(prompt[-len(tail) :]) != list(tail):
        raise ModelError(
            f"model {name!r}: its chat template changes the end of the response before the "
            "requested letter; set `saliency.reading` to `before_answer`"
        )


def _encode(tokenizer: Any, text: str) -> list[int]:
    return [int(token) for token in tokenizer.encode(text, add_special_tokens=False)]
