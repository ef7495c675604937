"""Three architectures on tiny random-weight models, from a request to its response.

Qwen2.5-VL and LLaVA-OneVision are transformers' own; the third comes with its own code.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.asks import answers
from tests.models.local_blocks import part_of, picture, samples, shown
from tests.models.tiny_llava import build_llava
from tests.models.tiny_own_code import build_own_code
from tests.models.tiny_vlm import build

from omibench.errors import ImageCountError, ModelError
from omibench.models.client.ask import ask
from omibench.models.local.checkpoint import hash_code
from omibench.models.local.prompts import decode
from omibench.models.local.transformers import TransformersProvider
from omibench.models.registry import open_provider
from omibench.params.models.providers import TransformersModel
from omibench.schemas.request import ImagePart, Request
from omibench.store.store import Store

pytestmark = pytest.mark.usefixtures("one_thread")
BUILDERS = {"qwen2_5_vl": build, "llava_onevision": build_llava, "own_code": build_own_code}
PLACE = "<|image_pad|>"
"""What the templates of all three write for a picture."""


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return {name: write(folder / name) for name, write in BUILDERS.items()}


def block(folder: Path, **more: Any) -> TransformersModel:
    values: dict[str, Any] = {"provider": "transformers", "id": str(folder), "dtype": "float32"}
    if (folder / "modeling_tiny.py").exists():
        values |= {"trust_remote_code": True, "revision": hash_code(folder)}
    return TransformersModel.model_validate(values | more)


def texts(model: TransformersModel, requests: list[Request]) -> list[str]:
    replies = answers(TransformersProvider("tiny", model), *requests)
    assert all(reply.error is None for reply in replies)
    return [reply.text for reply in replies]


@pytest.fixture
def requests(tmp_path: Path) -> list[Request]:
    """Prompts with none, one and three pictures of unlike sizes, one of them sampled."""
    a, b, c = (picture(tmp_path, seed, (56 + 28 * seed, 84)) for seed in range(3))
    return [
        shown("Which?", problem="none"),
        shown("The lens ", a, " and the screen.", problem="one"),
        shown("Read", a, b, c, "and compare. " * 5, problem="three", system="Read with care."),
        *samples("Look at", b, indices=range(3), temperature=0.9, problem="sampled"),
    ]


def ask_options(*pictures: ImagePart) -> list[Request]:
    """A request that scores options for each picture, named by its place."""
    return [
        shown("Read", image, problem=str(n), options=("A", "B", "C"))
        for n, image in enumerate(pictures)
    ]


@pytest.mark.parametrize("name", BUILDERS)
def test_a_picture_changes_the_probabilities_of_options_and_its_neighbours_do_not(
    name: str, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    pictures = [picture(tmp_path, 1), picture(tmp_path, 2, (56, 56)), picture(tmp_path, 1)]
    asked = ask_options(*pictures)
    found = {}
    for size in (1, 8):
        provider = TransformersProvider("tiny", block(checkpoints[name], batch_size=size))
        for request, logprobs in provider.score_options(asked):
            found[size, request.tags.problem] = logprobs
    for problem in "012":
        assert found[8, problem] == pytest.approx(found[1, problem], abs=2e-5)
    assert found[1, "0"] == pytest.approx(found[1, "2"], abs=1e-6)
    assert found[1, "0"] != pytest.approx(found[1, "1"], abs=1e-4)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_patch_is_seen_as_if_it_were_painted_on_the_picture(
    name: str, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    whole = picture(tmp_path, 1, (56, 56))
    images = [whole.model_copy(update={"patch": patch}) for patch in ((0, 0, 28), (28, 28, 28))]
    painted = []
    for image in images:
        path = tmp_path / f"painted-{len(painted)}.png"
        decode(image).save(path)
        painted.append(part_of(path))
    asked = ask_options(*images, *painted)
    provider = TransformersProvider("tiny", block(checkpoints[name]))
    scores = {request.tags.problem: logprobs for request, logprobs in provider.score_options(asked)}
    assert scores["0"] == pytest.approx(scores["2"], abs=2e-5)
    assert scores["1"] == pytest.approx(scores["3"], abs=2e-5)
    assert scores["0"] != pytest.approx(scores["1"], abs=1e-6)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_template_that_drops_pictures_is_caught(
    name: str, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / name
    BUILDERS[name](folder)
    template = folder / "chat_template.jinja"
    only_first = f"{{% if loop.first %}}{PLACE}{{% endif %}}"
    template.write_text(template.read_text().replace(PLACE, only_first))
    pair = shown(picture(tmp_path, 1), picture(tmp_path, 2, (56, 56)))
    with pytest.raises(ImageCountError, match=r"'tiny': the prompt has another number of images"):
        texts(block(folder), [pair])


@pytest.mark.parametrize("name", BUILDERS)
def test_through_the_store_nothing_is_asked_twice(
    name: str, checkpoints: dict[str, Path], requests: list[Request], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    provider = open_provider("tiny", block(checkpoints[name]))
    with Store(tmp_path / "store") as store:
        first = ask(requests, provider, store)
    monkeypatch.setattr(TransformersProvider, "answer", None)
    with Store(tmp_path / "store") as store:
        assert ask(requests, provider, store) == first


def plant(folder: Path) -> Path:
    """Code that leaves a file when it runs; the file."""
    trace = folder.parent / "it-ran"
    for name in ("configuration_tiny", "modeling_tiny", "processing_tiny"):
        file = folder / f"{name}.py"
        file.write_text(f"open({str(trace)!r}, 'w').close()\n{file.read_text()}")
    return trace


def test_without_the_opt_in_no_code_runs_whatever_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build_own_code(tmp_path / "hostile")
    trace = plant(folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\ny\ny\n"))
    plain = block(folder, trust_remote_code=False)
    with pytest.raises(ModelError, match="comes with custom code, which is not run") as raised:
        texts(plain, [shown("Which?")])
    assert len(raised.value.lines) == 1
    assert not trace.exists()


def test_code_that_was_changed_after_it_was_read_does_not_run(tmp_path: Path) -> None:
    folder = build_own_code(tmp_path / "hostile")
    model = block(folder)
    trace = plant(folder)
    with pytest.raises(ModelError, match="does not match `revision`"):
        texts(model, [shown("Which?")])
    assert not trace.exists()
    texts(block(folder), [shown("Which?")])
    assert trace.exists(), "the trace would be seen"


def change_code(folder: Path, before: str, after: str) -> None:
    file = folder / "modeling_tiny.py"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_what_its_own_code_raises_is_one_line(tmp_path: Path) -> None:
    asked = build_own_code(tmp_path / "fails-when-asked")
    change_code(asked, "states = self.embedding(input_ids)", "states = 1 / 0")
    line = "^model 'tiny': its custom code failed: ZeroDivisionError: division by zero$"
    with pytest.raises(ModelError, match=line):
        texts(block(asked), [shown("Which?")])
    loaded = build_own_code(tmp_path / "fails-when-loaded")
    change_code(loaded, "import torch\n", "import torch\nassert torch.lost, 'no such machine'\n")
    with pytest.raises(ModelError, match=r"transformers cannot load .* no attribute 'lost'"):
        texts(block(loaded), [shown("Which?")])


def test_code_of_the_same_name_that_was_loaded_before_does_not_stand_in(tmp_path: Path) -> None:
    first, second = (build_own_code(tmp_path / place / "reader") for place in ("a", "b"))
    change_code(second, "torch.tanh", "torch.sigmoid")
    texts(block(first), [shown("Which?")])
    with pytest.raises(ModelError, match="has already loaded other code under the name reader"):
        texts(block(second), [shown("Which?")])


def test_a_model_that_is_asked_in_its_own_way_needs_a_provider(tmp_path: Path) -> None:
    mute = build_own_code(tmp_path / "mute")
    change_code(mute, "(PreTrainedModel, GenerationMixin)", "(PreTrainedModel)")
    change_code(mute, "prepare_inputs_for_generation", "chat")
    with pytest.raises(ModelError, match=r"has no `generate`, .*write a provider for it"):
        texts(block(mute), [shown("Which?")])
    bare = build_own_code(tmp_path / "bare")
    (bare / "chat_template.jinja").unlink()
    with pytest.raises(
        ModelError, match="has no chat template, which the transformers provider needs"
    ):
        texts(block(bare), [shown("Which?")])
