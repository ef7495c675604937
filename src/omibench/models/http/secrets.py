"""Keys of providers: read when they are needed, shown to nobody.

A key stands in the environment, or in the file that OMIBENCH_KEYS names: one `NAME=value` a line,
readable by its owner alone. What providers say of their errors passes through `masking.mask`.
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
    """The key called `name`. From now on `masking.mask` knows it.

    Raises ModelError with the name when there is none, or when others may read the file of keys.
    """
    value = os.environ.get(name, "").strip() or _from_file(name)
    if not value:
        file = os.environ.get(KEYS_FILE)
        raise ModelError(
            f"the key {name} is missing: set the environment variable {name}"
            + (f" or add a line {name}=... to {file}" if file else f" (or {KEYS_FILE}, a file)")
            + "; a server that asks for no key takes any value"
        )
    remember(value)
    return SecretStr(value)


def with_own_secrets(model: A) -> A:
    """The block as it is sent: secrets in place of their names. Never kept, never an identity.

    Args:
        model: A block whose fields of mappings (`blocks.Extra`) may name secrets as `${NAME}`.

    Raises:
        ModelError: As `read_key` does.
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
                f"{path}: others may read this file of keys; make it yours alone: chmod 600 {path}"
            )
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ModelError(
            f"{path}: the file of keys ({KEYS_FILE}) cannot be read: {reason_of(error)}"
        ) from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: the file of keys ({KEYS_FILE}) is no text") from None
    pairs = (line.removeprefix("export ").partition("=") for line in map(str.strip, lines))
    keys = {key.strip(): value.strip().strip("'\"") for key, _, value in pairs if key[:1] != "#"}
    return keys.get(name, "")
