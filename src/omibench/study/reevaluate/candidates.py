"""Selection of listed models that are new to the study."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

from omibench.errors import ParamsError
from omibench.files.reading import read_text
from omibench.files.yaml_file import YAML_BYTES, parse_yaml
from omibench.params.reevaluate import has_id
from omibench.params.study import Study, parse_study, parse_study_file
from omibench.schemas.tables import write_text


class ModelCandidate(NamedTuple):
    """A model to evaluate.

    `name` is its key under `models:`, `block` its entry there; `settings` are those of its cells,
    empty for all of the study.
    """

    name: str
    id: str
    watch: str
    block: dict[str, Any]
    settings: tuple[str, ...] = ()


def find_new_models(study: Study, listings: Mapping[str, Sequence[str]]) -> list[ModelCandidate]:
    """Return the listed models that match a watch and are new to the study, in watch order.

    `listings` maps a watch to its ids. A model is known if the study has one of the same provider
    and id, or, for a simulated model without id, of the same name.
    """
    identities = {
        (model.provider, getattr(model, "id", name)) for name, model in study.models.items()
    }
    names, candidates = set(study.models), []
    for watch_name, ids in listings.items():
        watch = study.reevaluate.watch[watch_name]
        for model_id in filter(watch.wants, ids):
            own_id = model_id if has_id(watch.model["provider"]) else _slug(model_id)
            identity = (watch.model["provider"], own_id)
            if identity in identities:
                continue
            name = _name(model_id, watch_name, names)
            identities.add(identity)
            names.add(name)
            block = watch.fill_block(model_id)
            candidates.append(
                ModelCandidate(name, model_id, watch_name, block, tuple(watch.settings))
            )
    return candidates


def replace_models(study: Study, candidates: Iterable[ModelCandidate]) -> Study:
    """Return the study with only the candidates as respondents, for estimating their cost.

    Raises:
        ParamsError: A candidate contradicts the study.
    """
    candidates = list(candidates)
    values = study.model_dump(mode="json", exclude_defaults=True)
    values["models"] = values.get("models", {}) | {c.name: c.block for c in candidates}
    values["infer"] = values.get("infer", {}) | {
        "models": [c.name for c in candidates],
        "only": {c.name: list(c.settings) for c in candidates if c.settings},
    }
    if "saliency" in values and values["saliency"].get("models"):
        values["saliency"] = values["saliency"] | {"settings": [], "models": None}
    return parse_study(values, "the study with new models")


def _name(model_id: str, watch: str, used_names: set[str]) -> str:
    slug = _slug(model_id)
    names = chain([slug, f"{watch}-{slug}"[:80]], (f"{slug}-{n}" for n in count(2)))
    return next(name for name in names if name not in used_names)


def _slug(model_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model_id).strip("-._")[:72] or "model"


# Insertion of new models into params.yaml that preserves all other bytes and comments; removal of
# models from its cells.


def add_to_params(params: Path, candidates: Iterable[ModelCandidate]) -> None:
    """Add the blocks of models to a params file, and their names to `infer.models`.

    Existing entries are kept, so that the call can be repeated. The file is replaced atomically,
    and only if the new content parses as intended.

    Raises:
        ParamsError: The models cannot be added.
    """
    before = text = read_text(params, YAML_BYTES)
    for candidate in candidates:
        # A list that another part of the study repeats by an alias must not change there too.
        values = _expand_aliases(_values(text, params))
        fault = (
            f"{params}: the model {candidate.name!r} cannot be added automatically; add its block "
            "under `models:` and its name to `infer.models` manually"
        )
        add, insert = partial(_add, candidate), partial(_insert_lines, candidate)
        text = _edit(values, text, add, insert, fault)
    _replace(params, before, text)


def remove_from_params(params: Path, names: Iterable[str]) -> None:
    """Take models out of `infer.models` and `infer.only`; their blocks and comments stay.

    Raises:
        ParamsError: The file cannot be read, or a model cannot be taken out.
    """
    before = text = read_text(params, YAML_BYTES)
    for name in names:
        values = _values(text, params)
        if name not in ((values.get("infer") or {}).get("models") or ()):
            continue
        fault = (
            f"{params}: the model {name!r} cannot be removed automatically; remove its name from "
            "`infer.models` and `infer.only` manually"
        )
        text = _edit(values, text, partial(_remove, name), partial(_cut_lines, name), fault)
    _replace(params, before, text)


def _edit(
    values: dict[str, Any],
    text: str,
    change: Callable[[Any], None],
    edit_lines: Callable[[str], str],
    fault: str,
) -> str:
    """Return the text after a change of its `values`.

    Lines are edited if that suffices; otherwise all is written again, with its comments. Raises
    ParamsError with `fault` if neither text would have the intended values.
    """
    change(values)
    for edit in (edit_lines, partial(_edit_yaml, change)):
        edited = edit(text)
        if _reads_as(edited, values):
            return edited
    raise ParamsError(fault)


def _expand_aliases(values: Any) -> Any:
    """Return values of which no two parts are one object."""
    if isinstance(values, dict):
        return {key: _expand_aliases(value) for key, value in values.items()}
    return [_expand_aliases(value) for value in values] if isinstance(values, list) else values


def _replace(params: Path, before: str, text: str) -> None:
    if text != before:
        parse_study_file(json.dumps(_values(text, params), default=str))
        write_text(params, text)


def _values(text: str, params: Path) -> dict[str, Any]:
    try:
        values = parse_yaml(text)
    except ValueError as error:
        raise ParamsError(f"{params}: {error}") from None
    if not isinstance(values, dict):
        raise ParamsError(f"{params}: has no blocks such as `study:`")
    return values


def _reads_as(text: str, expected: dict[str, Any]) -> bool:
    try:
        return bool(parse_yaml(text) == expected)
    except ValueError:
        return False


def _edit_yaml(change: Callable[[Any], None], text: str) -> str:
    """Return the text after a change of its values; comments stay."""
    from ruamel.yaml import YAML

    file = YAML()
    file.preserve_quotes = True
    file.width = 1000
    values = file.load(text)
    change(values)
    out = io.StringIO()
    file.dump(values, out)
    return out.getvalue()


def _add(candidate: ModelCandidate, values: Any) -> None:
    infer = _open_block(values, "infer", {})
    _open_block(values, "models", {}).setdefault(candidate.name, candidate.block)
    models = _open_block(infer, "models", [])
    if candidate.name not in models:
        models.append(candidate.name)
    if candidate.settings:
        _open_block(infer, "only", {})[candidate.name] = list(candidate.settings)


def _open_block(values: Any, key: str, empty: object) -> Any:
    if values.get(key) is None:
        values[key] = empty
    return values[key]


def _remove(name: str, values: Any) -> None:
    infer = values["infer"]
    infer["models"].remove(name)
    infer["models"] = infer["models"] or []  # an empty block list is written as invalid YAML
    (infer.get("only") or {}).pop(name, None)


def _insert_lines(candidate: ModelCandidate, text: str) -> str:
    """Insert the candidate's lines into `models`, `infer.models` and `infer.only`."""
    name, settings = candidate.name, list(candidate.settings)
    text = _insert_entry(text, ["models"], name, candidate.block)
    text = _insert_entry(text, ["infer", "models"], name)
    if not settings:
        return text
    if _find(text, ["infer", "only"]) is None:
        return _insert_entry(text, ["infer"], "only", {name: settings})
    return _insert_entry(text, ["infer", "only"], name, settings)


def _insert_entry(text: str, place: Sequence[str], name: str, value: object = None) -> str:
    """Insert the last entry of a block or list; none if it has it, or is empty or in one line."""
    import yaml

    node = _find(text, place)
    if isinstance(node, yaml.SequenceNode) and node.value:
        last = node.value[-1]
        if name in [item.value for item in node.value]:
            return text
        if node.flow_style:
            return _splice(text, last.end_mark.index, f", {name}")
        return _splice(
            text, _line_end(text, node), f"{' ' * (last.start_mark.column - 2)}- {name}\n"
        )
    if not _is_block(node) or name in [key.value for key, _ in node.value]:
        return text
    lines = yaml.safe_dump({name: value}, sort_keys=False, allow_unicode=True, width=1000)
    column = node.value[0][0].start_mark.column
    return _splice(text, _line_end(text, node), indent(lines, " " * column))


def _splice(text: str, start: int, new: str = "", end: int | None = None) -> str:
    return text[:start] + new + text[start if end is None else end :]


def _cut_lines(name: str, text: str) -> str:
    """Cut the model's lines out of `infer.models` and `infer.only`, if these are blocks."""
    listed = _find(text, ["infer", "models"])
    place = [item.value for item in listed.value].index(name)
    item = listed.value[place]
    if not listed.flow_style:
        text = _cut_node(text, item, item)
    elif place:
        text = _splice(text, listed.value[place - 1].end_mark.index, end=item.end_mark.index)
    only = _find(text, ["infer", "only"])
    for key, value in only.value if _is_block(only) else ():
        if key.value == name:
            return _cut_node(text, key, value)
    return text


def _cut_node(text: str, first: Any, last: Any) -> str:
    """Cut the lines from the first node to the end of the last one."""
    start = text.rfind("\n", 0, first.start_mark.index) + 1
    return _splice(text, start, end=_line_end(text, last))


def _find(text: str, place: Sequence[str]) -> Any:
    """Return the node at a place in a text; None if there is none."""
    import yaml

    node: Any = None
    with suppress(yaml.YAMLError):
        node = yaml.compose(text)
    for key in place:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        node = next((value for name, value in pairs if name.value == key), None)
    return node


def _is_block(node: Any) -> bool:
    return node is not None and node.id == "mapping" and bool(node.value) and not node.flow_style


def _line_end(text: str, node: Any) -> int:
    """Return the position after a node; blank lines and comments below it stay below."""
    while node.id != "scalar" and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if node.id == "mapping" else last
    end = node.end_mark.index
    if end and text[end - 1] == "\n":  # a block scalar ends with its last line
        return int(end)
    return text.find("\n", end) + 1 or len(text)
