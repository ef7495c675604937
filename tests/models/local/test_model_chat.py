"""Models that answer by `chat` of their own code, on a tiny one, from request to response."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pydantic import ValidationError
from tests.asks import answers, extend, say
from tests.models.local_blocks import answer_so_far, part_of, picture, samples, shown
from tests.models.tiny_chat import build_talker

from omibench.errors import ModelError
from omibench.models.local.chat import ChatEngine, ChatProvider
from omibench.models.local.checkpoint import hash_code
from omibench.models.registry import open_provider
from omibench.params.models.providers import ChatModel
from omibench.schemas.request import Request, Response, ToolSpec

pytestmark = pytest.mark.usefixtures("one_thread")
PLACE = "<|image_pad|>"


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_talker(tmp_path_factory.mktemp("checkpoints") / "talker")


def block(folder: Path, **more: Any) -> ChatModel:
    values: dict[str, Any] = {
        "provider": "transformers-chat", "id": str(folder), "dtype": "float32", "device": "cpu",
        "trust_remote_code": True, "revision": hash_code(folder),
    }  # fmt: skip
    return ChatModel.model_validate(values | more)


def answer(model: ChatModel, *requests: Request) -> list[Response]:
    return answers(ChatProvider("tiny", model), *requests)


def asked(model: ChatModel) -> list[str]:
    """The prompts that the model wrote itself, oldest first."""
    engine = ChatProvider("tiny", model).open_engine()
    prompts: list[str] = engine.model.asked
    return prompts


def test_the_question_holds_every_picture_at_its_place(talker: Path, tmp_path: Path) -> None:
    square, wide = picture(tmp_path, 0, (28, 28)), picture(tmp_path, 1, (84, 28))
    model = block(talker)
    (reply,) = answer(model, shown("The lens ", square, "and ", wide, "its screen."))
    assert reply.error is None
    assert asked(model)[-1] == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nThe lens "
        f"{PLACE * 2}\nand {PLACE * 2 * 4}\nits screen.<|im_end|>\n<|im_start|>assistant\n"
    )
    tokens = ChatProvider("tiny", model).open_engine().tokenizer(asked(model)[-1])["input_ids"]
    assert reply.usage.input_tokens == len(tokens)


def test_fewer_tiles_are_another_model(talker: Path, tmp_path: Path) -> None:
    wide = picture(tmp_path, 1, (84, 28))
    model = block(talker, tiles=1)
    answer(model, shown("Look at ", wide))
    assert asked(model)[-1].count(PLACE) == 2
    assert model.store_identity != block(talker).store_identity


def test_a_picture_reaches_the_model(talker: Path, tmp_path: Path) -> None:
    parts = []
    for colour in ("black", "red", "lime", "blue", "white"):
        Image.new("RGB", (28, 28), colour).save(tmp_path / f"{colour}.png")
        parts.append(part_of(tmp_path / f"{colour}.png"))
    replies = answer(block(talker), *(shown("Look at ", part, max_tokens=24) for part in parts))
    assert len({reply.text for reply in replies}) > 1


def test_turns_system_and_control_tokens(talker: Path, tmp_path: Path) -> None:
    first = shown("See ", picture(tmp_path, 0, (28, 28)), system="Think hard.")
    model = block(talker)
    again = say("user", "Not <image> but <|im_end|>?")
    answer(model, extend(first, say("assistant", "A lens."), again))
    assert asked(model)[-1] == (
        "<|im_start|>system\nThink hard.<|im_end|>\n"
        f"<|im_start|>user\nSee {PLACE * 2}\n<|im_end|>\n"
        "<|im_start|>assistant\nA lens.<|im_end|>\n"
        "<|im_start|>user\nNot < image> but < |im_end|>?<|im_end|>\n<|im_start|>assistant\n"
    )
    answer(model, shown("And now?"))
    assert asked(model)[-1].startswith("<|im_start|>system\nBe brief.")


def test_samples_depend_on_their_index_alone(talker: Path) -> None:
    model = block(talker)
    many = [
        reply.text for reply in answer(model, *samples("Go on", indices=range(4), temperature=0.9))
    ]
    assert len(set(many)) > 1
    few = answer(model, *samples("Go on", indices=[2, 3], temperature=0.9))
    assert [reply.text for reply in few] == many[2:]
    other = answer(block(talker, seed=1), *samples("Go on", indices=range(4), temperature=0.9))
    assert [reply.text for reply in other] != many


def test_greedy_samples_are_one_call(talker: Path) -> None:
    model = block(talker)
    answer(model)
    before = len(asked(model))
    replies = answer(model, *samples("Go on", indices=range(3)))
    assert len({reply.text for reply in replies}) == 1
    assert len(asked(model)) == before + 1


def test_a_reply_of_all_tokens_is_cut_and_an_ended_one_is_not(talker: Path) -> None:
    model = block(talker)
    replies = answer(model, *samples("Go on", indices=range(24), temperature=1.0, max_tokens=96))
    counts = {(reply.finish_reason, reply.usage.output_tokens == 96) for reply in replies}
    assert counts == {("length", True), ("stop", False)}
    assert {reply.outcome for reply in replies if reply.finish_reason == "length"} == {"truncated"}


def test_what_chat_cannot_do_is_refused(talker: Path) -> None:
    model = block(talker)
    tool = ToolSpec(name="crop", description="cuts", parameters={})
    request = shown("Use it")
    with pytest.raises(ModelError, match="takes no tools; use `style: text`"):
        answer(model, extend(request, tools=(tool,)))
    with pytest.raises(ModelError, match="does not continue an answer"):
        answer(model, answer_so_far(request, "The answer is"))
    with pytest.raises(ModelError, match="returns no log-probabilities of options: use vllm or"):
        answer(model, shown("Use it", options=("A", "B")))


def test_a_model_without_such_a_chat_is_refused(tmp_path: Path) -> None:
    folder = build_talker(tmp_path / "mute")
    code = folder / "modeling_talker.py"
    code.write_text(code.read_text().replace("def chat(", "def talk("))
    with pytest.raises(ModelError, match="has no `chat` with tokenizer, pixel_values, question"):
        ChatEngine("m", block(folder))


def test_an_error_of_its_code_is_one_line(tmp_path: Path) -> None:
    folder = build_talker(tmp_path / "broken")
    code = folder / "modeling_talker.py"
    code.write_text(code.read_text().replace("self.asked.append(query)", "raise KeyError('no')"))
    with pytest.raises(ModelError, match="its custom code failed: KeyError") as raised:
        answer(block(folder), shown("Go on"))
    assert len(raised.value.lines) == 1


def test_its_code_must_be_trusted_and_is_opened_by_name(talker: Path) -> None:
    with pytest.raises(ValidationError, match=r"`model\.chat` is code that comes with"):
        ChatModel.model_validate({"provider": "transformers-chat", "id": "org/model"})
    assert isinstance(open_provider("m", block(talker)), ChatProvider)
