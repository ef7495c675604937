"""The common base of the two local engines: identity, optional packages, one loaded model.

A process keeps one model loaded at a time, since two do not fit into one GPU's memory. It stays
loaded for every request to the same weights, whatever their setting, until another is needed.
"""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from collections.abc import Callable, Hashable
from typing import Any

from omibench.errors import ModelError
from omibench.extras import install_command, require_extra
from omibench.params.models.base import LocalModel
from omibench.params.roles import Role, field_roles

LOAD_ERRORS = (OSError, ValueError, RuntimeError, ImportError, KeyError, AttributeError)
"""Exceptions of engines if a checkpoint is missing, unsupported or too large."""


def describe_load(model: LocalModel) -> str:
    """Return the inputs of a load: two blocks with equal values share one loaded engine.

    Unlisted fields count as inputs; at worst the same weights are loaded again.
    """
    display = {name for name, role in field_roles(type(model)).items() if role is Role.DISPLAY}
    of_calls = {"endpoint", "thinking", "batch_size"}
    declared = {"can", "context_tokens", "limits", "price", "image_tokens", "resources"}
    return model.model_dump_json(exclude=display | of_calls | declared)


def require(package: str, extra: str, name: str) -> Any:
    """Import a package of an extra.

    Raises:
        MissingExtraError: It is not installed.
        ModelError: It is installed and cannot be imported.
    """
    require_extra(extra, f"model {name!r}", package)
    try:
        return importlib.import_module(package)
    except (ImportError, OSError) as error:
        raise ModelError(
            f"model {name!r} needs {package}, which cannot be imported ({one_line(error)}): "
            f"{install_command(extra)}"
        ) from error


def one_line(error: BaseException, limit: int = 300) -> str:
    """Return the message of an exception on one line."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= limit else words[: limit - 3] + "..."


class Loaded:
    """The one loaded model of a process. Hold `lock` while it is in use."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._key: Hashable = None
        self._engine: Any = None

    def get(self, key: Hashable) -> Any:
        """Return the engine loaded under `key`, or None."""
        return self._engine if key == self._key else None

    def replace(self, key: Hashable, load: Callable[[], Any]) -> Any:
        """Release the previous engine and load another."""
        with self.lock:
            self.release()
            self._engine, self._key = load(), key
            return self._engine

    def release(self) -> None:
        """Release the engine and its GPU memory."""
        with self.lock:
            engine, self._engine, self._key = self._engine, None, None
            if engine is None:
                return
            engine.close()
            gc.collect()
            torch = sys.modules.get("torch")
            if torch is not None and torch.cuda.is_available():
                torch.cuda.empty_cache()


LOADED = Loaded()
