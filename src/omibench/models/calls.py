"""Group requests into calls to a provider."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.models.provider import Provider
from omibench.schemas.request import Request


def group_calls(provider: Provider, requests: Sequence[Request]) -> list[Sequence[Request]]:
    """Group requests into calls: samples of one conversation share one if the model supports it."""
    from omibench.models.http.served import ApiProvider

    if isinstance(provider, ApiProvider):
        return [job.requests for job in provider.jobs(requests)]
    return [(request,) for request in requests]
