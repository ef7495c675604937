"""Requests and replies of a response as stored."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any, Final

from omibench.errors import MissingInputError
from omibench.explore.app.live import Snapshot
from omibench.explore.run import Run
from omibench.params.cell import Cell
from omibench.stages.analyze.explorer.sent import SentConversation, read_conversation
from omibench.stages.analyze.explorer.steps import StoredPicture, Trail, TrailStep

_KEY: Final = re.compile(r"[0-9a-f]{64}")
_STORE: Final = threading.Lock()
"""Requests read files of the store one at a time."""
Values = dict[str, Any]


class ServedTrail(Trail):
    """The requests of a store, with pictures at the addresses of the application."""

    def __init__(self, snapshot: Snapshot, store: Path) -> None:
        folder = snapshot.study.items.folder
        super().__init__(store, folder.parent / "pictures", folder, folder)
        self._finder = snapshot.pictures

    def find_picture(self, sha256: str, page: Path) -> StoredPicture:
        """Return a picture by its SHA-256, without address if its file is missing."""
        return StoredPicture(sha256, f"/pictures/{sha256}" if self._finder.has(sha256) else None)


def describe_sent(snapshot: Snapshot, trail: ServedTrail, key: str) -> Values:
    """Return the messages of a request, and the previous steps.

    Args:
        snapshot: The study.
        trail: Its store.
        key: The key of the request in the store: of a response, a step or a judgement.

    Returns:
        `{sent: {messages, tools, pictures} or None, said, steps}`, as plain values for JSON. `sent`
        is None if the store does not contain the request.

    Raises:
        MissingInputError: The text is not a key.
    """
    if not _KEY.fullmatch(key):
        raise MissingInputError(f"request {key[:80]!r} not found")
    with _STORE:
        request = trail.request(key)
        steps = trail.steps([*_list_steps(snapshot, key), key], _list_images(snapshot, key), _HERE)
    try:
        sent = _describe_conversation(
            read_conversation("", request, lambda sha: trail.find_picture(sha, _HERE))
        ) if request else None  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError):  # stores may be external
        sent = None
    said = next((step for step in steps if step.key == key), None)
    return {
        "sent": sent,
        "said": _describe_step(said) if said else None,
        "steps": [_describe_step(step) for step in steps if step.key != key],
    }


_HERE: Final = Path()


def _describe_conversation(conversation: SentConversation) -> Values:
    return {
        "messages": [
            {
                "role": message.role,
                "parts": [
                    {"text": part.text}
                    if part.picture is None
                    else {"picture": part.picture._asdict(), "note": part.note}
                    for part in message.parts
                ],
                "calls": list(message.calls),
                "answers": message.answers,
            }
            for message in conversation.messages
        ],
        "tools": conversation.tools,
        "pictures": conversation.pictures,
    }


def _describe_step(step: TrailStep) -> Values:
    values = step._asdict()
    for name in ("pictures", "drawn"):
        values[name] = [picture._asdict() for picture in values[name]]
    return values


def _list_steps(snapshot: Snapshot, key: str) -> list[str]:
    """Return the keys of the requests that led to a response, in order."""
    run, row = snapshot.study.run, _find_response(snapshot, key)
    if run is None or row is None:
        return []
    return _read_steps(run, Cell(row["model"], row["setting"]), key)


def _read_steps(run: Run, cell: Cell, key: str) -> list[str]:
    import polars as pl

    path = run.files.locate("infer", cell)
    if "steps" not in pl.read_parquet_schema(path):
        return []
    rows = pl.scan_parquet(path, glob=False).filter(pl.col("key") == key).select("steps").collect()
    return [str(step) for step in rows["steps"].to_list()[0] or []] if rows.height else []


def _list_images(snapshot: Snapshot, key: str) -> list[str]:
    row = _find_response(snapshot, key)
    question = snapshot.study.items.questions.get(row["id"]) if row else None
    return [figure.sha256 for figure in question.images] if question else []


def _find_response(snapshot: Snapshot, key: str) -> Values | None:
    run = snapshot.study.run
    rows = run.responses.filter(key=key) if run else None
    return rows.row(0, named=True) if rows is not None and rows.height else None
