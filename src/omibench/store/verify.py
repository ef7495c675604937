"""Verifies every line, checksum, key and picture of a store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from omibench.errors import StoreError, reason_of
from omibench.files.outputs import tighten_all
from omibench.files.reading import hash_stream
from omibench.store.contents import card_fault, image_files, open_folder
from omibench.store.key import FORMS, Keys, parse_request
from omibench.store.segments import (
    Body,
    Damage,
    NoFileError,
    open_stored,
    parse_response,
    parse_values,
)
from omibench.store.store import ImageStore, Partition


class Fault(NamedTuple):
    """One error in a store: the file, the position in it, and the reason."""

    file: str
    where: str
    why: str


@dataclass
class StoreCheck:
    """The counts and errors of a verification."""

    responses: int = 0
    images: int = 0
    without_key: int = 0
    """Responses whose key could not be verified: without a model.json, or of a later schema."""
    faults: list[Fault] = field(default_factory=list)
    tightened: int = 0
    """Files and folders that other users could read or write, until now."""
    picture_uses: dict[str, str] = field(default_factory=dict)
    """Every picture in a request or a response, with the first such response."""


def verify_store(store: Path, folders: list[Path], images: bool = True) -> StoreCheck:
    """Check the partitions in `folders`, and with `images` every picture of the store.

    A line is valid if its checksum matches, its JSON is a request and a response, and its key is
    that of its request and model. A picture is valid if its name is the SHA-256 of its bytes; every
    picture in a request or a response must exist. Needless read permissions of other users are
    removed.
    """
    report = StoreCheck(tightened=tighten_all(store))
    for folder in folders:
        if (fault := card_fault(folder)) is not None:
            report.faults.append(Fault(folder.name, "model.json", fault))
        _verify_partition(open_folder(folder, thorough=True), report)
    image_store = ImageStore(store / "images")
    for sha256, response in sorted(report.picture_uses.items()):
        if not image_store.path(sha256).is_file():
            reason = f"is shown by {response} but is missing in the store"
            report.faults.append(Fault("images", sha256[:12], reason))
    for path in image_files(store) if images else ():
        report.images += 1
        if (hurt := find_picture_fault(path)) is not None:
            report.faults.append(Fault("images", path.name[:12], hurt))
    return report


def name_damage(partition: str, damaged: list[Damage]) -> Iterator[Fault]:
    """Return the damaged lines of a partition as errors."""
    for damage in damaged:
        last = damage.line + damage.lines - 1
        place = f"line {damage.line}" if damage.lines == 1 else f"lines {damage.line} to {last}"
        place = place if damage.lines else "footer"
        yield Fault(f"{partition}/{damage.segment}", place, damage.reason)


def key_fault(keys: Keys, key: str, body: Body) -> str | None:
    """Return why a body does not match its key, or None. Raises ValueError if invalid."""
    request = parse_request(parse_values(body.request), parse_values(body.tags))
    actual = keys.key(request, body.schema)
    return None if actual == key else f"its request has another key ({actual[:12]})"


def _verify_partition(partition: Partition, report: StoreCheck) -> None:
    keys = Keys(partition.identity) if partition.identity else None
    for file in partition.files:
        for key in (raw.hex() for raw in file.places):
            try:
                reason = _check(keys, key, file.body(key), report)
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                reason = f"cannot be understood: {str(error).partition(chr(10))[0]}"
            except OSError as error:
                raise StoreError(f"{file.path}: cannot be read: {reason_of(error)}") from None
            if reason is not None:
                file_name = f"{partition.folder.name}/{file.path.name}"
                report.faults.append(Fault(file_name, f"response {key[:12]}", reason))
    report.faults += name_damage(partition.folder.name, partition.damaged_lines)
    partition.close()


def _check(keys: Keys | None, key: str, body: Body, report: StoreCheck) -> str | None:
    report.responses += 1
    for drawn in parse_response(body.response).drawn:
        report.picture_uses.setdefault(drawn.sha256, f"response {key[:12]}")
    for message in parse_values(body.request)["messages"]:
        for part in message["parts"]:
            if "image" in part:
                report.picture_uses.setdefault(part["image"], f"response {key[:12]}")
    if keys is None or body.schema not in FORMS:
        report.without_key += 1
        return None
    return key_fault(keys, key, body)


def find_picture_fault(path: Path) -> str | None:
    """Return why a picture of a store does not match its name, or None."""
    try:
        with open_stored(path) as file:
            matches = hash_stream(file) == path.name
        return None if matches else "its content does not match its name"
    except NoFileError as error:
        return str(error)
    except OSError as error:
        return f"it cannot be read: {reason_of(error)}"
