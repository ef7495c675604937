"""The registry of local engines by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from omibench.plugins import Registry
from omibench.stages.ocr.engines.engine import Engine


class EngineEntry(NamedTuple):
    """How to open an engine, and whether it is installed; `open` raises MissingInputError
    otherwise."""

    open: Callable[[], Engine]
    is_installed: Callable[[], bool]


ENGINES: Final[Registry[EngineEntry]] = Registry("engines", "OCR engine")


def _is_always_there() -> bool:
    return True


def engine(
    name: str, is_installed: Callable[[], bool] = _is_always_there
) -> Callable[[type[Engine]], type[Engine]]:
    """Return a decorator that registers a class as an OCR engine; it is constructed without
    arguments.

    Args:
        name: Name for `ocr.engine`.
        is_installed: Function that checks for the required programs and packages without loading
            them.

    Returns:
        A decorator that returns the class unchanged.

    Raises:
        PluginError: Another engine has this name.
    """
    ENGINES.check_name(name)

    def register(reader: type[Engine]) -> type[Engine]:
        ENGINES.add(name, EngineEntry(reader, is_installed), reader.__module__)
        return reader

    return register
