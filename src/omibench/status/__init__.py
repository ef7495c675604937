"""status: the progress of a study, read from its files while other processes write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.status.reader import look as look
    from omibench.status.text import render as render

__all__ = ["look", "render"]


def __getattr__(name: str) -> Any:
    if name == "look":
        from omibench.status.reader import look

        return look
    if name == "render":
        from omibench.status.text import render

        return render
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
