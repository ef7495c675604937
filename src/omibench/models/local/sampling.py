"""Sampling with a separate seed for every row of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class RowSampler:
    """A logits processor that draws each row's next token with the row's generator.

    Uses an exponential race: with e_i independent Exp(1), argmax(p_i / e_i) is distributed as p.
    All other tokens are masked, so the sampler that follows can only pick this one. A row's draws
    depend only on its seed and logits, not on other rows.
    """

    def __init__(self, seeds: Sequence[int], temperature: float, top_p: float | None) -> None:
        self.seeds = seeds
        self.temperature = temperature
        self.top_p = top_p
        self._generators: list[Any] | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return 0 at the drawn token and -inf elsewhere; `scores` has shape (rows, vocabulary)."""
        import torch

        if self._generators is None:
            self._generators = [
                torch.Generator(device=scores.device).manual_seed(seed) for seed in self.seeds
            ]
        scaled = scores.float() / self.temperature
        if self.top_p is not None and self.top_p < 1:
            from transformers import TopPLogitsWarper

            scaled = TopPLogitsWarper(self.top_p)(input_ids, scaled)
        race = torch.empty_like(scaled)
        for row, generator in zip(race, self._generators, strict=True):
            row.exponential_(generator=generator)
        drawn = (scaled.softmax(-1) / race).argmax(-1, keepdim=True)
        return torch.full_like(scores, float("-inf")).scatter(-1, drawn, 0.0)
