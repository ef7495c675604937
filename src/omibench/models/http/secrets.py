"""Keys of providers: read when they are needed, shown to nobody.

A key stands in the environment, or in the file that OMIBENCH_KEYS names: one `NAME=value` a line,
readable by its owner alone. What providers say of their errors passes through `masking.mask`.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import SecretStr

from omibench.errors import ModelError, reason_of
from omibench.params.model import OpenAIModel
from omibench.text.masking import remember, with_secrets

KEYS_FILE = "OMIBENCH_KEYS"


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


def with_own_secrets(model: OpenAIModel) -> OpenAIModel:
    """The block as it is sent: secrets in place of their names. Never kept, never an identity.

    Raises ModelError as `read_key` does.
    """
    body = with_secrets(model.extra_body, lambda name: read_key(name).get_secret_value())
    return model if body == model.extra_body else model.model_copy(update={"extra_body": body})


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
    found = {key.strip(): value.strip().strip("'\"") for key, _, value in pairs if key[:1] != "#"}
    return found.get(name, "")
