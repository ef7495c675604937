"""Patches laid on after preprocessing give what painting the picture gives, with a real model."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.models.local_blocks import picture, shown
from tests.models.tiny_vlm import FAMILIES, build

from omibench.models.local import transformers as module
from omibench.models.local.identity import LOADED
from omibench.models.local.images import decode
from omibench.models.local.occlusion import Packing, strip_patches
from omibench.models.local.transformers import TransformersProvider
from omibench.params.models.local import TransformersModel
from omibench.schemas.request import ImagePart, Request

pytestmark = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("transformers")),
    reason="torch and transformers are not installed: pip install -e '.[transformers]'",
)
PATCHES = [None, (0, 0, 56), (28, 0, 56), (84, 56, 56), (56, 56, 56)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    importlib.import_module("torch").set_num_threads(1)
    folder = tmp_path_factory.mktemp("occluded")
    yield {family: build(folder / family, family) for family in FAMILIES}
    LOADED.release()


def provider(folder: Path) -> TransformersProvider:
    block = {"provider": "transformers", "id": str(folder), "dtype": "float32", "device": "cpu"}
    return TransformersProvider("tiny", TransformersModel.model_validate(block))


def requests_under(images: list[ImagePart], covered: int) -> list[Request]:
    """One conversation under each patch on the picture `covered`."""
    found = []
    for number, patch in enumerate(PATCHES):
        own = [i.model_copy(update={"patch": patch}) if n == covered else i
               for n, i in enumerate(images)]  # fmt: skip
        asked = shown("Look at ", own[0], " and ", own[1], ": which?", problem=str(number))
        found.append(asked.model_copy(update={"options": ("A", "B", "C")}))
    return found


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("covered", [0, 1])
def test_patches_after_preprocessing_are_patches_before(
    tiny: dict[str, Path],
    tmp_path: Path,
    family: str,
    covered: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Sides that all families leave as they are: multiples of 28 and of 32.
    images = [picture(tmp_path, seed, (224, 224)) for seed in (1, 2)]
    requests = requests_under(images, covered)
    calls: list[int] = []
    quick = module.occluded_logprobs

    def counted(*asked):  # type: ignore[no-untyped-def]
        found = quick(*asked)
        calls.append(len(found or ()))
        return found

    monkeypatch.setattr(module, "occluded_logprobs", counted)
    fast = dict(_scores(provider(tiny[family]), requests))
    assert sum(calls) == len(PATCHES), "all went the quick way"
    monkeypatch.setattr(module, "occluded_logprobs", lambda *_: None)
    slow = dict(_scores(provider(tiny[family]), requests))
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


def test_a_picture_that_the_model_scales_is_painted_before(
    tiny: dict[str, Path], tmp_path: Path
) -> None:
    images = [picture(tmp_path, seed, (100, 75)) for seed in (1, 2)]
    found = dict(_scores(provider(tiny["qwen2_5_vl"]), requests_under(images, 0)))
    assert len(found) == len(PATCHES)


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


def test_conversations_that_differ_in_patches_alone_are_one(tmp_path: Path) -> None:
    images = [picture(tmp_path, seed) for seed in (1, 2)]
    first, *others = (r.conversation for r in requests_under(images, 1))
    assert {strip_patches(c) for c in others} == {first}
