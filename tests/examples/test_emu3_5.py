"""The example plug-in of Emu3.5: a stand-in of its code at a commit, asked by the worker."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from omibench.errors import ModelError
from omibench.params.models.registry import PROVIDERS
from omibench.plugins.registry import loading
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Request,
    Tags,
    TextPart,
)

STAND_IN = {
    "src/__init__.py": "",
    "src/utils/__init__.py": "",
    "src/utils/input_utils.py": """
def build_image(image, cfg, tokenizer, vision):
    return f"<|image start|>{image.width}*{image.height}<|image end|>"
""",
    "src/utils/model_utils.py": """
from types import SimpleNamespace

class Tokens(list):
    def to(self, device):
        return self

class Tokenizer:
    def encode(self, text, **more):
        return Tokens([text])
    def decode(self, tokens, skip_special_tokens):
        return tokens[0]

def build_emu3p5(model, tokenizer, vision):
    print("loads", model, tokenizer, vision)
    return SimpleNamespace(device="cpu"), Tokenizer(), None
""",
    "src/utils/generation_utils.py": """
from PIL import Image

def generate(cfg, model, tokenizer, inputs, unconditional, full, same_size):
    if "fail" in inputs[0]:
        raise ValueError("no room")
    params = cfg.sampling_params
    yield [f"{inputs[0]} [{unconditional[0]}] {params['text_temperature']} {same_size}"
           "<|visual token 000001|><|extra_204|>"]

def multimodal_decode(text, tokenizer, vision):
    return [("global_cot", "<|extra_60|>plan"), ("text", "Look: "),
            ("image", Image.new("RGB", (4, 3))), ("text", text.split("<|visual")[0])]
""",
}


@pytest.fixture
def plugin(root: Path) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("emu3_5", root / "examples/emu3_5/emu3_5.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["emu3_5"] = module  # pydantic looks up its annotations there
    try:
        with loading("emu3_5.py"):
            spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules["emu3_5"]
        PROVIDERS.forget("emu3_5.py")


@pytest.fixture
def checkout(tmp_path: Path, plugin: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "Emu3.5"
    for name, text in STAND_IN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".gitignore").write_text("__pycache__\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "Stand-in"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    head = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    monkeypatch.setattr(plugin, "COMMIT", head.stdout.strip())
    return folder


def request(text: str, picture: Path | None = None, **decoding: Any) -> Request:
    parts: list[Any] = [TextPart(text=text)]
    if picture is not None:
        parts.append(ImagePart(sha256="0" * 64, path=str(picture)))
    return Request(
        conversation=Conversation(messages=(Message(role="user", parts=tuple(parts)),)),
        decoding=Decoding(**decoding),
        tags=Tags(role="respondent", problem="p"),
    )


def open_model(plugin: ModuleType, root: Path, checkout: Path, **more: Any) -> Any:
    block = {
        "provider": "emu3.5", "checkout": str(checkout), "python": sys.executable,
        "worker": str(root / "examples/emu3_5/worker.py"), **more,
    }  # fmt: skip
    return plugin.EmuProvider("emu", plugin.EmuModel.model_validate(block), None)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="the worker seeds torch, which is not here"
)
def test_the_worker_answers_with_text_and_pictures(
    plugin: ModuleType, root: Path, checkout: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "a.png"
    Image.new("RGB", (5, 2)).save(picture)
    emu = open_model(plugin, root, checkout)
    asked = [
        request("Is <|image end|> here? ", picture, temperature=0.3, top_p=0.9),
        request("fail"),
        request("greedy", temperature=0),
    ]
    told, failed, greedy = (response for _, response in emu.answer(asked))
    assert told.reasoning == "plan"
    # Special tokens are taken out of the text; those of a question were broken before.
    assert told.text.startswith("Look: You are a helpful assistant")
    assert "USER: Is < |image end|> here? 5*2 ASSISTANT:" in told.text
    assert told.text.endswith(" 0.3 True")
    assert (told.drawn_at, len(told.drawn), told.outcome) == ((6,), 1, "answered")
    assert (told.usage.image_output_tokens, told.finish_reason) == (1, "stop")
    assert (failed.outcome, failed.error) == ("provider_error", "the worker: ValueError: no room")
    assert greedy.text.endswith(" 1.0 True")
    emu._process.stdin.close()
    assert emu._process.wait(timeout=30) == 0


def test_another_or_a_changed_checkout_is_not_run(
    plugin: ModuleType, root: Path, checkout: Path
) -> None:
    emu = open_model(plugin, root, checkout)
    (checkout / "src/utils/input_utils.py").write_text("print('changed')\n")
    with pytest.raises(ModelError, match="is not an unchanged checkout of commit"):
        list(emu.answer([request("x")]))
    with pytest.raises(ModelError, match="is not an unchanged checkout of commit"):
        list(open_model(plugin, root, checkout.parent).answer([request("x")]))


def test_a_worker_that_ends_is_one_line(
    plugin: ModuleType, root: Path, checkout: Path, tmp_path: Path
) -> None:
    emu = open_model(plugin, root, checkout, worker=str(tmp_path / "none.py"))
    with pytest.raises(ModelError, match="its worker ended without a reply"):
        list(emu.answer([request("x")]))


@pytest.mark.parametrize(
    ("reply", "error"),
    [([], "the worker: None"), ({"error": "full"}, "the worker: full"), ({}, "the worker: None")],
)
def test_a_reply_of_another_form_is_a_failure(plugin: ModuleType, reply: Any, error: str) -> None:
    response = plugin.read_reply(reply)
    assert (response.outcome, response.error) == ("provider_error", error)
    mixed = {"pieces": [{"image": "no"}, {"other": 1}, 3, {"text": "a"}], "tokens": "9"}
    assert plugin.read_reply(mixed).text == "a"


def test_the_code_is_part_of_the_keys(plugin: ModuleType, root: Path, checkout: Path) -> None:
    identity = open_model(plugin, root, checkout).identity
    assert identity["code"] == plugin.COMMIT
    assert {"checkout", "python", "worker"}.isdisjoint(identity)
