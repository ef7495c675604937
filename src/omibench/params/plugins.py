"""The list `plugins:`: files of the user's own that bring parts, loaded before any name is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from omibench.errors import PluginError
from omibench.params.blocks import Block, PlainPath
from omibench.plugins.files import load_file
from omibench.plugins.installed import check_installed


class PluginFile(Block):
    """A Python file of your own that brings rule books, prompts or other parts (docs/plugins.md).

    `plugins: [my_rules.py]` is short for it.
    """

    file: PlainPath
    """Its path below the folder that commands run in; never among results, data or the store."""
    meaning: str | None = None
    """What it meant when a run was planned: jobs refuse another. Nothing to write by hand."""


def _write_out(value: object) -> object:
    return {"file": value} if isinstance(value, str) else value


NamedPlugin = Annotated[
    PluginFile, BeforeValidator(_write_out, json_schema_input_type=str | PluginFile)
]
_PLUGINS: TypeAdapter[list[PluginFile]] = TypeAdapter(list[NamedPlugin])


def load_plugins(values: Mapping[str, Any], whole_study: bool) -> None:
    """Run the files that the list `plugins` of plain values names.

    Args:
        values: The blocks of params.yaml, not checked yet.
        whole_study: Whether these are those of a whole study, not of one job.

    Raises:
        PluginError: A file is not there, lies where no code is taken from, is another than was
            planned with, or raises; or installed packages bring two parts of one name. The key of
            params.yaml comes first.
    """
    if whole_study:
        check_installed()
    try:
        plugins = _PLUGINS.validate_python(values.get("plugins", []))
    except ValidationError:
        return  # the whole study is refused for it, with its place
    for number, plugin in enumerate(plugins):
        try:
            load_file(plugin.file, plugin.meaning, list_data_folders(values))
        except PluginError as error:
            raise PluginError(f"plugins.{number}: {error}") from error.__cause__


def list_data_folders(values: Mapping[str, Any]) -> dict[str, str]:
    """The folders that hold data of others or what was made of it, and what each is.

    Args:
        values: The blocks of params.yaml as plain values, not checked yet.
    """
    study = values.get("study")
    block: Mapping[str, Any] = study if isinstance(study, Mapping) else {}
    folders = {
        block.get("results", "results"): "results",
        block.get("store", "store"): "the store of responses",
        values.get("data"): "the benchmark's data",
    }
    return {folder: noun for folder, noun in folders.items() if isinstance(folder, str)}
