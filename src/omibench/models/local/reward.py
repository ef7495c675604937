"""The `transformers-reward` provider: a reward head scores responses on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import isfinite

from omibench.models.http.replies import compute_cost
from omibench.models.local.generate import is_out_of_memory
from omibench.models.local.identity import LOADED
from omibench.models.local.reward_engine import Reward, RewardEngine, open_reward_engine
from omibench.models.local.runs import Answers, SampleRun, answer_runs, cut_chunks
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.params.models.local import RewardModel
from omibench.schemas.request import Request, Response, Usage


class RewardProvider(BaseProvider[RewardModel]):
    """A language model with a head that gives a response one real number (EMMA, C.4).

    The text of a reply is that number. The model is loaded on the first request.
    """

    def __init__(self, name: str, model: RewardModel) -> None:
        super().__init__(name, model)
        self.batch_size = model.batch_size
        """Rows per batch; halved permanently if a batch does not fit into memory."""

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response, batch by batch, the longest conversations first.

        A conversation that is too long for the model is `refused`; one that does not fit into
        memory is a `provider_error`.

        Raises:
            ModelError: The model cannot be loaded, or its head does not return one number.
        """
        runs = [SampleRun((request,)) for request in requests]
        runs.sort(key=lambda run: -len(run.conversation.text))
        chunks = cut_chunks(runs, self.batch_size, lambda run: 1)
        yield from answer_runs(chunks, budget, self._ask)

    def _ask(self, runs: list[SampleRun]) -> Answers:
        with LOADED.lock:
            return self._ask_or_split(open_reward_engine(self.name, self.model), runs)

    def _ask_or_split(
        self, engine: RewardEngine, runs: list[SampleRun]
    ) -> list[tuple[SampleRun, list[Response]]]:
        start = time.monotonic()
        if len(runs) <= self.batch_size:
            try:
                rewards = engine.score([run.conversation for run in runs])
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                if len(runs) == 1:
                    failed = Response(
                        text="",
                        outcome="provider_error",
                        error=f"out of memory on {engine.device}",
                    )
                    return [(runs[0], [failed])]
                self._shrink(engine, len(runs))
            else:
                latency_s = round(time.monotonic() - start, 3)
                pairs = zip(runs, rewards, strict=True)
                return [(run, [self._make_response(r, engine, latency_s)]) for run, r in pairs]
        half = len(runs) // 2
        parts = [runs[:half], runs[half:]]
        return [pair for part in parts for pair in self._ask_or_split(engine, part)]

    def _make_response(self, reward: Reward, engine: RewardEngine, latency_s: float) -> Response:
        if reward.value is None:
            reason = (
                f"question and response are {reward.tokens} tokens, the model accepts "
                f"{engine.longest}"
            )
            return Response(text="", outcome="refused", error=reason)
        if not isfinite(reward.value):
            return Response(
                text="", outcome="provider_error", error=f"the head returned {reward.value}"
            )
        usage = Usage(input_tokens=reward.tokens, output_tokens=0)
        return Response(
            text=repr(reward.value),
            finish_reason="scored",
            usage=usage,
            cost_usd=compute_cost(self.model.price, usage),
            latency_s=latency_s,
        )

    def _shrink(self, engine: RewardEngine, rows: int) -> None:
        self.batch_size = max(1, rows // 2)
        if engine.device != "cpu":
            engine.torch.cuda.empty_cache()
