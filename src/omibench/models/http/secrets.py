"""API keys: read when they are needed and never shown.

A key is an environment variable, or a line `NAME=value` in the file at OMIBENCH_KEYS, readable only
by its owner. Error messages of providers pass through `masking.mask`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr

from omibench.errors import ModelError, reason_of
from omibench.params.models.base import ApiModel
from omibench.text.masking import remember, with_secrets

KEYS_FILE = "OMIBENCH_KEYS"
A = TypeVar("A", bound=ApiModel)


def read_key(name: str) -> SecretStr:
    """Return the key called `name`. From now on `masking.mask` hides it.

    Raises ModelError with the name if the key is missing, or if others can read the key file.
    """
    value = os.environ.get(name, "").strip() or _from_file(name)
    if not value:
        file = os.environ.get(KEYS_FILE)
        raise ModelError(
            f"the key {name} is missing: set the environment variable {name}"
            + (f" or add the line {name}=... to {file}" if file else f" (or {KEYS_FILE}, a file)")
            + "; if the server needs no key, any value works"
        )
    remember(value)
    return SecretStr(value)


def with_own_secrets(model: A) -> A:
    """Return the block as it is sent, with secrets in place of their names. Never stored.

    Args:
        model: A block with mappings (`blocks.Extra`) that can refer to secrets as `${NAME}`.

    Raises:
        ModelError: See `read_key`.
    """
    named = {name: value for name, value in model if isinstance(value, dict)}
    filled = {
        name: with_secrets(value, lambda key: read_key(key).get_secret_value())
        for name, value in named.items()
    }
    return model if filled == named else model.model_copy(update=filled)


def _from_file(name: str) -> str:
    file = os.environ.get(KEYS_FILE)
    if not file:
        return ""
    path = Path(file).expanduser()
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ModelError(
                f"{path}: other users can read this key file; make it private: chmod 600 {path}"
            )
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ModelError(
            f"{path}: the key file ({KEYS_FILE}) cannot be read: {reason_of(error)}"
        ) from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: the key file ({KEYS_FILE}) is not text") from None
    pairs = (line.removeprefix("export ").partition("=") for line in map(str.strip, lines))
    keys = {key.strip(): value.strip().strip("'\"") for key, _, value in pairs if key[:1] != "#"}
    return keys.get(name, "")
