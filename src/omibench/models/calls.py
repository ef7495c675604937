"""Which requests a provider asks for in one call."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.models.provider import Provider
from omibench.schemas.request import Request


def group_calls(provider: Provider, requests: Sequence[Request]) -> list[Sequence[Request]]:
    """The calls that a provider would make: samples of one conversation together where it can."""
    from omibench.models.http.served import ServedProvider

    if isinstance(provider, ServedProvider):
        return [job.requests for job in provider.jobs(requests)]
    return [(request,) for request in requests]
