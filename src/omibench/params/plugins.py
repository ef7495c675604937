"""The list `plugins:`: your Python files with further parts, loaded before any name is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from omibench.errors import PluginError
from omibench.params.blocks import Block, PlainPath, short_form
from omibench.plugins.allowance import find_plugins, require_allowed
from omibench.plugins.files import load_file
from omibench.plugins.registry import runs_files
from omibench.plugins.sources import check_installed


class PluginFile(Block):
    """Your Python file with scorers, prompts or other parts (docs/plugins.md).

    `plugins: [my_rules.py]` is short for it.
    """

    file: PlainPath
    """Path below the working folder of commands; never among results, data or the store."""
    meaning: str | None = None
    """Hash of its meaning when a run was planned: jobs refuse another. Set automatically."""


NamedPlugin = Annotated[PluginFile, short_form("file", str | PluginFile)]
_PLUGINS: TypeAdapter[list[PluginFile]] = TypeAdapter(list[NamedPlugin])


def load_plugins(
    values: Mapping[str, Any], whole_study: bool, files: Sequence[str | Path] = ()
) -> None:
    """Load the files in the list `plugins` of plain values, unless they are left out.

    Args:
        values: The blocks of params.yaml, not parsed yet.
        whole_study: Whether these are the blocks of a whole study, not of one job.
        files: The parameter files.

    Raises:
        PluginError: A file is missing, is in a folder that code is never loaded from, changed since
            the run was planned, or raises; or installed packages register the same name twice. The
            message starts with the key of params.yaml.
        UntrustedError: A file was not allowed on this machine (`plugins.allowance`).
    """
    if not runs_files():
        return
    require_allowed(values, files, find_plugins)
    if whole_study:
        check_installed()
    try:
        plugins = _PLUGINS.validate_python(values.get("plugins", []))
    except ValidationError:
        return  # the whole study is rejected with its location
    for number, plugin in enumerate(plugins):
        try:
            load_file(plugin.file, plugin.meaning, list_data_folders(values))
        except PluginError as error:
            raise PluginError(f"plugins.{number}: {error}") from error.__cause__


def list_data_folders(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the folders with data of others or derived data, and their descriptions.

    Args:
        values: The blocks of params.yaml as plain values, not parsed yet.
    """
    study = values.get("study")
    block: Mapping[str, Any] = study if isinstance(study, Mapping) else {}
    folders = {
        block.get("results", "results"): "results",
        block.get("store", "store"): "the store of responses",
        values.get("data"): "the benchmark's data",
    }
    return {folder: noun for folder, noun in folders.items() if isinstance(folder, str)}
