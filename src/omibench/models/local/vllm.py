"""The `vllm` provider: offline batches on this machine's GPUs, one model load for all settings."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from omibench.errors import ModelError
from omibench.models.local.chat import (
    RejectedPromptError,
    make_failures,
    make_responses,
)
from omibench.models.local.continuation import (
    OptionPrompt,
    OptionTokens,
    check_tail,
    split_by_turn,
)
from omibench.models.local.engine import VllmEngine, vllm_engine
from omibench.models.local.identity import LOADED
from omibench.models.local.images import pixels
from omibench.models.local.runs import (
    Answers,
    SampleRun,
    answer_options,
    answer_runs,
    cut_chunks,
    group_runs,
)
from omibench.models.local.tools import group_by_tools
from omibench.models.options import OptionScores, split_scoring
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.params.models.local import VllmModel
from omibench.schemas.request import Request, Response

CHUNK = 8
"""Sequences per call to vLLM, in multiples of `max_num_seqs`. Answers arrive after each call;
with smaller calls the GPU idles more while the longest answers finish."""
ScoredPair = tuple[Request, Sequence[str]]
CHUNK_PIXELS = 400e6
"""Maximum pixels per call: 1.2 GB of decoded pictures."""


class VllmProvider(BaseProvider[VllmModel]):
    """A model run by vLLM in this process.

    The model is loaded on the first request. Raises ModelError if vLLM is not installed or cannot
    load the model.
    """

    def __init__(self, name: str, model: VllmModel) -> None:
        super().__init__(name, model)
        self._images = 0

    def expect(self, requests: Sequence[Request]) -> None:
        """Announce later requests, so that the first load allows for their images."""
        self._images = max([self._images, *(len(r.conversation.images) for r in requests)])

    def expect_images(self, images: int) -> None:
        """See `MakesRoom.expect_images`."""
        self._images = max(self._images, images)

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response, call by call of vLLM.

        Options are scored first. Samples of one conversation are one request to vLLM. A prompt that
        vLLM rejects becomes a `provider_error`. Raises ModelError if the engine cannot be loaded or
        crashes.
        """
        self.expect(requests)
        scoring, generating = split_scoring(requests)
        yield from answer_options(scoring, budget, self.score_options)
        runs = group_runs(generating, limit=self.model.max_num_seqs)
        limit = CHUNK * self.model.max_num_seqs
        chunks = (
            chunk
            for group in group_by_tools(runs)
            for chunk in cut_chunks(group, limit, lambda run: _weight(run, limit))
        )
        yield from answer_runs(chunks, budget, self._ask)

    def score_options(
        self, requests: Sequence[Request], options: Sequence[Sequence[str]]
    ) -> Iterator[OptionScores]:
        """Yield the log-probability of each request's options as the next token, in order.

        They are normalised over the whole vocabulary, before any temperature. Each option must be
        one token. These calls never contain a request that generates: vLLM mixes up their rows.
        Raises ModelError if vLLM rejects a prompt.
        """
        self.expect(requests)
        pairs = list(zip(requests, options, strict=True))
        limit = CHUNK * self.model.max_num_seqs
        for part in cut_chunks(pairs, limit, lambda pair: _weigh_pictures(pair[0], limit)):
            with LOADED.lock:
                engine = self._engine()
                tokens = OptionTokens(engine.tokenizer, engine.specials, self.name)
                prompts = [tokens.prepare(r.conversation, choices) for r, choices in part]
                outputs = [
                    output
                    # A call either continues assistant turns or begins new ones.
                    for alike in split_by_turn(prompts)
                    for output in engine.chat(
                        [prompt.conversation for prompt in alike],
                        [engine.scoring(prompt.ids) for prompt in alike],
                        self.model.thinking,
                    )
                ]
            yield from self._read_scores(part, prompts, outputs)

    def _read_scores(
        self, pairs: Sequence[ScoredPair], prompts: Sequence[OptionPrompt], outputs: Sequence[Any]
    ) -> Iterator[OptionScores]:
        for (request, choices), prompt, output in zip(pairs, prompts, outputs, strict=True):
            check_tail(output.prompt_token_ids, prompt.tail, self.name)
            logprobs = output.outputs[0].logprobs[0]
            if any(token not in logprobs for token in prompt.ids):
                raise ModelError(
                    f"model {self.name!r}: vLLM returned no log-probability for some options of "
                    f"{request.tags.problem!r}"
                )
            values = [float(logprobs[token].logprob) for token in prompt.ids]
            yield OptionScores(request, dict(zip(choices, values, strict=True)))

    def _engine(self) -> VllmEngine:
        return vllm_engine(self.name, self.model, self._images)

    def _ask(self, runs: list[SampleRun]) -> Answers:
        with LOADED.lock:
            return self._ask_or_split(self._engine(), runs)

    def _ask_or_split(
        self, engine: VllmEngine, runs: list[SampleRun]
    ) -> list[tuple[SampleRun, list[Response]]]:
        """Answer the runs in one call; a run that vLLM rejects is found by bisection."""
        start = time.monotonic()
        sampling = [engine.sampling(run, self.model.seed) for run in runs]
        try:
            outputs = engine.chat([run.conversation for run in runs], sampling, self.model.thinking)
        except RejectedPromptError as error:
            if len(runs) == 1:
                return [(runs[0], make_failures(runs[0], str(error)))]
            middle = len(runs) // 2
            parts = [runs[:middle], runs[middle:]]
            return [pair for part in parts for pair in self._ask_or_split(engine, part)]
        latency_s = time.monotonic() - start
        return [
            (run, make_responses(run, engine.read_output(output), self.model.price, latency_s))
            for run, output in zip(runs, outputs, strict=True)
        ]


def _weight(run: SampleRun, limit: float) -> float:
    return max(run.draws, _weigh_pictures(run.requests[0], limit))


def _weigh_pictures(request: Request, limit: float) -> float:
    area = sum(pixels(image) for image in request.conversation.images)
    return max(1.0, limit * area / CHUNK_PIXELS)
