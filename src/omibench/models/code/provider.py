"""The provider of the tool `python`: a request is the code of a session, a response its output."""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from base64 import b64decode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from omibench.files.pictures import READERS
from omibench.models.code.sandbox import find_program, run_cells
from omibench.models.drawn import MOST_PIXELS
from omibench.models.sdk import SdkProvider
from omibench.params.models.base import Limits
from omibench.params.models.tools import PythonModel
from omibench.schemas.request import STOPPED, DrawnPart, ImagePart, Request, Response, TextPart

if TYPE_CHECKING:
    from PIL import Image

VERSION = 1
"""Version of what code can do and of what is reported, part of the identity."""
SIDE = 1024
"""Longest side in pixels of a picture that is kept."""
_HIDDEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")


class PythonProvider(SdkProvider[PythonModel]):
    """Runs the last message of a conversation after the earlier ones, unless it is stored.

    Each message has the pictures that are new in it, each after its name, and the code.
    """

    def __init__(self, name: str, model: PythonModel) -> None:
        super().__init__(name, model)
        self._limits = Limits(
            concurrency=model.at_once, attempts=1, timeout_s=2 * model.seconds + 60
        )

    @property
    def identity(self) -> dict[str, Any]:
        """See `Provider.identity`."""
        return {**super().identity, "version": VERSION}

    @property
    def limits(self) -> Limits:
        """As many at a time as the block says."""
        return self._limits

    def respond(self, request: Request) -> Response:
        """Run the code. Raises ModelError if there is no sandbox."""
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
        text = self._cut(hide_controls(run.printed.decode(errors="replace")).strip())
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
            pictures.append(read_picture(b64decode(text, validate=True)))
        except ValueError:
            unread += 1
    return pictures, unread


def hide_controls(text: str) -> str:
    """Return text without control characters and codes of a terminal."""
    return _HIDDEN.sub("", text)


def read_picture(data: bytes) -> DrawnPart:
    """Return a picture as a new PNG, with sides of at most `SIDE` pixels. Raises ValueError."""
    image = open_untrusted(data)
    image.thumbnail((SIDE, SIDE))
    file = io.BytesIO()
    image.save(file, "PNG")
    return DrawnPart(sha256=hashlib.sha256(file.getvalue()).hexdigest(), data=file.getvalue())


def open_untrusted(data: bytes) -> Image.Image:
    """Decode a picture, in RGB and on white.

    Raises ValueError if it is not a picture, or has more than `MOST_PIXELS`.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=READERS) as opened:
                if opened.width * opened.height > MOST_PIXELS:
                    raise ValueError(f"it has more than {MOST_PIXELS:,} pixels")
                layer = opened.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
    except (OSError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from None
