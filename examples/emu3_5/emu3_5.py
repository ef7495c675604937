"""The provider `emu3.5`: BAAI's Emu3.5 by its own code, which draws within its replies.

Its code needs transformers 4.48, so it runs in a process of its own (`worker.py`, beside this file)
with the Python that you installed for it. Only the commit `COMMIT` of its repository is run.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from omibench.errors import ModelError
from omibench.models.api.replies import classify_outcome, split_reply
from omibench.models.drawn import decode_picture
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.models.registry import Folders, provider
from omibench.params.models.base import ServedModel
from omibench.params.roles import Runtime
from omibench.schemas.request import DrawnPart, Request, Response, TextPart, Usage

COMMIT = "8fcf1da48f9c5252fe0a0b8dc842e07b6efcd745"
"""The commit of github.com/baaivision/Emu3.5 whose interface the worker uses."""
LINE_BYTES = 500 * 10**6
"""Maximum bytes of one reply of the worker: 16 pictures of 20 MB in base64, and its text."""


class EmuModel(ServedModel):
    """The model block, such as `{provider: emu3.5, id: BAAI/Emu3.5, revision: ..., ...}`."""

    is_free: ClassVar[bool] = True

    provider: Literal["emu3.5"]
    id: str = "BAAI/Emu3.5"
    """Folder or hub id of its weights."""
    tokenizer: str = "BAAI/Emu3.5-VisionTokenizer"
    """Folder or hub id of its vision tokenizer."""
    image_area: Annotated[int, Field(ge=1024)] = 518_400
    """Pixels to which the pictures of a request are scaled."""
    guidance: float = 3.0
    """`classifier_free_guidance` of its configurations."""
    seed: int = 0
    checkout: Runtime[str]
    """Folder of its repository, at `COMMIT` and unchanged."""
    python: Runtime[str]
    """The Python with the packages of its `requirements/`."""
    worker: Runtime[str] = "worker.py"
    """The path of worker.py."""

    @property
    def store_identity(self) -> dict[str, Any]:
        """The identity of the block, and the commit of the code."""
        return super().store_identity | {"code": COMMIT}


@provider("emu3.5", block=EmuModel)
class EmuProvider(BaseProvider[EmuModel]):
    """One worker process per opened model; it ends when this process does."""

    def __init__(self, name: str, model: EmuModel, folders: Folders) -> None:
        super().__init__(name, model, folders)
        self._process: subprocess.Popen[bytes] | None = None

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response, one after another.

        Raises ModelError if the checkout is another one, or the worker ends.
        """
        for request in requests:
            start = time.monotonic()
            reply = self._ask(describe_request(request, self.model.seed))
            latency_s = round(time.monotonic() - start, 3)
            yield request, read_reply(reply).model_copy(update={"latency_s": latency_s})

    def _ask(self, body: Mapping[str, Any]) -> Any:
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(body).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline(LINE_BYTES)
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            self._process = None
            process.kill()
            raise ModelError(
                f"model {self.name!r}: its worker ended without a reply (exit status "
                f"{process.wait()}); its messages are above"
            )
        return json.loads(line)

    def _start(self) -> subprocess.Popen[bytes]:
        model, checkout = self.model, Path(self.model.checkout)
        check_commit(self.name, checkout)
        options = {
            "checkout": str(checkout.resolve()), "model": model.id, "tokenizer": model.tokenizer,
            "image_area": model.image_area, "guidance": model.guidance,
        }  # fmt: skip
        command = [model.python, str(Path(model.worker).resolve()), json.dumps(options)]
        try:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise ModelError(f"model {self.name!r}: {model.python}: cannot run: {error}") from None


def check_commit(name: str, checkout: Path) -> None:
    """Raise ModelError unless a folder is a checkout of `COMMIT` with unchanged files."""
    git = ["git", "-C", str(checkout)]
    states = [
        subprocess.run([*git, *words], capture_output=True, text=True, check=False).stdout.strip()
        for words in (["rev-parse", "HEAD"], ["status", "--porcelain"])
    ]
    if states != [COMMIT, ""]:
        raise ModelError(
            f"model {name!r}: {checkout} is not an unchanged checkout of commit {COMMIT[:12]}; run "
            f"git clone https://github.com/baaivision/Emu3.5 and git checkout {COMMIT}"
        )


def describe_request(request: Request, seed: int) -> dict[str, Any]:
    """Return a request for the worker: its turns with texts and paths of pictures in sequence."""
    decoding = request.decoding
    return {
        "turns": [
            {
                "role": message.role,
                "parts": [
                    {"text": part.text} if isinstance(part, TextPart) else {"image": part.path}
                    for part in message.parts
                ],
            }
            for message in request.conversation.messages
        ],
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        "seed": seed + request.index,
    }


def read_reply(reply: Any) -> Response:
    """Return the response in a reply of the worker; what it holds is not trusted."""
    if not isinstance(reply, dict) or not isinstance(reply.get("pieces"), list):
        words = reply.get("error") if isinstance(reply, dict) else None
        return Response(text="", outcome="provider_error", error=f"the worker: {words}"[:500])
    split = split_reply(_read_pieces(reply["pieces"]))
    text, reasoning, drawn, places = split
    cut = reply.get("finish") == "length"
    tokens, of_pictures = reply.get("tokens"), reply.get("image_tokens")
    return Response(
        text=text,
        outcome=classify_outcome(text, cut=cut, refused=False, called=bool(drawn)),
        drawn=drawn,
        drawn_at=places,
        reasoning=reasoning,
        finish_reason="length" if cut else "stop",
        usage=Usage(
            output_tokens=tokens if isinstance(tokens, int) else None,
            image_output_tokens=of_pictures if isinstance(of_pictures, int) else None,
        ),
        cost_usd=0.0,
    )


def _read_pieces(pieces: Sequence[Any]) -> Iterator[str | DrawnPart | None]:
    for piece in pieces:
        if isinstance(piece, dict) and isinstance(piece.get("text"), str):
            yield piece["text"]
        elif isinstance(piece, dict) and isinstance(piece.get("image"), str):
            yield decode_picture(piece["image"])
