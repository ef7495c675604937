"""Code that comes with a checkpoint: it runs only where it is what the user's revision fixes.

Engines are then given a folder: that of the user, whose code has the hash that the revision says,
or the snapshot of a hub's commit. No part (model, tokenizer, processor) can come from elsewhere.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import MissingInputError, ModelError, OmibenchError
from omibench.files.hashes import hash_file
from omibench.files.intake.json_text import read_json
from omibench.models.local.identity import LOAD_ERRORS, one_line, require
from omibench.params.models.base import CODE_DIGITS, COMMIT_DIGITS, LocalModel

REMEDY = (
    "to run it, read it, then write `trust_remote_code: true` and the `revision` that fixes it "
    "into the model's block (docs/local_models.md)"
)
_UNUSED_WEIGHTS = ("*.gguf", "*.onnx", "*.msgpack", "*.h5", "*.tflite")
"""Copies of the weights for other programs: engines here read none of them."""
_CLASS_IN_FOLDER = re.compile(r"[A-Za-z_]\w*(?:/[A-Za-z_]\w*)*\.[A-Za-z_]\w*")
"""How a class of the folder itself is named: `modeling_new.NewModel`."""
CONFIG_BYTES = 2**22
"""The most bytes of a checkpoint's configuration file."""


class Checkpoint(NamedTuple):
    """What an engine loads: an id of a hub or a folder, and the revision of the former."""

    place: str
    revision: str | None


def list_code(folder: str | Path) -> list[Path]:
    """The Python files of a checkpoint's folder, relative to it, in order; links are followed."""
    files, visited = [], set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        files += [Path(place, name) for name in names if name.endswith(".py")]
    return sorted(file.relative_to(folder) for file in files)


def hash_code(folder: str | Path) -> str:
    """The SHA-256 over the names and contents of a checkpoint's Python files, 64 hex digits.

    Weights are outside of it: they are data, and reading hundreds of gigabytes before each load
    would take minutes.

    Args:
        folder: The checkpoint's folder.

    Raises:
        MissingInputError: It is no folder, or a file cannot be read.
        ModelError: It holds no Python file.
    """
    if not Path(folder).is_dir():
        raise MissingInputError(f"{folder}: is no folder")
    files = list_code(folder)
    if not files:
        raise ModelError(f"{folder}: holds no code of its own (no .py file)")
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.as_posix()}\0{hash_file(Path(folder, file))}\n".encode())
    return digest.hexdigest()


def locate_checkpoint(name: str, model: LocalModel) -> Checkpoint:
    """What an engine is to load: the model's id, or for one with its own code a checked folder.

    Args:
        name: The model's key in params.yaml.
        model: Its block.

    Returns:
        The id and revision as they are where no code of the model's own may run; else the folder
        that the revision fixes. A snapshot of a hub is downloaded if its cache lacks it.

    Raises:
        ModelError: The code is not what the revision fixes, is taken from elsewhere, or there is
            none; or the snapshot cannot be had.
    """
    if not model.trust_remote_code:
        return Checkpoint(model.id, model.revision)
    is_folder = Path(model.id).is_dir()
    folder = Path(model.id) if is_folder else _fetch_snapshot(name, model)
    _refuse_code_from_elsewhere(name, folder)
    try:
        actual = hash_code(folder)
    except OmibenchError as error:
        raise ModelError(f"model {name!r}: {error}; leave out `trust_remote_code`") from None
    if is_folder and (model.revision or "")[:CODE_DIGITS] != actual:
        raise ModelError(
            f"model {name!r}: the code in {model.id} is not what `revision` fixes: its SHA-256 is "
            f"{actual}; read it ({_name_files(folder)}), then write that"
        )
    return Checkpoint(str(folder), None)


def check_origin(name: str, model: LocalModel, kind: type, checkpoint: Checkpoint) -> None:
    """Check that a model's class is of its own code, and not of code that was loaded before.

    Transformers keeps the class of a model by that of its configuration, so that it takes the old
    one for a folder of the same name and configuration.

    Args:
        name: The model's key in params.yaml.
        model: Its block.
        kind: The class that was loaded.
        checkpoint: What was loaded.

    Raises:
        ModelError: The class is of other code.
    """
    if not model.trust_remote_code or kind.__module__.startswith("transformers."):
        return
    code = {hash_file(Path(checkpoint.place, file)) for file in list_code(checkpoint.place)}
    if hash_file(inspect.getfile(kind)) not in code:
        raise ModelError(
            f"model {name!r}: this process has loaded other code under the name of "
            f"{Path(checkpoint.place).name} before: rename the folder, or ask the model in a "
            "process of its own"
        )


def explain_own_code(name: str, model: LocalModel, error: BaseException) -> str | None:
    """The line for a model that was not loaded since its own code may not run; None for others."""
    if model.trust_remote_code or "trust_remote_code" not in str(error):
        return None
    return f"model {name!r}: {model.id} comes with code of its own, which is not run; {REMEDY}"


def _fetch_snapshot(name: str, model: LocalModel) -> Path:
    revision = model.revision or ""
    if len(revision) != COMMIT_DIGITS:
        raise ModelError(
            f"model {name!r}: {model.id} is no folder here, and the code of a hub model is fixed "
            f"by a commit of {COMMIT_DIGITS} hexadecimal digits in `revision`"
        )
    hub = require("huggingface_hub", "hub", name)
    try:
        folder = hub.snapshot_download(
            model.id, revision=revision, ignore_patterns=list(_UNUSED_WEIGHTS)
        )
    except Exception as error:  # errors of the hub's client have no base of their own
        raise ModelError(
            f"model {name!r}: the snapshot {revision} of {model.id} cannot be had: "
            f"{one_line(error)}"
        ) from error
    return Path(folder)


def _refuse_code_from_elsewhere(name: str, folder: Path) -> None:
    """Raise ModelError where a configuration takes code or weights from outside of the folder."""
    for file in sorted(folder.glob("*config*.json")):
        if file.name == "adapter_config.json":
            raise ModelError(
                f"model {name!r}: {folder} holds an adapter of another model, whose code the "
                "`revision` does not fix: merge the two, and give the folder of the whole"
            )
        try:
            config = read_json(file, CONFIG_BYTES)
        except OmibenchError as error:
            raise ModelError(f"model {name!r}: {error}") from None
        for reference in _list_classes(config):
            if not _CLASS_IN_FOLDER.fullmatch(reference):
                raise ModelError(
                    f"model {name!r}: {file.name} takes the class {reference[:200]!r} from "
                    "outside of the checkpoint, which `revision` does not fix: copy that code into "
                    "a folder with the model, name it in auto_map without `--`, and give the folder"
                )


def _list_classes(config: Any) -> Iterator[str]:
    """Every class that an `auto_map` in a configuration names, at any depth."""
    inner = config.values() if isinstance(config, dict) else config
    for value in inner if isinstance(config, (dict, list)) else ():
        yield from _list_classes(value)
    if isinstance(config, dict) and "auto_map" in config:
        yield from _list_texts(config["auto_map"])


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _list_texts(inner)


def _name_files(folder: Path, most: int = 5) -> str:
    files = [file.as_posix() for file in list_code(folder)]
    more = f" and {len(files) - most} more" if len(files) > most else ""
    return ", ".join(files[:most]) + more


def load_errors(model: LocalModel) -> tuple[type[Exception], ...]:
    """What loading a model may raise: code of its own, anything."""
    return (Exception,) if model.trust_remote_code else LOAD_ERRORS
