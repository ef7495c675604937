"""A sandbox to run code in, if this machine has one."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from typing import Any

import pytest
from tests.asks import say, talk

from omibench.models.code.provider import PythonProvider
from omibench.params.models.tools import PythonModel
from omibench.schemas.request import (
    ImagePart,
    Response,
)


@cache
def why_not() -> str:
    """Why no code can be run here; empty if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    command = ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"user namespaces are forbidden: {done.stderr.strip()}"


needs_sandbox = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")


def run(*codes: str, pictures: dict[str, ImagePart] | None = None, **limits: Any) -> Response:
    """What the last code of a session leaves; the pictures are there from the first."""
    model = PythonModel.model_validate({"provider": "python", **limits})
    messages = []
    for number, code in enumerate(codes):
        shown = (pictures or {}).items() if number == 0 else ()
        messages.append(say("user", *(part for named in shown for part in named), code))
    return PythonProvider("sandbox", model).respond(talk(*messages, role="tool"))
