"""Plug-ins of a single user file, listed in params.yaml or on the command line.

The file runs as code. It is read once, checked and run from the same bytes, so that the hash covers
the code that runs; other files in its folder cannot be imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from omibench.errors import OmibenchError, PluginError
from omibench.files.locations import describe_data_folder
from omibench.files.reading import read_text, resolve_within
from omibench.plugins.registry import REGISTRIES, loading
from omibench.plugins.sources import SOURCES, PluginSource, describe_error, text_meaning

FILE_BYTES = 2**20
"""Maximum bytes of a plug-in's file."""


def load_file(
    name: str,
    meaning: str | None = None,
    refused: Mapping[str, str] | None = None,
    folder: str | Path = ".",
) -> PluginSource:
    """Run a plug-in file, which registers its parts; once while its meaning is unchanged.

    Args:
        name: Its path, relative to `folder`.
        meaning: Its meaning hash when a run was planned; None without a plan.
        refused: Folders with data of others, and their descriptions: `results` -> "results".
        folder: The study's folder, which must contain the file: the working folder of commands.

    Returns:
        The loaded plug-in.

    Raises:
        PluginError: The file is missing, not a regular .py file, outside the study's folder or in a
            folder with data of others, has changed since the run was planned, raises, or registers
            nothing or an existing name.
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
            f"{name}: has changed since this run was planned; start the run again, which repeats "
            "the steps that depend on it"
        )
    source = PluginSource(name, path, actual)
    if SOURCES.get(name) != source:
        _run(source, text)
    return source


def registered_kinds(origin: str) -> set[str]:
    """Return the kinds of the parts that a plug-in has registered."""
    return {kind for kind, registry in REGISTRIES.items() if origin in registry.origins}


def forget_plugin(origin: str) -> None:
    """Remove a plug-in and all its registrations."""
    SOURCES.pop(origin, None)
    for registry in REGISTRIES.values():
        registry.forget(origin)


def _check_path(name: str, folder: Path, refused: Mapping[str, str]) -> Path:
    if not name.endswith(".py"):
        raise PluginError(f"{name}: is not a plug-in, which is a file that ends in .py")
    try:
        path = Path(os.path.realpath(resolve_within(folder, name)))
    except OmibenchError:
        raise PluginError(
            f"{name}: is outside the study's folder, {Path(folder).resolve()}; copy the file into "
            "it, or install it as a package (docs/plugins.md)"
        ) from None
    if place := describe_data_folder(path, folder, refused):
        raise PluginError(
            f"{name}: is in {place}, where code is never run; read it, and copy it next to "
            "params.yaml"
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
    # Dataclasses and pickle find a class's module by its name.
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
            f"{name}: registers nothing; decorate its parts, for example with @scorer('name') "
            "(docs/plugins.md)"
        )


def _line_of_syntax(name: str, error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    return f"{name}: is not valid Python: {error}"
