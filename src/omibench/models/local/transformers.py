"""The `transformers` provider: batched generation on this machine, for models without vLLM."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from omibench.models.local.checkpoint import LOADED
from omibench.models.local.prompts import (
    Answers,
    OptionTokens,
    RejectedPromptError,
    SampleRun,
    answer_options,
    answer_runs,
    cut_chunks,
    group_runs,
    make_failures,
    make_responses,
    pixels,
    split_by_turn,
)
from omibench.models.local.transformers_engine import (
    TransformersEngine,
    generate,
    is_out_of_memory,
    occluded_logprobs,
    option_logprobs,
    strip_patches,
    transformers_engine,
)
from omibench.models.options import OptionScores, split_scoring
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.params.models.providers import TransformersModel
from omibench.schemas.request import Conversation, Request, Response

CHARACTERS_PER_TOKEN = 3.5
PIXELS_PER_TOKEN = 28 * 28
"""Used only to sort by length: a token of Qwen2.5-VL covers 28 x 28 pixels."""


class TransformersProvider(BaseProvider[TransformersModel]):
    """A model run by transformers in this process, on the first GPU or else on the CPU.

    The model is loaded on the first request. Raises ModelError if torch or transformers is missing
    or the model cannot be loaded.
    """

    def __init__(self, name: str, model: TransformersModel) -> None:
        super().__init__(name, model)
        self.batch_size = model.batch_size
        """Rows per batch; halved permanently if a batch does not fit into memory."""

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response, batch by batch, the longest prompts first.

        Options are scored first, those of one conversation under many patches together.

        A single row that does not fit into memory, or that the processor rejects, is a
        `provider_error`. Raises ModelError if the model cannot be loaded.
        """
        scoring, generating = split_scoring(requests)
        yield from answer_options(scoring, budget, self.score_options)
        yield from answer_runs(self._batches(generating), budget, self._ask)

    def score_options(
        self, requests: Sequence[Request], options: Sequence[Sequence[str]]
    ) -> Iterator[OptionScores]:
        """Yield the log-probability of each request's options as the next token, in any order.

        They are normalised over the whole vocabulary in float32. Each option must be one token.
        """
        pairs = list(zip(requests, options, strict=True))
        first: dict[object, int] = {}
        kinds = {
            id(r): first.setdefault(strip_patches(r.conversation), n)
            for n, (r, _) in enumerate(pairs)
        }
        pairs.sort(key=lambda pair: (-self._length(pair[0].conversation), kinds[id(pair[0])]))
        tokens: OptionTokens | None = None
        while pairs:
            part = pairs[: self.batch_size]
            alike = [pair for pair in part if kinds[id(pair[0])] == kinds[id(part[0][0])]]
            part = alike if len(alike) > 1 else part
            with LOADED.lock:
                engine = transformers_engine(self.name, self.model)
                tokens = tokens or OptionTokens(engine.tokenizer, engine.specials, self.name)
                prompts = [tokens.prepare(r.conversation, choices) for r, choices in part]
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
                    self._shrink(engine, len(part))
                    continue
            for (request, choices), values in zip(part, logprobs, strict=True):
                yield OptionScores(request, dict(zip(choices, values, strict=True)))
            pairs = pairs[len(part) :]

    def _batches(self, requests: Sequence[Request]) -> Iterator[list[SampleRun]]:
        alike: dict[tuple[object, ...], list[SampleRun]] = {}
        for run in group_runs(requests, limit=self.batch_size):
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

    def _ask(self, runs: list[SampleRun]) -> Answers:
        with LOADED.lock:
            engine = transformers_engine(self.name, self.model)
            return self._ask_or_split(engine, runs)

    def _ask_or_split(
        self, engine: TransformersEngine, runs: list[SampleRun]
    ) -> list[tuple[SampleRun, list[Response]]]:
        rows = sum(run.draws for run in runs)
        if rows <= self.batch_size:
            start = time.monotonic()
            try:
                outputs = generate(engine, runs, self.model.thinking, self.model.seed)
            except RejectedPromptError as error:
                if len(runs) == 1:
                    return [(runs[0], make_failures(runs[0], str(error)))]
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                if rows == 1:
                    return [
                        (run, make_failures(run, f"out of memory on {engine.device}"))
                        for run in runs
                    ]
                self._shrink(engine, rows)
            else:
                latency_s = time.monotonic() - start
                return [
                    (run, make_responses(run, drawn, self.model.price, latency_s))
                    for run, drawn in zip(runs, outputs, strict=True)
                ]
        if len(runs) > 1:
            parts = [runs[: len(runs) // 2], runs[len(runs) // 2 :]]
            return [pair for part in parts for pair in self._ask_or_split(engine, part)]
        halves = [self._ask_or_split(engine, [half]) for half in runs[0].halves()]
        return [(runs[0], [r for half in halves for _, answers in half for r in answers])]

    def _shrink(self, engine: TransformersEngine, rows: int) -> None:
        self.batch_size = max(1, rows // 2)
        if engine.device != "cpu":
            engine.torch.cuda.empty_cache()
