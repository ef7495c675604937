"""Patches laid on after preprocessing give what painting the picture gives, with a real model."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models.local_blocks import answer_so_far, picture, provider, shown
from tests.models.tiny_vlm import FAMILIES, build

from omibench.models.local import transformers as module
from omibench.models.local.prompts import decode
from omibench.models.local.transformers import TransformersProvider
from omibench.models.local.transformers_engine import Packing
from omibench.schemas.request import ImagePart, Request

pytestmark = pytest.mark.usefixtures("one_thread")
PATCHES = [None, (0, 0, 56), (28, 0, 56), (84, 56, 56), (56, 56, 56)]


@pytest.fixture(scope="module")
def tiny(one_thread: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("occluded")
    return {family: build(folder / family, family) for family in FAMILIES}


OPTIONS = ("A", "B", "C")
RESPONSE = "The screen is behind the lens, so A is out.\nThe answer is "


def requests_under(
    images: list[ImagePart], covered: int, response: str | None = None
) -> list[Request]:
    """One conversation under each patch on the picture `covered`, perhaps inside a response."""
    found = []
    for number, patch in enumerate(PATCHES):
        own = [i.model_copy(update={"patch": patch}) if n == covered else i
               for n, i in enumerate(images)]  # fmt: skip
        asked = shown(
            "Look at ", own[0], " and ", own[1], ": which?", problem=str(number), options=OPTIONS
        )
        found.append(asked if response is None else answer_so_far(asked, response))
    return found


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("covered", "response"), [(0, None), (1, None), (1, RESPONSE)])
def test_patches_after_preprocessing_are_patches_before(
    tiny: dict[str, Path],
    tmp_path: Path,
    family: str,
    covered: int,
    response: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Sides that all families leave as they are: multiples of 28 and of 32.
    images = [picture(tmp_path, seed, (224, 224)) for seed in (1, 2)]
    requests = requests_under(images, covered, response)
    calls: list[int] = []
    quick = module.occluded_logprobs

    def counted(*asked):  # type: ignore[no-untyped-def]
        found = quick(*asked)
        calls.append(len(found or ()))
        return found

    monkeypatch.setattr(module, "occluded_logprobs", counted)
    fast = dict(_scores(provider(tiny[family], device="cpu"), requests))
    assert sum(calls) == len(PATCHES), "all went the quick way"
    monkeypatch.setattr(module, "occluded_logprobs", lambda *_: None)
    slow = dict(_scores(provider(tiny[family], device="cpu"), requests))
    for number, value in fast.items():
        assert value == pytest.approx(slow[number], abs=2e-5)
    assert len({round(values["A"], 6) for values in fast.values()}) == len(PATCHES)


def _scores(
    asked: TransformersProvider, requests: list[Request]
) -> Iterator[tuple[str, dict[str, float]]]:
    for request, response in asked.answer(requests):
        assert response.option_logprobs is not None
        assert response.text == max(response.option_logprobs, key=response.option_logprobs.get)  # type: ignore[arg-type]
        yield request.tags.problem, response.option_logprobs


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("response", [RESPONSE, "**Answer: (", "Answer:\n", "("])
def test_a_letter_inside_a_response_is_scored_where_the_model_has_said_it(
    tiny: dict[str, Path], tmp_path: Path, family: str, response: str
) -> None:
    asked = shown("Look at ", picture(tmp_path, 1, (151, 101)), ": which?", options=OPTIONS)
    scorer = provider(tiny[family], device="cpu")
    ((_, scores),) = _scores(scorer, [answer_so_far(asked, response)])
    engine = scorer.open_engine()
    for option, value in scores.items():
        whole = answer_so_far(asked, f"{response}{option}, as I said.").conversation
        batch = engine.inputs([whole], None)
        tokens = batch["input_ids"][0].tolist()
        ending = engine.tokenizer.encode(", as I said.", add_special_tokens=False)
        at = len(tokens) - len(ending) - 1
        assert engine.tokenizer.decode(tokens[at]).strip(" (") == option
        with engine.torch.inference_mode():
            logits = engine.model(**batch).logits[0, at - 1]
        assert float(logits.float().log_softmax(-1)[tokens[at]]) == pytest.approx(value, abs=2e-5)


def test_conversations_inside_and_before_a_response_are_scored_together(
    tiny: dict[str, Path], tmp_path: Path
) -> None:
    image = picture(tmp_path, 1, (151, 101))
    both = [
        shown("Look at ", image, ": which?", problem=name, options=("A", "B"))
        for name in ("before", "inside")
    ]
    both[1] = answer_so_far(both[1], RESPONSE)
    together = dict(_scores(provider(tiny["qwen2_5_vl"], device="cpu"), both))
    for request in both:
        ((name, alone),) = _scores(provider(tiny["qwen2_5_vl"], device="cpu"), [request])
        assert together[name] == pytest.approx(alone, abs=2e-5)


def test_packing_is_undone_by_unpacking() -> None:
    torch = importlib.import_module("torch")
    packing = Packing(patch=14, merge=2, frames=2)
    rows = torch.rand(6 * 4, 3 * 2 * 14 * 14)
    whole = packing.unpack(rows, 6, 4)
    assert whole.shape == (3, 2, 84, 56)
    assert torch.equal(packing.pack(whole), rows)


def test_a_patch_is_black_and_the_file_stays(tmp_path: Path) -> None:
    image = picture(tmp_path, 3, (60, 40))
    before = Path(image.path).read_bytes()
    covered = decode(image.model_copy(update={"patch": (10, 5, 20)}))
    whole = decode(image)
    assert covered.crop((10, 5, 30, 25)).getcolors() == [(400, (0, 0, 0))]
    assert covered.crop((30, 0, 60, 40)).tobytes() == whole.crop((30, 0, 60, 40)).tobytes()
    assert Path(image.path).read_bytes() == before
