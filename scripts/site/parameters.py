"""Generate the reference of params.yaml from its JSON schema: one section per block."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_REF = "#/$defs/"
Schema = Mapping[str, Any]


def write_parameters(schema: Path) -> str:
    """Return the page as Markdown: the blocks of params.yaml in order, then their shared parts."""
    root: Schema = json.loads(schema.read_text("utf-8"))
    parts: Schema = root["$defs"]
    blocks = {name: _refer(values) for name, values in root["properties"].items()}
    names = dict.fromkeys(part for part in blocks.values() if part)
    lines = ["# Parameters", "", "Every key of `params.yaml`, with its type and default.", ""]
    lines += _table(root["properties"])
    shared = [part for part in parts if part not in names]
    for part in (*names, *shared):
        if parts[part].get("properties"):
            titles = [f"`{block}`" for block, name in blocks.items() if name == part]
            lines += ["", f"## {', '.join(titles) or part} {{#{part}}}", ""]
            lines += [_plain(parts[part].get("description", "")), ""]
            lines += _table(parts[part]["properties"])
    return "\n".join(lines) + "\n"


def _table(properties: Schema) -> Iterator[str]:
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    for name, values in properties.items():
        text = _plain(values.get("description", ""))
        yield f"| `{name}` | {_type(values)} | {_show_default(values)} | {text} |"


def _show_default(values: Schema) -> str:
    """Return the default; empty if a key is required, or if the part has its own defaults."""
    if "default" not in values or isinstance(values["default"], dict):
        return ""
    return f"`{json.dumps(values['default'], ensure_ascii=False)}`"


def _refer(values: Schema) -> str | None:
    """Return the part of a key, also among alternatives; None for plain values."""
    options = [values, *values.get("anyOf", ())]
    return next((o["$ref"].removeprefix(_REF) for o in options if "$ref" in o), None)


def _type(values: Schema) -> str:
    """Return the type of a key as text, with links to the parts."""
    if "$ref" in values:
        name = values["$ref"].removeprefix(_REF)
        return f"[{name}](#{name})"
    if options := values.get("anyOf") or values.get("oneOf"):
        return " or ".join(dict.fromkeys(map(_type, options)))
    if allowed := values.get("enum") or [v for k, v in values.items() if k == "const"]:
        return ", ".join(f"`{json.dumps(value)}`" for value in allowed)
    kind = str(values.get("type", "any"))
    if kind == "array":
        return f"list of {_type(values.get('items', {}))}"
    inner = values.get("additionalProperties")
    return f"mapping to {_type(inner)}" if kind == "object" and isinstance(inner, dict) else kind


def _plain(text: str) -> str:
    """Escape a text for a table cell."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;")
