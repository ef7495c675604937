"""Experts by transformers' own classes with tiny random weights, behind their server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from PIL import Image
from tests import asks
from tests.models.experts import build
from tests.models.local_blocks import picture

from omibench.errors import ModelError, ParamsError
from omibench.models.experts.provider import ExpertsProvider
from omibench.models.experts.server import EXPERTS, ExpertServer
from omibench.params.models.tools import ExpertsModel, ExpertWeights
from omibench.schemas.request import (
    DrawnPart,
    Response,
)
from omibench.settings.tools import SAMPLES

pytest.importorskip("torch")
pytest.importorskip("transformers")
needs_torchvision = pytest.mark.skipif(
    find_spec("torchvision") is None, reason="torchvision prepares the pictures of SAM 2"
)
NAMES = ("detect", pytest.param("segment", marks=needs_torchvision), "depth", "read_text")


def block(port: int, **experts: Any) -> ExpertsModel:
    values = {"provider": "experts", "base_url": f"http://127.0.0.1:{port}", "experts": experts}
    return ExpertsModel.model_validate(values)


@pytest.fixture(params=NAMES)
def served(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[str, ExpertsModel, int]]:
    """The name of an expert, its block, and the port of its server."""
    name = request.param
    weights = ExpertWeights(id=build(name, tmp_path / name))
    with ExpertServer(block(0, **{name: weights}), {name: EXPERTS[name](weights, "cpu")}) as server:
        port = server.server_address[1]
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield name, block(port, **{name: weights}), port
        server.shutdown()
        thread.join()


def ask(model: ExpertsModel, name: str, folder: Path) -> Response:
    arguments = json.loads(SAMPLES[name])
    arguments.pop("image")
    text = json.dumps({"tool": name, "arguments": arguments})
    request = asks.ask(text, picture(folder, size=(120, 80)), role="tool")
    return ExpertsProvider("vision", model).respond(request)


def test_an_expert_answers_through_its_server(
    served: tuple[str, ExpertsModel, int], tmp_path: Path
) -> None:
    name, model, port = served
    found = ask(model, name, tmp_path)
    assert "fails" not in found.text
    assert found.text
    if name in ("segment", "depth"):
        (drawn,) = found.drawn
        assert isinstance(drawn, DrawnPart)
        assert Image.open(io.BytesIO(drawn.data)).size == (120, 80)
    assert ask(model, name, tmp_path) == found
    other = block(port, **{name: {"id": "another", "revision": "1"}})
    with pytest.raises(ModelError, match="has other weights"):
        ask(other, name, tmp_path)
    assert ExpertsProvider("v", other).identity != ExpertsProvider("v", model).identity
    check_refusals(name, port)


def check_refusals(name: str, port: int) -> None:
    """Bad requests get a status and a reason, and the server goes on."""

    def post(path: str, body: bytes, **headers: str) -> int:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", path, body, {"Content-Type": "application/json", **headers})
        return connection.getresponse().status

    assert post(f"/{name}", b"{}", Host="evil.example:80") == 403
    assert post(f"/{name}", b"{}", **{"Content-Type": "text/plain"}) == 403
    assert post(f"/{name}", b"not JSON") == 400
    assert post(f"/{name}", b"[" * 100_000) == 400
    assert post(f"/{name}", b'{"image": "AAAA", "arguments": {}}') == 400
    assert post("/../etc/passwd", b'{"image": "", "arguments": {}}') == 400
    assert post(f"/{name}", b"{}", **{"Content-Length": str(2**40)}) == 413


def test_without_a_server_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError, match="start `omibench experts serve`"):
        ask(block(1, detect={"id": "x"}), "detect", tmp_path)


def test_only_this_machine_is_served() -> None:
    model = block(1, detect={"id": "x"}).model_copy(update={"base_url": "http://0.0.0.0:8020"})
    with pytest.raises(ParamsError, match="not of this machine"):
        ExpertServer(model, {})


def test_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        EXPERTS["detect"](ExpertWeights(id=str(tmp_path / "none")), "cpu")
