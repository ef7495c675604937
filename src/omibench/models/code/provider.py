"""The provider of the tool `python`: a request is the code of a session, a response its output."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from omibench.models.code.sandbox import find_program, run_cells
from omibench.models.drawn import redraw_picture
from omibench.models.registry import provider
from omibench.models.sdk import SdkProvider
from omibench.params.models.base import Limits
from omibench.params.models.tools import PythonModel
from omibench.schemas.request import STOPPED, DrawnPart, ImagePart, Request, Response, TextPart
from omibench.text.controls import drop_controls

VERSION = 1
"""Version of what code can do and of what is reported, part of the identity."""


@provider("python", block=PythonModel)
class PythonProvider(SdkProvider[PythonModel]):
    """Runs the last message of a conversation after the earlier ones, unless it is stored.

    Each message has the pictures that are new in it, each after its name, and the code.
    """

    @property
    def identity(self) -> dict[str, Any]:
        """See `Provider.identity`."""
        return {**super().identity, "version": VERSION}

    @property
    def limits(self) -> Limits:
        """As many at a time as the block says."""
        timeout_s = 2 * self.model.seconds + 60
        return Limits(concurrency=self.model.at_once, attempts=1, timeout_s=timeout_s)

    def respond(self, request: Request) -> Response:
        """Run the code. Raises ModelError without a sandbox."""
        find_program(self.model)
        with TemporaryDirectory() as folder:
            cells = []
            for message in request.conversation.messages:
                names = [
                    self._place(part, before, Path(folder))
                    for before, part in zip(message.parts, message.parts[1:], strict=False)
                    if isinstance(part, ImagePart)
                ]
                code = message.parts[-1]
                cells.append({"code": getattr(code, "text", ""), "pictures": names})
            run = run_cells(self.model, cells, Path(folder))
        pictures, unread = _read_report(run.report, self.model.pictures)
        ended = run.ended
        if not ended and pictures is None:
            ended = "its process ended early"
        text = self._cut(drop_controls(run.printed.decode(errors="replace")).strip())
        notes = [text] if text else []
        if unread:
            notes.append(f"Pictures that cannot be read: {unread}.")
        if ended:
            notes.append(f"Stopped, since {ended}; its variables are lost, earlier ones are kept.")
        return Response(
            text="\n".join(notes) or "(nothing printed)",
            drawn=tuple(pictures or ()),
            finish_reason=STOPPED if ended else "stop",
            cost_usd=0.0,
        )

    def _place(self, image: ImagePart, name: object, folder: Path) -> str:
        kind, data = self.read_picture(image)
        stem = name.text if isinstance(name, TextPart) else image.sha256
        (folder / f"{stem}.{kind.removeprefix('image/')}").write_bytes(data)
        return stem

    def _cut(self, text: str) -> str:
        most = self.model.output
        if len(text) <= most:
            return text
        left_out = len(text) - 2 * (most // 2)
        return f"{text[: most // 2]}\n[... {left_out:,} characters ...]\n{text[-(most // 2) :]}"


def _read_report(report: bytes, most: int) -> tuple[list[DrawnPart] | None, int]:
    """Return the pictures of a report and the number of unreadable ones; None without a report.

    It is written by the code of a model, whatever it says.
    """
    try:
        found = json.loads(report)["pictures"]
        encoded = [text for text in found if isinstance(text, str)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, 0
    pictures, unread = [], 0
    for text in encoded[:most]:
        try:
            pictures.append(redraw_picture(b64decode(text, validate=True)))
        except ValueError:
            unread += 1
    return pictures, unread
