"""Copies of a store: shared for others, and exported as files."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, get_args

from omibench.errors import MissingInputError, ParamsError, StoreError, reason_of
from omibench.files.outputs import replace_atomically, write_private
from omibench.files.parquet import write_frames
from omibench.schemas.request import Response, Usage
from omibench.store.compaction import compact_partition
from omibench.store.contents import card_fault, image_files, open_folder
from omibench.store.merge import Merged, merge_store
from omibench.store.segments import Body, parse_response, parse_values
from omibench.store.store import Partition, Store, partition_folders
from omibench.store.verify import Fault, name_damage
from omibench.text.masking import masked_values

ABSORBED = "absorbed.txt"
"""File of a store that lists the increments already merged into it."""


@dataclass(frozen=True)
class Increment:
    """The increment that one push has added to an archive."""

    folder: Path
    responses: int
    images: int


def increments(archive: Path) -> list[Path]:
    """Return the increments of an archive, oldest first; none without an archive."""
    if not archive.is_dir():
        return []
    return sorted(p for p in archive.iterdir() if p.is_dir() and not p.name.startswith("."))


def write_increment(store: Path, archive: Path) -> Increment | None:
    """Write responses that are in no increment yet to a new one; None if there are none.

    The store is only read. Damaged lines are skipped. Raises MissingInputError if the store does
    not exist, and StoreError if the archive cannot be written.
    """
    folders = partition_folders(store)
    older = increments(archive)
    part = archive / f".{secrets.token_hex(6)}.part"
    digest = hashlib.sha256()
    try:
        with Store(part) as new:
            keys = [
                key
                for folder in folders
                if card_fault(folder) is None
                for key in _copy_responses(folder, older, new)
            ]
        images = _copy_images(store, older, part)
        for name in [*sorted(keys), *images]:
            digest.update(f"{name}\n".encode())
        if not keys and not images:
            return None
        for folder in partition_folders(part):
            compact_partition(folder)
        target = archive / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{digest.hexdigest()[:12]}"
        part.rename(target)
    except OSError as error:
        raise StoreError(f"{archive}: cannot be written: {reason_of(error, True)}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _note(store, [target.name])
    return Increment(target, len(keys), len(images))


def absorb(archive: Path, store: Path) -> list[Merged]:
    """Merge every new increment into `store`; raises as `merge_store` does.

    The valid part of a damaged increment is merged, and the increment is retried next time.
    """
    absorbed = _read_absorbed(store)
    merges = []
    for increment in increments(archive):
        if increment.name not in absorbed:
            merges.append(merge_store(increment, store, links=True))
            if not merges[-1].faults:
                _note(store, [increment.name])
    return merges


def pointers(archive: Path) -> list[str]:
    """Return the DVC files of the increments. Raises MissingInputError without any."""
    paths = sorted(str(path) for path in archive.glob("*.dvc"))
    if not paths:
        raise MissingInputError(
            f"{archive}: contains no shared responses; create it with `omibench store push`, or "
            "fetch those of others with `git pull`"
        )
    return paths


def _copy_responses(folder: Path, older: Iterable[Path], new: Store) -> list[str]:
    source = open_folder(folder, thorough=True)
    shared_keys: set[str] = set()
    for increment in older:
        if (increment / folder.name).is_dir():
            partition = open_folder(increment / folder.name)
            shared_keys.update(partition)
            partition.close()
    fresh = [key for key in source if key not in shared_keys]
    target: Partition | None = None
    copied = []
    for key in fresh:
        line = source.line(key)
        if line is not None:
            target = target or new.open_partition(source.identity)
            target.append_line(line)
            copied.append(key)
    source.close()
    return copied


def _copy_images(store: Path, older: Iterable[Path], part: Path) -> list[str]:
    shared_names = {path.name for increment in older for path in image_files(increment)}
    copied = []
    for path in image_files(store):
        if path.name not in shared_names:
            write_private(part / "images" / path.name[:2] / path.name, path.read_bytes())
            copied.append(path.name)
    return copied


def _read_absorbed(store: Path) -> set[str]:
    try:
        return set((store / ABSORBED).read_text("utf-8").split())
    except OSError:
        return set()


def _note(store: Path, names: Iterable[str]) -> None:
    text = "".join(f"{name}\n" for name in sorted(_read_absorbed(store) | set(names)))
    write_private(store / ABSORBED, text.encode())


# Exports responses with their requests, as JSON lines or as one flat Parquet table.

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
