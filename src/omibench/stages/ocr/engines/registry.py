"""The engines that read pixels on this machine, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from omibench.plugins import Registry
from omibench.stages.ocr.engines.engine import Engine


class EngineEntry(NamedTuple):
    """How an engine is opened, and whether it can be: `open` raises MissingInputError else."""

    open: Callable[[], Engine]
    is_installed: Callable[[], bool]


ENGINES: Final[Registry[EngineEntry]] = Registry("engines", "OCR engine")


def _is_always_there() -> bool:
    return True


def engine(
    name: str, is_installed: Callable[[], bool] = _is_always_there
) -> Callable[[type[Engine]], type[Engine]]:
    """A decorator that makes a class the OCR engine `name`; it is opened without arguments.

    Args:
        name: What `ocr.engine` calls it.
        is_installed: Whether the programs and packages that it needs are there; loads nothing.

    Returns:
        A decorator that returns the class as it is.

    Raises:
        PluginError: Another engine has this name.
    """
    ENGINES.check_name(name)

    def register(reader: type[Engine]) -> type[Engine]:
        ENGINES.add(name, EngineEntry(reader, is_installed), reader.__module__)
        return reader

    return register
