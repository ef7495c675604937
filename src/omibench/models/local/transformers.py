"""The `transformers` provider: batched generation on this machine, for models without vLLM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.models.local.checkpoint import LOADED
from omibench.models.local.prompts import (
    OptionTokens,
    SampleRun,
    cut_chunks,
    group_runs,
    make_responses,
    pixels,
    split_by_turn,
)
from omibench.models.local.provider import LocalProvider, Scored, is_out_of_memory
from omibench.models.local.transformers_engine import (
    TransformersEngine,
    generate,
    occluded_logprobs,
    option_logprobs,
    strip_patches,
)
from omibench.models.registry import provider
from omibench.params.models.providers import TransformersModel
from omibench.schemas.request import Conversation, Request, Response

CHARACTERS_PER_TOKEN = 3.5
PIXELS_PER_TOKEN = 28 * 28
"""Used only to sort by length: a token of Qwen2.5-VL covers 28 x 28 pixels."""


@provider("transformers", block=TransformersModel)
class TransformersProvider(LocalProvider[TransformersModel, TransformersEngine]):
    """A model run by transformers in this process, on the first GPU or else on the CPU.

    The longest prompts are asked first. Options of one conversation under many patches are scored
    together.
    """

    def load(self) -> TransformersEngine:
        """See `LocalProvider.load`."""
        return TransformersEngine(self.name, self.model)

    def score_options(self, requests: Sequence[Request]) -> Iterator[Scored]:
        """See `LocalProvider.score_options`; the softmax is in float32."""
        first: dict[object, int] = {}
        kinds = {
            id(request): first.setdefault(strip_patches(request.conversation), n)
            for n, request in enumerate(requests)
        }
        waiting = sorted(requests, key=lambda r: (-self._length(r.conversation), kinds[id(r)]))
        tokens: OptionTokens | None = None
        while waiting:
            part = waiting[: int(self.batch_size)]
            alike = [request for request in part if kinds[id(request)] == kinds[id(part[0])]]
            part = alike if len(alike) > 1 else part
            with LOADED.lock:
                engine = self.open_engine()
                tokens = tokens or OptionTokens(engine.tokenizer, engine.specials, self.name)
                prompts = [tokens.prepare(r.conversation, r.options) for r in part]
                # A batch either continues assistant turns or begins new ones.
                prompts = next(split_by_turn(prompts))
                part = part[: len(prompts)]
                try:
                    logprobs = (
                        occluded_logprobs(engine, prompts, self.model.thinking)
                        if len(alike) > 1
                        else None
                    )
                    logprobs = logprobs or option_logprobs(engine, prompts, self.model.thinking)
                except RuntimeError as error:
                    if not is_out_of_memory(error) or len(part) == 1:
                        raise
                    self.shrink(engine, len(part))
                    continue
            for request, values in zip(part, logprobs, strict=True):
                yield request, dict(zip(request.options, values, strict=True))
            waiting = waiting[len(part) :]

    def cut_calls(self, requests: Sequence[Request]) -> Iterator[list[SampleRun]]:
        """See `LocalProvider.cut_calls`: runs of a call share decoding, draws and tools."""
        alike: dict[tuple[object, ...], list[SampleRun]] = {}
        for run in group_runs(requests, limit=int(self.batch_size)):
            decoding = run.decoding
            tools = run.conversation.tools
            key = (decoding.temperature, decoding.top_p, decoding.max_tokens, run.draws, tools)
            alike.setdefault(key, []).append(run)
        for runs in alike.values():
            runs.sort(key=lambda run: -self._length(run.conversation))
            yield from cut_chunks(runs, self.batch_size, lambda run: run.draws)

    def _length(self, conversation: Conversation) -> float:
        most_pixels = self.model.max_pixels or float("inf")
        area = sum(min(pixels(image), most_pixels) for image in conversation.images)
        return len(conversation.text) / CHARACTERS_PER_TOKEN + area / PIXELS_PER_TOKEN

    def respond(self, engine: TransformersEngine, runs: list[SampleRun]) -> list[list[Response]]:
        """See `LocalProvider.respond`."""
        outputs = generate(engine, runs, self.model.thinking, self.model.seed)
        return [
            make_responses(run, drawn, self.model.price)
            for run, drawn in zip(runs, outputs, strict=True)
        ]
