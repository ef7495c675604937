"""Mathpix, as used by OMIBench: v3/pdf for papers and v3/text for photographs.

The keys MATHPIX_APP_ID and MATHPIX_APP_KEY are sent only in headers. Each upload is noted by its
SHA-256 before waiting for the result, so an interrupted run continues with the job already billed,
and nothing is sent twice.
"""

from __future__ import annotations

import base64
import json
import os
import time
import urllib.request
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import FileFormatError, MissingInputError, ModelError
from omibench.files.outputs import write_atomically
from omibench.files.reading import read_json
from omibench.models.api.failures import Failure
from omibench.models.api.http import MOST_REPLY, Reply, exchange
from omibench.models.api.replies import parse_json
from omibench.stages.ocr.engines.engine import Reading
from omibench.stages.ocr.engines.readers import ReadPage
from omibench.text.masking import mask_line, remember

NAME = "mathpix"
URL = "https://api.mathpix.com"
URL_ENV = "MATHPIX_URL"
ID_ENV, KEY_ENV = "MATHPIX_APP_ID", "MATHPIX_APP_KEY"
FIGURES = frozenset({"diagram", "chart", "figure", "picture"})
"""Types of lines without text."""
_DELIMITERS = {"math_inline_delimiters": ["$", "$"], "math_display_delimiters": ["$$", "$$"]}
READ_S = 120.0
"""The seconds to wait for data of the server."""
MOST_S = 1200.0
"""The seconds allowed for one call, including the upload of a paper."""
_ATTEMPTS = 5
_BUSY = (429, 500, 502, 503, 504)


class Client(NamedTuple):
    """The connection to the API. `pause` is the first of the growing waits, in seconds."""

    url: str
    app_id: str
    app_key: str
    folder: Path
    """The folder of uploads and answers."""
    pause: float = 2.0
    patience: float = 1800.0
    """The seconds to wait for one paper; its job is kept afterwards."""


def open_client(folder: Path, pause: float = 2.0) -> Client:
    """Return the client with the keys of the environment.

    Raises MissingInputError if they are not set, or the URL is not an http(s) address.
    """
    app_id, app_key = os.environ.get(ID_ENV), os.environ.get(KEY_ENV)
    if not app_id or not app_key:
        raise MissingInputError(
            f"engine mathpix: set {ID_ENV} and {KEY_ENV}, the keys of your Mathpix account"
        )
    url = os.environ.get(URL_ENV, URL).rstrip("/")
    if not url.startswith(("https://", "http://")):
        raise MissingInputError(f"{URL_ENV}: {url!r} is not an http(s) address")
    remember(app_id)
    remember(app_key)
    return Client(url, app_id, app_key, folder, pause)


def read_pdf(client: Client, data: bytes, digest: str) -> dict[int, ReadPage]:
    """Return the reading of every page of a PDF, by page number.

    Raises ModelError if the API rejects the paper, fails, or exceeds the time limit.
    """
    kept_file = locate_pdf_answer(client.folder, digest)
    if not kept_file.is_file():
        note = client.folder / f"{digest}.json"
        job = _field(_load_kept(note), "pdf_id") if note.is_file() else None
        if job is None:
            job = _field(_post_file(client, data), "pdf_id")
            _keep(note, {"pdf_id": job})
        _await(client, job, note)
        _keep(kept_file, _call(client, f"/v3/pdf/{job}.lines.json"))
    pages = _load_kept(kept_file).get("pages", [])
    return {int(page["page"]): _page(page) for page in pages}


def read_image(client: Client, data: bytes, digest: str) -> ReadPage:
    """Return the reading of a photograph. Raises ModelError like `read_pdf`."""
    kept_file = locate_image_answer(client.folder, digest)
    if not kept_file.is_file():
        source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
        body = {"src": source, "formats": ["text"], "include_line_data": True, **_DELIMITERS}
        _keep(kept_file, _call(client, "/v3/text", json.dumps(body).encode(), "application/json"))
    answer = _load_kept(kept_file)
    return _page(
        {
            "page_width": answer.get("image_width", 1),
            "page_height": answer.get("image_height", 1),
            "lines": answer.get("line_data", []),
        }
    )


def locate_pdf_answer(folder: Path, digest: str) -> Path:
    """Return the file of the answer about a PDF with this SHA-256."""
    return folder / f"{digest}.lines.json"


def locate_image_answer(folder: Path, digest: str) -> Path:
    """Return the file of the answer about a picture with this SHA-256."""
    return folder / f"{digest}.text.json"


def _await(client: Client, job: str, note: Path) -> None:
    began, pause = time.monotonic(), client.pause
    while True:
        answer = _call(client, f"/v3/pdf/{job}")
        status = answer.get("status")
        if status == "completed":
            return
        if status == "error":
            note.unlink(missing_ok=True)
            raise ModelError(f"mathpix: job {job} failed: {_why(answer)}")
        if time.monotonic() - began > client.patience:
            raise ModelError(
                f"mathpix: job {job} is still {status!r} after {client.patience:g} s; run the "
                "command again to continue waiting"
            )
        time.sleep(pause)
        pause = min(30.0, pause * 1.5)


def _page(page: Mapping[str, Any]) -> ReadPage:
    lines, figures = [], []
    for line in page.get("lines", []):
        corners = _corners(line)
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        text = " ".join(str(line.get("text") or "").split())
        if line.get("type") in FIGURES:
            figures.append((min(xs), min(ys), max(xs), max(ys)))
        elif text:
            lines.append(
                Reading(
                    text=text,
                    quad=corners,
                    confidence=line.get("confidence"),
                    handwritten=bool(line.get("is_handwritten")),
                )
            )
    width, height = float(page.get("page_width") or 1), float(page.get("page_height") or 1)
    return ReadPage(engine=NAME, width=width, height=height, lines=lines, figures=figures or None)


def _corners(line: Mapping[str, Any]) -> Any:
    """Return the bounding box of a line's contour or region, as four corners."""
    points = line.get("cnt") or []
    if points:
        xs, ys = [float(p[0]) for p in points], [float(p[1]) for p in points]
        x0, y0, x1, y1 = min(xs), min(ys), max(xs), max(ys)
    else:
        region = line.get("region") or {}
        x0, y0 = float(region.get("top_left_x", 0)), float(region.get("top_left_y", 0))
        x1, y1 = x0 + float(region.get("width", 0)), y0 + float(region.get("height", 0))
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def _post_file(client: Client, data: bytes) -> dict[str, Any]:
    mark = uuid.uuid4().hex
    options = json.dumps({**_DELIMITERS, "rm_spaces": True})
    body = (
        f'--{mark}\r\nContent-Disposition: form-data; name="options_json"\r\n\r\n{options}\r\n'
        f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="paper.pdf"\r\n'
        "Content-Type: application/pdf\r\n\r\n"
    ).encode() + data
    body += f"\r\n--{mark}--\r\n".encode()
    return _call(client, "/v3/pdf", body, f"multipart/form-data; boundary={mark}")


def _call(
    client: Client, path: str, body: bytes | None = None, kind: str | None = None
) -> dict[str, Any]:
    """Return the JSON object of the API's answer; busy servers are queried again."""
    headers = {"app_id": client.app_id, "app_key": client.app_key}
    headers |= {"Content-Type": kind} if kind else {}
    pause = client.pause
    for attempt in range(_ATTEMPTS):
        request = urllib.request.Request(client.url + path, body, headers)  # noqa: S310
        try:
            sent = exchange(request, timeout_s=READ_S, most_bytes=MOST_REPLY, most_s=MOST_S)
            return read_reply_object(sent)
        except Failure as failure:
            if not failure.transient or attempt + 1 == _ATTEMPTS:
                raise ModelError(f"mathpix: {client.url}{path}: {failure}") from None
        time.sleep(pause)
        pause *= 2
    raise AssertionError("unreachable")


def read_reply_object(reply: Reply) -> dict[str, Any]:
    """Return the object in a reply. Raises Failure."""
    if reply.status >= 300:
        reason = f"HTTP {reply.status}: {_why(_object(reply))}"
        if reply.status in (401, 403):
            reason += f"; are {ID_ENV} and {KEY_ENV} the keys of your Mathpix account?"
        raise Failure(reason, reply.status, transient=reply.status in _BUSY)
    answer = _object(reply)
    if answer is None:
        raise Failure("the reply is not a JSON object", reply.status, transient=True)
    if answer.get("error") and "status" not in answer:
        raise Failure(_why(answer), reply.status)
    return answer


def _object(reply: Reply) -> dict[str, Any] | None:
    try:
        value = parse_json(reply.body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _why(answer: object) -> str:
    if not isinstance(answer, dict):
        return "an answer that is not an object"
    info = answer.get("error_info")
    detail = info.get("message") if isinstance(info, dict) else None
    return mask_line(str(detail or answer.get("error") or "no reason given"))


def _field(answer: Mapping[str, Any], field: str) -> str:
    value = answer.get(field)
    if not isinstance(value, str) or not value.replace("-", "").replace("_", "").isalnum():
        raise ModelError(f"mathpix: the answer has no {field}: {_why(answer)}")
    return value


def _load_kept(path: Path) -> dict[str, Any]:
    """Read a file of `_keep`. Raises FileFormatError if it is invalid."""
    reply = read_json(path)
    if not isinstance(reply, dict):
        raise FileFormatError(f"{path}: is not an answer of Mathpix: delete the file")
    return reply


def _keep(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(value).encode())
