"""Plug-ins that are one file of the user's own, named in params.yaml or on the command line.

Such a file runs as code. It is read once, checked and run from the bytes that were read, so that
what runs is what was hashed; nothing beside it can be imported by its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from omibench.errors import OmibenchError, PluginError
from omibench.files.data_folders import describe_data_folder
from omibench.files.intake import read_text
from omibench.files.intake.containment import resolve_within
from omibench.plugins.registry import REGISTRIES, loading
from omibench.plugins.sources import SOURCES, PluginSource, describe_error, text_meaning

FILE_BYTES = 2**20
"""The most bytes of a plug-in's file."""


def load_file(
    name: str,
    meaning: str | None = None,
    refused: Mapping[str, str] | None = None,
    folder: str | Path = ".",
) -> PluginSource:
    """Run the file of a plug-in, which registers its parts; once, as long as it means the same.

    Args:
        name: Its path, relative to `folder`.
        meaning: What it meant when a run was planned; None where nothing was.
        refused: Folders that hold data of others, and what to call them: `results` -> "results".
        folder: The study's folder, below which the file lies: the one that commands run in.

    Returns:
        What was loaded.

    Raises:
        PluginError: The file is not there, no regular .py file, outside of the study's folder, in
            one that holds data of others, is another than was planned with, raises, or registers
            nothing or a name that exists.
    """
    path = _check_path(name, Path(folder), refused or {})
    try:
        text = read_text(path, FILE_BYTES)
        actual = text_meaning(text)
    except (SyntaxError, ValueError) as error:
        raise PluginError(_line_of_syntax(name, error)) from None
    except OmibenchError as error:
        raise PluginError(str(error).replace(str(path), name, 1)) from None
    if meaning not in (None, actual):
        raise PluginError(
            f"{name}: has changed since this run was planned: start the run again, which makes "
            "again what rests on it"
        )
    source = PluginSource(name, path, actual)
    if SOURCES.get(name) != source:
        _run(source, text)
    return source


def registered_kinds(origin: str) -> set[str]:
    """The kinds of which a plug-in has registered a part."""
    return {kind for kind, registry in REGISTRIES.items() if origin in registry.origins}


def forget_plugin(origin: str) -> None:
    """Remove a plug-in and all that it has registered."""
    SOURCES.pop(origin, None)
    for registry in REGISTRIES.values():
        registry.forget(origin)


def _check_path(name: str, folder: Path, refused: Mapping[str, str]) -> Path:
    if not name.endswith(".py"):
        raise PluginError(f"{name}: is no plug-in, which is a file that ends in .py")
    try:
        path = Path(os.path.realpath(resolve_within(folder, name)))
    except OmibenchError:
        raise PluginError(
            f"{name}: lies outside of the study's folder, {Path(folder).resolve()}: copy the file "
            "into it, or install it as a package (docs/plugins.md)"
        ) from None
    if place := describe_data_folder(path, folder, refused):
        raise PluginError(
            f"{name}: lies in {place}: code is never taken from there; read it, and keep a copy "
            "beside params.yaml"
        )
    if path.suffix != ".py":
        raise PluginError(f"{name}: is a link to {path.name}, which does not end in .py")
    if not path.exists():
        raise PluginError(f"{name}: the file does not exist")
    return path


def _run(source: PluginSource, text: str) -> None:
    name = source.origin
    forget_plugin(name)
    module = ModuleType("omibench_plugin_" + "".join(c if c.isalnum() else "_" for c in name))
    module.__file__ = str(source.path)
    SOURCES[name] = source
    # Dataclasses and pickle look a class's module up by its name.
    sys.modules[module.__name__] = module
    try:
        with loading(name):
            code = compile(text, str(source.path), "exec", dont_inherit=True)
            exec(code, module.__dict__)  # noqa: S102 (it is the user's own)
    except (Exception, SystemExit) as error:
        line = describe_error(error, name)
        forget_plugin(name)
        raise PluginError(line) from error
    if not registered_kinds(name):
        forget_plugin(name)
        raise PluginError(
            f"{name}: registers nothing: decorate its parts, such as @rule_book('name'), "
            "as docs/plugins.md shows"
        )


def _line_of_syntax(name: str, error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    return f"{name}: is no Python: {error}"
