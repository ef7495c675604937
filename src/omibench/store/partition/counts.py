"""Counts over responses for `inspect`, stored with each index so that no text is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


@dataclass
class Counts:
    """Counts of responses. Tokens and dollars are sums over the responses that have them."""

    responses: int = 0
    simulated: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0
    without_cost: int = 0
    """Responses without a cost."""

    def add(self, response: Mapping[str, Any], times: int = 1) -> None:
        """Count a response as stored; with -1 it is subtracted."""
        self.responses += times
        self.outcomes[str(response.get("outcome", "answered"))] += times
        self.simulated += times * bool(response.get("simulated"))
        usage = response.get("usage") or {}
        for name in TOKENS:
            self.tokens[name] += times * int(usage.get(name) or 0)
        cost = response.get("cost_usd")
        self.without_cost += times * (cost is None)
        self.cost_usd += times * float(cost or 0.0)

    def include(self, other: Counts) -> None:
        """Add other counts."""
        self.responses += other.responses
        self.simulated += other.simulated
        self.outcomes.update(other.outcomes)
        self.tokens.update(other.tokens)
        self.cost_usd += other.cost_usd
        self.without_cost += other.without_cost

    def values(self) -> list[Any]:
        """Return JSON values for an index."""
        return [
            self.responses, self.simulated, dict(self.outcomes),
            [self.tokens[name] for name in TOKENS], self.cost_usd, self.without_cost,
        ]  # fmt: skip

    @classmethod
    def of(cls, values: Any) -> Self:
        """Parse the output of `values`. Raises ValueError, TypeError or LookupError if invalid."""
        responses, simulated, outcomes, tokens, cost, without = values
        return cls(
            int(responses),
            int(simulated),
            Counter({str(name): int(number) for name, number in outcomes.items()}),
            Counter(dict(zip(TOKENS, map(int, tokens), strict=True))),
            float(cost),
            int(without),
        )
