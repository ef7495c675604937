"""Exports responses with their requests, as JSON lines or as one flat Parquet table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, get_args

from omibench.errors import ParamsError, StoreError, reason_of
from omibench.files.outputs import replace_atomically
from omibench.files.parquet import write_frames
from omibench.schemas.request import Response, Usage
from omibench.store.contents import open_folder
from omibench.store.segments import Body, parse_response, parse_values
from omibench.store.verify import Fault, name_damage
from omibench.text.masking import masked_values

BATCH = 4096
SUFFIXES = (".jsonl", ".parquet")
NESTED = {"usage", "calls", "drawn", "drawn_at", "carried", "option_logprobs"}
"""Fields of a response without a column in a flat table."""


class Exported(NamedTuple):
    """The result of one export: its rows, and the damaged lines that it lacks."""

    rows: int
    faults: list[Fault]


def export(folders: Iterable[Path], out: Path) -> Exported:
    """Write every readable response of the partitions in `folders` to `out`.

    `.jsonl`: one object per line with model, key, schema, tags, request and response as stored.
    `.parquet`: one row per response, its fields as columns, pictures by SHA-256. The file is
    written atomically. Raises ParamsError for any other suffix.
    """
    if out.suffix not in SUFFIXES:
        raise ParamsError(f"--out {out}: exports must be .jsonl or .parquet files")
    write = _write_jsonl if out.suffix == ".jsonl" else _write_parquet
    faults: list[Fault] = []
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with replace_atomically(out) as partial:
            return Exported(write(partial, _bodies(folders, faults)), faults)
    except OSError as error:
        raise StoreError(f"{out}: cannot be written: {reason_of(error)}") from None


def _bodies(
    folders: Iterable[Path], faults: list[Fault]
) -> Iterator[tuple[dict[str, Any], str, Body]]:
    """Yield every response; damaged lines, known once all are read, are added to `faults`."""
    for folder in folders:
        partition = open_folder(folder)
        for key in partition:
            body = partition.body(key)
            if body is not None:
                yield partition.identity, key, body
        lost = [damage for damage in partition.damaged_lines if damage.lines]
        faults += name_damage(folder.name, lost)
        partition.close()


def as_object(identity: dict[str, Any], key: str, body: Body) -> dict[str, Any]:
    """Return one response with all stored values."""
    return {
        "model": masked_values(identity),  # from an older version, it can contain a key
        "key": key,
        "schema": body.schema,
        "tags": parse_values(body.tags),
        "request": parse_values(body.request),
        "response": parse_values(body.response),
        **(parse_values(body.extra) if body.extra else {}),
    }


def _write_jsonl(path: Path, bodies: Iterator[tuple[dict[str, Any], str, Body]]) -> int:
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        for row in bodies:
            file.write(json.dumps(as_object(*row), ensure_ascii=False) + "\n")
            rows += 1
    return rows


def _write_parquet(path: Path, bodies: Iterator[tuple[dict[str, Any], str, Body]]) -> int:
    import polars as pl

    schema, rows = _make_schema(), 0

    def frames() -> Iterator[pl.DataFrame]:
        nonlocal rows
        while batch := [_row(*row) for row in islice(bodies, BATCH)]:
            rows += len(batch)
            yield pl.DataFrame(batch, schema)

    write_frames(path, frames(), schema, BATCH)
    return rows


def _make_schema() -> dict[str, Any]:
    """Return the columns of a flat export: one per field of a response and of its usage."""
    import polars as pl

    words = ("provider", "model", "key", "role", "study", "setting", "problem")
    fields = {**Response.model_fields, **Usage.model_fields}
    return {
        **dict.fromkeys(words, pl.String),
        "schema": pl.Int32,
        "index": pl.Int64,
        "prompt": pl.String,
        "images": pl.List(pl.String),
        **{name: _type(f.annotation) for name, f in fields.items() if name not in NESTED},
        "request": pl.String,
        "response": pl.String,
    }


def _type(annotation: Any) -> Any:
    import polars as pl

    kinds = {annotation, *get_args(annotation)}
    for kind, column in ((bool, pl.Boolean), (int, pl.Int64), (float, pl.Float64)):
        if kind in kinds:
            return column
    return pl.String


def _row(identity: dict[str, Any], key: str, body: Body) -> dict[str, Any]:
    response, request = parse_response(body.response), parse_values(body.request)
    parts = [part for message in request["messages"] for part in message["parts"]]
    return {
        **parse_values(body.tags),
        **response.model_dump(exclude=NESTED),
        **response.usage.model_dump(),
        "provider": identity.get("provider"),
        "model": identity.get("id"),
        "key": key,
        "schema": body.schema,
        "index": request["index"],
        "prompt": "\n".join(part.get("text", "[image]") for part in parts),
        "images": [part["image"] for part in parts if "image" in part],
        "request": body.request.decode("ascii"),
        "response": body.response.decode("ascii"),
    }
