"""What every model provider offers: an identity, and answers to requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from omibench.request import Request, Response


class Provider(Protocol):
    """A model that can be asked."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What enters the key: provider, served id, revision or parameters; no URL, no path.

        `reads_tags` is true for a model that answers by problem and setting instead of by what it
        is shown.
        """

    @property
    def simulated(self) -> bool:
        """Whether the answers are made up; everything made from them says so."""

    @property
    def max_images(self) -> int | None:
        """How many images one request may carry; None when there is no limit."""

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response as it finishes, in any order, each once.

        What fails is yielded with its outcome. Raises ModelError when the model cannot be asked.
        """
