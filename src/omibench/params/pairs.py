"""Parameters given as KEY=VALUE: `omibench --set`, and `snakemake --config`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omibench.errors import ParamsError
from omibench.files.yaml_file import parse_yaml


def split_pairs(pairs: Sequence[str], option: str = "--set") -> dict[str, object]:
    """Return keys and values; a value in braces or brackets is YAML, any other is text.

    Blocks of one key that is given again are merged.

    Raises:
        ParamsError: A pair is not KEY=VALUE with a top-level key, or a value is not YAML.
    """
    values = dict[str, object]()
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign or "." in key:
            raise ParamsError(
                f"{option} {key}: is not KEY=VALUE with a top-level key; write, for example, "
                "data=DIR or study={seed: 3}"
            )
        try:
            value = parse_yaml(text) if text.startswith(("{", "[")) else text
        except ValueError as error:
            raise ParamsError(f"{option} {key}: {text} is not YAML: {error}") from None
        values[key] = merge_blocks(values.get(key), value)
    return values


def merge_blocks(old: object, new: object) -> Any:
    """Return `new`; of two blocks, the keys of both, as Snakemake merges them."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    return {**old, **{key: merge_blocks(old.get(key), value) for key, value in new.items()}}


def drop_given(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file without those that the command line replaces."""
    return {
        key: drop_given(value, given[key]) if key in given else value
        for key, value in values.items()
        if key not in given or (isinstance(value, Mapping) and isinstance(given[key], Mapping))
    }


def list_paths(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the path of each value in blocks, such as `study.limit.n`."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from (f"{key}.{path}" for path in list_paths(value))
        else:
            yield key


def restore_types(config: object, text: object, typed: object) -> Any:
    """Return Snakemake's config with the values of `--config` inside blocks as YAML has them.

    Snakemake reads these as text: `review={folder: null}` would be a folder named `null`.

    Args:
        config: Values of all sources.
        text: Those of `--config`, as Snakemake reads them.
        typed: The same from `split_pairs`.
    """
    if isinstance(config, Mapping) and isinstance(text, Mapping) and isinstance(typed, Mapping):
        both = text.keys() & typed.keys()
        return {
            key: restore_types(value, text[key], typed[key]) if key in both else value
            for key, value in config.items()
        }
    return typed if config == text and isinstance(text, str | list) else config
