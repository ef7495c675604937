"""Selection of listed models that are new to the study."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count, pairwise
from pathlib import Path
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
    text = read_text(params, YAML_BYTES)
    for candidate in candidates:
        expected = _add_candidate(_values(text, params), candidate)
        valid_texts = (new for new in _edits(text, candidate) if _reads_as(new, expected))
        text = next(valid_texts, "")
        if not text:
            raise ParamsError(
                f"{params}: the model {candidate.name!r} cannot be added automatically; add its "
                "block under `models:` and its name to `infer.models` manually"
            )
    parse_study_file(_as_json(_values(text, params)))
    if text != read_text(params, YAML_BYTES):
        write_text(params, text)


def _edits(text: str, candidate: ModelCandidate) -> Iterator[str]:
    """Yield candidate texts: with inserted lines, then completely rewritten with comments."""
    if inserted := _insert_lines(text, candidate):
        yield inserted
    yield _rewrite(text, candidate)


def _add_candidate(values: dict[str, Any], candidate: ModelCandidate) -> dict[str, Any]:
    infer = dict(values.get("infer") or {})
    models = infer.get("models") or []
    infer["models"] = [*models, *({candidate.name: None}.keys() - set(models))]
    if candidate.settings:
        infer["only"] = (infer.get("only") or {}) | {candidate.name: list(candidate.settings)}
    blocks = {candidate.name: candidate.block} | (values.get("models") or {})
    return values | {"models": blocks, "infer": infer}


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


def _as_json(values: object) -> str:
    import json

    return json.dumps(values, default=str)


def _insert_lines(text: str, candidate: ModelCandidate) -> str | None:
    """Insert lines for the candidate, if `models`, `infer` and its lists are blocks."""
    import yaml

    root = yaml.compose(text)
    models, infer = _child(root, "models"), _child(root, "infer")
    listed, only_node = _child(infer, "models"), _child(infer, "only")
    inserts: list[tuple[int, str]] = []
    if not _is_block(models) or not isinstance(listed, yaml.SequenceNode) or not listed.value:
        return None
    if _child(models, candidate.name) is None:
        column = models.value[0][0].start_mark.column
        inserts.append((_line_end(text, models), _lines({candidate.name: candidate.block}, column)))
    if candidate.name not in [node.value for node in listed.value]:
        inserts.append(_place_in_list(text, listed, candidate.name))
    if candidate.settings:
        entry = {candidate.name: list(candidate.settings)}
        if only_node is None:
            key = infer.value[0][0].start_mark.column
            inserts.append((_line_end(text, infer), _lines({"only": entry}, key)))
        elif not _is_block(only_node):
            return None
        elif _child(only_node, candidate.name) is None:
            column = only_node.value[0][0].start_mark.column
            inserts.append((_line_end(text, only_node), _lines(entry, column)))
    places = [0, *(place for place, _ in sorted(inserts)), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    added = [new for _, new in sorted(inserts)]
    return "".join(piece + new for piece, new in zip(pieces, [*added, ""], strict=True))


def _place_in_list(text: str, listed: Any, name: str) -> tuple[int, str]:
    last = listed.value[-1]
    if listed.flow_style:
        return last.end_mark.index, f", {name}"
    dash = last.start_mark.column - 2
    return _line_end(text, listed), f"{' ' * dash}- {name}\n"


def _child(node: Any, key: str) -> Any:
    pairs = node.value if node is not None and node.id == "mapping" else []
    return next((value for name, value in pairs if name.value == key), None)


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


def _lines(value: dict[str, Any], column: int) -> str:
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)
    return "".join(f"{' ' * column}{line}\n" for line in text.splitlines())


def _rewrite(text: str, candidate: ModelCandidate) -> str:
    def add(values: Any) -> None:
        infer = values.setdefault("infer", {})
        values.setdefault("models", {}).setdefault(candidate.name, candidate.block)
        if candidate.name not in infer.setdefault("models", []):
            infer["models"].append(candidate.name)
        if candidate.settings:
            infer.setdefault("only", {})[candidate.name] = list(candidate.settings)

    return _edit_yaml(text, add)


def remove_from_params(params: Path, names: Iterable[str]) -> None:
    """Take models out of `infer.models` and `infer.only`; their blocks and comments stay.

    Raises:
        ParamsError: The file cannot be read.
    """
    before = text = read_text(params, YAML_BYTES)
    for name in names:
        values = _values(text, params)
        infer = values.get("infer") or {}
        if name not in (infer.get("models") or []):
            continue
        infer["models"].remove(name)
        infer.get("only", {}).pop(name, None)
        cut = _cut_lines(text, name)
        text = cut if _reads_as(cut, values) else _edit_yaml(text, partial(_remove, name=name))
    if text != before:
        parse_study_file(_as_json(_values(text, params)))
        write_text(params, text)


def _remove(values: Any, name: str) -> None:
    infer = values["infer"]
    infer["models"].remove(name)
    infer["models"] = infer["models"] or []  # an empty block list is written as invalid YAML
    infer.get("only", {}).pop(name, None)


def _cut_lines(text: str, name: str) -> str:
    """Cut the model's lines out of `infer.models` and `infer.only`, if these are blocks."""
    import yaml

    infer = _child(yaml.compose(text), "infer")
    cuts: list[tuple[int, int]] = []
    items = _child(infer, "models").value
    place = [item.value for item in items].index(name)
    if not _child(infer, "models").flow_style:
        cuts.append(_lines_of(text, items[place], items[place]))
    elif place:
        cuts.append((items[place - 1].end_mark.index, items[place].end_mark.index))
    only = _child(infer, "only")
    for key, value in only.value if _is_block(only) else ():
        if key.value == name:
            cuts.append(_lines_of(text, key, value))
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def _lines_of(text: str, first: Any, last: Any) -> tuple[int, int]:
    return text.rfind("\n", 0, first.start_mark.index) + 1, _line_end(text, last)


def _edit_yaml(text: str, edit: Callable[[Any], None]) -> str:
    """Return the text after a change of its values; comments stay."""
    from ruamel.yaml import YAML

    file = YAML()
    file.preserve_quotes = True
    file.width = 1000
    values = file.load(text)
    edit(values)
    out = io.StringIO()
    file.dump(values, out)
    return out.getvalue()
