"""Code that comes with a study, and whether you allowed it on this machine (docs/security.md).

A folder that omibench created here is allowed as a folder, any other one by the hashes of its code.
Both are remembered in the user's state directory, outside every study.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, Final

from omibench.errors import FileFormatError, OmibenchError, OutputError, UntrustedError, reason_of
from omibench.files.locations import (
    PARAMS,
    SNAKEFILE,
    find_own_checkout,
    find_project,
    find_shipped,
)
from omibench.files.locks import wait_path
from omibench.files.outputs import replace_atomically
from omibench.files.reading import hash_file, read_json
from omibench.text.lists import list_first

Code = Mapping[str, str]
"""Name of a file or description of another risk -> its SHA-256."""

ALLOW_ENV: Final = "OMIBENCH_ALLOW"
"""Environment variable with hashes of code that may run, for CI and jobs of a cluster."""
_STATE: Final = "allowed.json"
_FOLDER: Final = "folder"
"""The record of a folder that is allowed whatever its code."""
_SUFFIXES: Final = frozenset(
    {".smk", ".py", ".pyw", ".pyc", ".pyd", ".so", ".r", ".rmd", ".jl", ".rs", ".sh", ".bash"}
    | {".ipynb"}
)
"""Files that Snakemake or Python run or import from the folder of a Snakefile."""
_PROFILES: Final = frozenset({"profiles", "default"})
"""Folders, or files, that Snakemake reads as profiles without being asked to."""
_TEMPLATE: Final = Path(__file__).parents[1] / "study/init/templates" / SNAKEFILE
_MARKS: Final = (PARAMS, SNAKEFILE, ".git")
"""Files and folders at the top of a study or repository."""
_NAMED: Final = 10


def find_code(values: Mapping[str, Any], folder: Path = Path()) -> Code:
    """Return everything that a study can run, and what it writes or sends outside its folder.

    Files that are the same as those of the installed omibench, such as its Snakefile, rules and
    profiles, are left out.

    Args:
        values: The blocks of params.yaml as plain values.
        folder: The study's folder.
    """
    return {**_find_files(folder), **find_for_jobs(values, folder)}


def find_for_jobs(values: Mapping[str, Any], folder: Path = Path()) -> Code:
    """Return what Snakemake's jobs run, write and send, apart from the workflow's files."""
    return {**find_named(values, folder), **find_places(values, folder)}


def find_named(values: Mapping[str, Any], folder: Path = Path()) -> Code:
    """Return the code that parameters name: plug-ins, and own code of models."""
    code = {**find_plugins(values, folder)}
    models = values.get("models")
    for name, model in models.items() if isinstance(models, Mapping) else ():
        if isinstance(model, Mapping) and model.get("trust_remote_code"):
            text = f"models.{name}: code of {model.get('id')} at {model.get('revision')}"
            code[text] = _hash_text(text)
    return code


def find_plugins(values: Mapping[str, Any], folder: Path = Path()) -> Code:
    """Return the plug-in files that parameters name."""
    code = {}
    plugins = values.get("plugins")
    for plugin in plugins if isinstance(plugins, list) else []:
        name = plugin.get("file") if isinstance(plugin, Mapping) else plugin
        if isinstance(name, str) and "\0" not in name:
            code[os.path.normpath(name)] = _hash(folder / name)
    return code


def find_places(values: Mapping[str, Any], folder: Path = Path()) -> Code:
    """Return what a study writes or sends outside its folder: results, store and prompts."""
    block, named = values.get("study"), []
    for key in ("results", "store"):
        value = block.get(key) if isinstance(block, Mapping) else None
        named.append((f"study.{key}: writes to", str(value or key)))
    named += [("prompts: sends", file) for file in _list_prompts(values)]
    code = {}
    for action, name in named:
        place = os.path.realpath(folder / name.replace("\0", ""))
        if not Path(place).is_relative_to(os.path.realpath(folder)):
            text = f"{action} {place}"
            code[text] = _hash_text(text)
    return code


def _list_prompts(block: Any, key: str = "") -> Iterator[str]:
    """Yield the values of every key that ends with `prompt` or `prompts`: names, files, folders."""
    if isinstance(block, Mapping):
        for name, value in block.items():
            inherits = key.endswith("prompts")
            yield from _list_prompts(value, key if inherits else str(name))
    elif isinstance(block, str) and key.endswith(("prompt", "prompts")):
        yield block


def hash_code(code: Code) -> str:
    """Return the hash of code by name and content: 64 hex digits, as `OMIBENCH_ALLOW` has it."""
    return _hash_text(json.dumps(sorted(code.items())))


def require_allowed(
    values: Mapping[str, Any],
    files: Sequence[str | Path] = (),
    find: Callable[[Mapping[str, Any]], Code] = find_named,
) -> None:
    """Check that the code of the study in the current folder may run.

    Args:
        values: The blocks of params.yaml as plain values.
        files: The parameter files.
        find: Returns the code that is about to run: `find_code` before Snakemake starts in a
            folder, which runs its Snakefile and profiles.

    Raises:
        UntrustedError: Some of it was never allowed, or has changed since; names it.
    """
    if find is not find_code and not find(values):
        return
    record = _read_record(Path())
    if record == _FOLDER and _belong_here([*files, *find_named(values)]):
        return
    code = find(values)
    hashes = _read_hashes()
    states = _compare(code, {} if record == _FOLDER else record)
    refused = {
        name: state
        for name, state in states.items()
        if state != "allowed" and hash_code({name: code[name]}) not in hashes
    }
    if find is find_code:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a cache in the folder would be new code
    if not refused:
        return
    if hashes and hash_code(find_code(values)) in hashes:
        allow_for_jobs(values, os.environ)  # processes that get part of the parameters
        return
    option = next((f" --params {file}" for file in files if str(file) != PARAMS), "")
    listed = [f"{name} ({state})" for name, state in refused.items()]
    raise UntrustedError(
        f"{Path.cwd()}: has code that you did not allow on this machine: "
        f"{list_first(listed, _NAMED)}; read what `omibench allow --show{option}` lists, "
        f"then run `omibench allow{option}`"
    )


def allow_for_jobs(values: Mapping[str, Any], environment: MutableMapping[str, str]) -> bool:
    """Add the hashes of allowed code to the environment of jobs; return whether there are any.

    Jobs on other machines do not see what is remembered here.
    """
    hashes = {hash_code({name: digest}) for name, digest in find_named(values).items()}
    if hashes:
        environment[ALLOW_ENV] = " ".join(sorted(_read_hashes(environment) | hashes))
    return bool(hashes)


def list_states(code: Code, folder: Path = Path()) -> dict[str, str]:
    """Return for each part of the code whether it is `allowed`, `changed` or `new`."""
    record = _read_record(folder)
    return _compare(code, code if record == _FOLDER else record)


def _compare(code: Code, known: Code) -> dict[str, str]:
    return {
        name: "allowed" if known.get(name) == digest else "changed" if name in known else "new"
        for name, digest in code.items()
    }


def are_allowed(code: Code, folder: Path = Path()) -> bool:
    """Return whether code of a folder is allowed; true if there is none."""
    return set(list_states(code, folder).values()) <= {"allowed"}


def is_allowed_folder(folder: Path = Path()) -> bool:
    """Return whether a folder is allowed whatever its code."""
    return bool(_read_record(folder) == _FOLDER)


def allow_code(code: Code, folder: Path = Path()) -> Path:
    """Remember code of a folder as allowed; return the file. Raises OutputError."""
    record = _read_record(folder)
    return _remember(folder, _FOLDER if record == _FOLDER else {**record, **code})


def allow_folder(folder: Path = Path()) -> Path:
    """Remember a folder as allowed whatever its code; return the file. Raises OutputError."""
    return _remember(folder, _FOLDER)


def forget_folder(folder: Path = Path()) -> Path:
    """Forget what was allowed in a folder; return the file. Raises OutputError."""
    return _remember(folder, None)


def find_state() -> Path:
    """Return the file with what is allowed on this machine; it need not exist."""
    from platformdirs import user_state_path

    return user_state_path("omibench") / _STATE


def _read_state() -> dict[str, Any]:
    path = find_state()
    if not path.exists():
        return {}
    state = read_json(path)
    if not isinstance(state, dict) or not all(
        record == _FOLDER or isinstance(record, dict) for record in state.values()
    ):
        raise FileFormatError(f"{path}: is not a list of allowed folders; remove it")
    return state


def _read_record(folder: Path) -> Any:
    """Return `_FOLDER`, or the code of a folder that is allowed; empty if none is."""
    place = find_project(folder)
    if place == find_own_checkout():
        return _FOLDER
    return _read_state().get(str(place), {})


def _remember(folder: Path, record: object) -> Path:
    path = find_state()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with wait_path(path.with_suffix(".lock")), replace_atomically(path) as partial:
            state = {**_read_state(), str(find_project(folder)): record}
            text = json.dumps({k: v for k, v in state.items() if v is not None}, indent=1)
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
                f.write(text)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    return path


def _read_hashes(environment: Mapping[str, str] = os.environ) -> set[str]:
    return {*environment.get(ALLOW_ENV, "").replace(",", " ").split()}


def _belong_here(files: Collection[str | Path]) -> bool:
    """Return whether files belong to the study in the current folder.

    Those in a study or repository below it came from elsewhere.
    """
    here = Path.cwd()
    for file in files:
        path = (here / file).parent.resolve() / Path(file).name
        if not path.is_relative_to(here):
            return False
        inner = (p for p in path.parents if p != here and p.is_relative_to(here))
        if any((place / mark).exists() for place in inner for mark in _MARKS):
            return False
    return True


def _find_files(folder: Path) -> Code:
    code = {}
    for path in _walk(folder):
        name = path.relative_to(folder)
        if path.is_dir():
            code[f"{name}{os.sep}"] = _hash_text(str(path.readlink()))
        elif _is_code(name) and not _is_omibench(path, name):
            code[str(name)] = _hash(path)
    return dict(sorted(code.items()))


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder and its links to folders elsewhere; no hidden folders.

    Links to folders inside are followed, as imports follow them.
    """
    root, seen, waiting = os.path.realpath(folder), set[str](), [folder]
    while waiting:
        place = waiting.pop()
        real = os.path.realpath(place)
        if real in seen:
            continue
        seen.add(real)
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                path = place / entry.name
                if not entry.is_dir():
                    yield path
                elif not entry.is_symlink():
                    waiting += [] if entry.name.startswith(".") else [path]
                elif Path(os.path.realpath(path)).is_relative_to(root):
                    waiting.append(path)
                else:
                    yield path


def _is_code(name: PurePath) -> bool:
    return (
        name.name.lower() == SNAKEFILE.lower()
        or name.suffix.lower() in _SUFFIXES
        or not _PROFILES.isdisjoint(name.parts)
    )


def _is_omibench(path: Path, name: PurePath) -> bool:
    """Return whether a file is the same as the one that omibench ships or writes there."""
    own = [find_shipped(str(name)), *([_TEMPLATE] if str(name) == SNAKEFILE else [])]
    return any(file.is_file() and _hash(file) == _hash(path) for file in own)


def _hash(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read, so that it is asked for later."""
    try:
        return hash_file(path)
    except OmibenchError:
        return ""


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
