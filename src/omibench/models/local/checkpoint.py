"""The common base of the two local engines: identity, optional packages, one loaded model.

A process keeps one model loaded at a time, since two do not fit into one GPU's memory. It stays
loaded for every request to the same weights, whatever their setting, until another is needed.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import inspect
import os
import re
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import MissingInputError, ModelError, OmibenchError
from omibench.extras import install_command, missing_modules, require_extra
from omibench.files.reading import hash_file, read_json
from omibench.params.models.providers import (
    ADAPTER_FILES,
    CODE_DIGITS,
    COMMIT_DIGITS,
    LocalGenerator,
    LocalModel,
    hash_weights,
)
from omibench.params.roles import Role, field_roles
from omibench.text.lists import list_first

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


# Custom code of a checkpoint: it runs only if it matches the revision that the user gave.
#
# Engines are then given a folder: the user's, if its code has the hash of the revision, or the
# snapshot of a hub commit. No part (model, tokenizer, processor) can come from elsewhere.

REMEDY = (
    "to run it, read it, then set `trust_remote_code: true` and its `revision` in the model's "
    "block (docs/local_models.md)"
)
_UNUSED_WEIGHTS = ("*.gguf", "*.onnx", "*.msgpack", "*.h5", "*.tflite")
"""Copies of the weights for other programs, which the engines do not read."""
_CLASS_IN_FOLDER = re.compile(r"[A-Za-z_]\w*(?:/[A-Za-z_]\w*)*\.[A-Za-z_]\w*")
"""A reference to a class in the folder itself: `modeling_new.NewModel`."""
CONFIG_BYTES = 2**22
"""Maximum bytes of a checkpoint's configuration file."""


class Checkpoint(NamedTuple):
    """The checkpoint to load: a hub id or a folder, and the revision of the former."""

    place: str
    revision: str | None


def list_code(folder: str | Path) -> list[Path]:
    """List the Python files of a checkpoint, sorted and relative; links are followed."""
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
    """Return the SHA-256 of the names and contents of a checkpoint's Python files, as hex.

    Weights are excluded: they are data, and reading hundreds of gigabytes before each load would
    take minutes.

    Args:
        folder: The checkpoint's folder.

    Raises:
        MissingInputError: The folder does not exist, or a file cannot be read.
        ModelError: It contains no Python file.
    """
    if not Path(folder).is_dir():
        raise MissingInputError(f"{folder}: is not a folder")
    files = list_code(folder)
    if not files:
        raise ModelError(f"{folder}: contains no custom code (no .py file)")
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.as_posix()}\0{hash_file(Path(folder, file))}\n".encode())
    return digest.hexdigest()


def locate_checkpoint(name: str, model: LocalModel) -> Checkpoint:
    """Return the checkpoint to load: the model's id, or a verified folder if it has custom code.

    Args:
        name: The model's key in params.yaml.
        model: Its block.

    Returns:
        The id and revision unchanged if the model's custom code is disabled; else the folder that
        matches the revision. A hub snapshot that is not in the cache is downloaded.

    Raises:
        ModelError: The code does not match the revision, comes from elsewhere or is missing; or the
            snapshot is not available.
    """
    if weights := _find_tuned(name, model, "full"):
        return Checkpoint(weights, None)
    if not model.trust_remote_code:
        return Checkpoint(model.id, model.revision)
    is_folder = Path(model.id).is_dir()
    folder = Path(model.id) if is_folder else _fetch_snapshot(name, model)
    _refuse_code_from_elsewhere(name, folder)
    try:
        actual = hash_code(folder)
    except OmibenchError as error:
        raise ModelError(f"model {name!r}: {error}; remove `trust_remote_code`") from None
    if is_folder and (model.revision or "")[:CODE_DIGITS] != actual:
        files = list_first([file.as_posix() for file in list_code(folder)], 5)
        raise ModelError(
            f"model {name!r}: the code in {model.id} does not match `revision`: its SHA-256 is "
            f"{actual}; read it ({files}), then set `revision` to that value"
        )
    return Checkpoint(str(folder), None)


def locate_adapter(name: str, model: LocalModel) -> str | None:
    """Return the folder of a model's LoRA adapter; None if it has none, or all weights were tuned.

    Raises:
        MissingInputError: The folder contains no adapter.
        ModelError: Its weights are not those of the record, or not in safetensors.
    """
    return _find_tuned(name, model, "lora")


def merge_adapter(name: str, model: Any, folder: str) -> Any:
    """Return a loaded model with a LoRA adapter merged into its weights.

    Raises:
        MissingExtraError: peft is not installed.
        ModelError: The adapter has weights for layers that the model lacks, or lacks some.
    """
    peft = require("peft", "tune", name)
    adapted = peft.PeftModel.from_pretrained(model, folder)
    saved = set(peft.utils.load_peft_weights(folder, device="cpu"))
    present = set(peft.get_peft_model_state_dict(adapted))
    if saved != present:
        odd = min(saved ^ present)
        raise ModelError(
            f"model {name!r}: the adapter in {folder} is of another model: {odd[:120]!r} is in "
            f"only one of them ({len(saved & present)} of {len(present)} weights fit)"
        )
    return adapted.merge_and_unload()


def _find_tuned(name: str, model: LocalModel, method: str) -> str | None:
    """Return the folder of weights that were tuned by a method."""
    adapter = getattr(model, "adapter", None)
    if adapter is None:
        return None
    record, own = (Path(adapter, file) for file in ADAPTER_FILES)
    if not record.is_file():
        if not own.is_file():
            raise MissingInputError(
                f"model {name!r}: adapter: {adapter} has neither {record.name} nor {own.name}; run "
                "`omibench run` if it is a model of `tune`"
            )
        if not Path(adapter, "adapter_model.safetensors").is_file():
            raise ModelError(
                f"model {name!r}: adapter: {adapter} has no adapter_model.safetensors; convert "
                "its weights, since other formats can run code"
            )
        return str(adapter) if method == "lora" else None
    tuned = read_json(record, CONFIG_BYTES)
    if not isinstance(tuned, dict) or tuned.get("method") != method:
        return None
    weights = Path(adapter, "weights")
    if not weights.is_dir() or hash_weights(weights) != tuned.get("weights_sha256"):
        raise ModelError(
            f"model {name!r}: the weights in {weights} are not those that {record} describes; "
            f"remove {record} and run `omibench run` again"
        )
    if method == "full" and model.trust_remote_code:
        raise ModelError(f"model {name!r}: own code and weights tuned in full do not go together")
    return str(weights)


def check_origin(name: str, model: LocalModel, kind: type, checkpoint: Checkpoint) -> None:
    """Check that a model's class comes from its own code, not from code loaded before.

    Transformers caches the class of a model by that of its configuration, and reuses it for a
    folder of the same name and configuration.

    Args:
        name: The model's key in params.yaml.
        model: Its block.
        kind: The loaded class.
        checkpoint: The loaded checkpoint.

    Raises:
        ModelError: The class comes from other code.
    """
    if not model.trust_remote_code or kind.__module__.startswith("transformers."):
        return
    code = {hash_file(Path(checkpoint.place, file)) for file in list_code(checkpoint.place)}
    if hash_file(inspect.getfile(kind)) not in code:
        raise ModelError(
            f"model {name!r}: this process has already loaded other code under the name "
            f"{Path(checkpoint.place).name}; rename the folder, or run the model in a separate "
            "process"
        )


@contextmanager
def explain_load(
    name: str, model: LocalModel, action: str, errors: tuple[type[Exception], ...]
) -> Iterator[None]:
    """Report exceptions of a load, one of `errors`, as a ModelError on one line.

    `action` says what failed. A model that needs its custom code, which is disabled, is explained.
    """
    try:
        yield
    except ModelError:
        raise
    except errors as error:
        if not model.trust_remote_code and "trust_remote_code" in str(error):
            action = f"{model.id} comes with custom code, which is not run; {REMEDY}"
        else:
            action = f"{action}: {one_line(error)}"
        raise ModelError(f"model {name!r}: {action}") from error


def _fetch_snapshot(name: str, model: LocalModel) -> Path:
    revision = model.revision or ""
    if len(revision) != COMMIT_DIGITS:
        raise ModelError(
            f"model {name!r}: {model.id} is not a folder, and the code of a hub model is fixed by "
            f"a commit of {COMMIT_DIGITS} hexadecimal digits in `revision`"
        )
    hub = require("huggingface_hub", "hub", name)
    try:
        folder = hub.snapshot_download(
            model.id, revision=revision, ignore_patterns=list(_UNUSED_WEIGHTS)
        )
    except Exception as error:  # errors of the hub's client share no base class
        raise ModelError(
            f"model {name!r}: the snapshot {revision} of {model.id} is not available: "
            f"{one_line(error)}"
        ) from error
    return Path(folder)


def _refuse_code_from_elsewhere(name: str, folder: Path) -> None:
    """Raise ModelError if a configuration takes code or weights from outside the folder."""
    for file in sorted(folder.glob("*config*.json")):
        if file.name == "adapter_config.json":
            raise ModelError(
                f"model {name!r}: {folder} contains an adapter of another model, whose code "
                "`revision` does not fix; merge the two and give the folder of the merged model"
            )
        try:
            config = read_json(file, CONFIG_BYTES)
        except OmibenchError as error:
            raise ModelError(f"model {name!r}: {error}") from None
        for reference in _list_classes(config):
            if not _CLASS_IN_FOLDER.fullmatch(reference):
                raise ModelError(
                    f"model {name!r}: {file.name} takes the class {reference[:200]!r} from "
                    "outside the checkpoint, which `revision` does not fix; copy that code into "
                    "a folder with the model, refer to it in auto_map without `--`, and give the "
                    "folder"
                )


def _list_classes(value: Any, mapped: bool = False) -> Iterator[str]:
    """Return every class in an `auto_map` of a configuration, at any depth."""
    if mapped and isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _list_classes(inner, mapped or key == "auto_map")
    elif isinstance(value, list):
        for inner in value:
            yield from _list_classes(inner, mapped)


def load_errors(model: LocalModel) -> tuple[type[Exception], ...]:
    """Return the exceptions of a load: for custom code, any."""
    return (Exception,) if model.trust_remote_code else LOAD_ERRORS


# The option of an image processor that scales pictures down to a number of pixels.


def pixel_size(
    model: LocalGenerator, name: str, extra: str, checkpoint: Checkpoint
) -> dict[str, int] | None:
    """Return the `size` of an image processor for `max_pixels`; None if it is not set.

    Processors of the Qwen-VL kind count pixels: `shortest_edge` and `longest_edge` of their size
    are areas.

    Args:
        model: The model's block.
        name: Its key in params.yaml.
        extra: The extra of the engine that loads it.
        checkpoint: The checkpoint to load, from `locate_checkpoint`.

    Raises:
        ModelError: The processor does not count pixels, so that nothing would be scaled, or cannot
            be read.
    """
    if model.max_pixels is None:
        return None
    transformers = require("transformers", extra, name)
    try:
        processor: Any = transformers.AutoImageProcessor.from_pretrained(
            checkpoint.place,
            revision=checkpoint.revision,
            trust_remote_code=model.trust_remote_code,
        )
    except load_errors(model) as error:
        raise ModelError(
            f"model {name!r}: {model.id} has no readable image processor, which `max_pixels` "
            f"needs: {one_line(error)}; remove `max_pixels`"
        ) from error
    parameters = getattr(getattr(processor, "valid_kwargs", None), "__annotations__", {})
    size = dict(processor.size)
    if "max_pixels" not in parameters or not size.get("shortest_edge"):
        raise ModelError(
            f"model {name!r}: the image processor of {model.id} ({type(processor).__name__}) does "
            "not scale to a number of pixels; remove `max_pixels`"
        )
    min_pixels = min(int(size["shortest_edge"]), model.max_pixels)
    return {"shortest_edge": min_pixels, "longest_edge": model.max_pixels}


# Spread the layers of a model that does not fit on one GPU.

EXTRA = "transformers"


def spread_layers(name: str, n_gpus: int, torch: Any) -> dict[str, Any]:
    """Return the options that spread a model's layers over GPUs by their free memory.

    Args:
        name: The model's name in the study.
        n_gpus: The number of GPUs to spread it over.
        torch: The package.

    Returns:
        Additional arguments for transformers; empty for one GPU or none.

    Raises:
        ModelError: Fewer GPUs are present, or the package that spreads layers is missing.
    """
    if n_gpus < 2:
        return {}
    if (present := torch.cuda.device_count()) < n_gpus:
        raise ModelError(
            f"model {name!r}: gpus is {n_gpus}, but torch finds {present} on this machine"
        )
    if missing_modules(("accelerate",)):
        raise ModelError(
            f"model {name!r}: gpus: {n_gpus} needs the package accelerate, which is not "
            f"installed: {install_command(EXTRA)}"
        )
    free = {gpu: torch.cuda.mem_get_info(gpu)[0] for gpu in range(n_gpus)}
    return {"device_map": "auto", "max_memory": free}
