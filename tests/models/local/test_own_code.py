"""Code that comes with a checkpoint: what is hashed, what is loaded, what is refused."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.models.fake_vllm import FakeVllm

from omibench.errors import MissingInputError, ModelError
from omibench.models.local.checkpoint import Checkpoint, hash_code, list_code, locate_checkpoint
from omibench.models.local.vllm import VllmEngine, engine_args
from omibench.params.models.providers import TransformersModel, VllmModel

COMMIT = "c" * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint with two files of code."""
    place = tmp_path / "reader"
    (place / "parts").mkdir(parents=True)
    (place / "modeling.py").write_text("x = 1\n")
    (place / "parts" / "tower.py").write_text("y = 2\n")
    (place / "model.safetensors").write_bytes(b"weights")
    (place / "config.json").write_text(
        json.dumps({"auto_map": {"AutoModel": "modeling.Reader", "AutoTokenizer": [None, "a.B"]}})
    )
    return place


def block(place: str | Path, revision: str) -> TransformersModel:
    values = {"provider": "transformers", "id": str(place), "revision": revision}
    return TransformersModel.model_validate(values | {"trust_remote_code": True})


def test_the_hash_is_of_names_and_contents_of_all_code_and_of_nothing_else(folder: Path) -> None:
    first = hash_code(folder)
    assert list_code(folder) == [Path("modeling.py"), Path("parts/tower.py")]
    (folder / "model.safetensors").write_bytes(b"others")
    assert hash_code(folder) == first
    (folder / "parts" / "tower.py").write_text("y = 3\n")
    second = hash_code(folder)
    (folder / "parts" / "tower.py").rename(folder / "parts" / "eye.py")
    assert len({first, second, hash_code(folder)}) == 3


def test_code_behind_a_link_is_in_the_hash_and_a_circle_ends(folder: Path, tmp_path: Path) -> None:
    first = hash_code(folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "hidden.py").write_text("z = 1\n")
    (folder / "link").symlink_to(elsewhere)
    (elsewhere / "circle").symlink_to(folder)
    assert Path("link/hidden.py") in list_code(folder)
    assert hash_code(folder) != first


def test_a_folder_without_code_or_none_at_all_has_no_hash(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="contains no custom code"):
        hash_code(tmp_path)
    with pytest.raises(MissingInputError, match="is not a folder"):
        hash_code(tmp_path / "absent")


@pytest.mark.parametrize("note", ["", "+weights of May"])
def test_a_folder_is_loaded_where_its_code_is_what_the_revision_fixes(
    folder: Path, note: str
) -> None:
    model = block(folder, hash_code(folder) + note)
    assert locate_checkpoint("m", model) == Checkpoint(str(folder), None)
    (folder / "modeling.py").write_text("x = 2\n")
    line = rf"model 'm': the code in .*reader does not match `revision`: .* {hash_code(folder)};"
    with pytest.raises(ModelError, match=line):
        locate_checkpoint("m", model)


def test_a_commit_does_not_fix_the_code_of_a_folder_nor_a_hash_that_of_a_hub(folder: Path) -> None:
    with pytest.raises(ModelError, match="does not match `revision`"):
        locate_checkpoint("m", block(folder, COMMIT))
    with pytest.raises(ModelError, match="is not a folder, and the code of a hub model is fixed"):
        locate_checkpoint("m", block("org/reader", "a" * 64))


def test_a_hub_model_is_loaded_from_the_snapshot_of_its_commit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def download(name: str, *, revision: str, ignore_patterns: list[str]) -> str:
        calls.append((name, revision))
        if name == "org/absent":
            raise OSError("404 Client Error")
        return str(folder)

    hub = ModuleType("huggingface_hub")
    monkeypatch.setattr(hub, "snapshot_download", download, raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert locate_checkpoint("m", block("org/reader", COMMIT)) == Checkpoint(str(folder), None)
    assert calls == [("org/reader", COMMIT)]
    with pytest.raises(
        ModelError, match=f"'m': the snapshot {COMMIT} of org/absent is not available"
    ):
        locate_checkpoint("m", block("org/absent", COMMIT))


@pytest.mark.parametrize(
    "reference",
    ["org/other--modeling.Reader", "/tmp/modeling.Reader", "../modeling.Reader", "a.b.Reader", "x"],
)
@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json", "processor_config.json"])
def test_code_from_outside_of_the_checkpoint_is_refused(
    folder: Path, file: str, reference: str
) -> None:
    auto_map = {"AutoProcessor": "a.B", "AutoTokenizer": [reference, None]}
    (folder / file).write_text(json.dumps({"text_config": [{"auto_map": auto_map}]}))
    line = rf"^model 'm': {file} takes the class '{re.escape(reference)}' from outside"
    with pytest.raises(ModelError, match=line):
        locate_checkpoint("m", block(folder, hash_code(folder)))


def test_an_adapter_of_another_model_is_refused(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/other"}')
    with pytest.raises(ModelError, match="contains an adapter of another model"):
        locate_checkpoint("m", block(folder, hash_code(folder)))


def test_a_model_without_code_needs_no_trust(folder: Path) -> None:
    for file in list_code(folder):
        (folder / file).unlink()
    with pytest.raises(ModelError, match=r"contains no custom code .*remove `trust"):
        locate_checkpoint("m", block(folder, "a" * 64))


def vllm_model(place: Path, **more: Any) -> VllmModel:
    return VllmModel.model_validate({"provider": "vllm", "id": str(place), **more})


def test_vllm_is_given_the_folder_alone(folder: Path) -> None:
    plain = engine_args(vllm_model(folder, revision="1"), "m", 0)
    assert (plain["model"], plain["revision"]) == (str(folder), "1")
    assert plain["trust_remote_code"] is False
    pinned = {"trust_remote_code": True, "revision": hash_code(folder)}
    trusted = engine_args(vllm_model(folder, **pinned), "m", 0)
    assert (trusted["model"], trusted["revision"]) == (str(folder), None)
    assert trusted["trust_remote_code"] is True


def test_vllm_loads_nothing_whose_code_is_not_fixed(folder: Path, fake: FakeVllm) -> None:
    with pytest.raises(ModelError, match=r"^model 'm': the code in .* does not match `revision`"):
        VllmEngine("m", vllm_model(folder, trust_remote_code=True, revision="a" * 64), 0)
    assert fake.loads == []


def test_a_model_that_vllm_refuses_for_its_code_is_one_line_with_the_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = FakeVllm().module()

    def refuse(**arguments: Any) -> None:
        raise ValueError("... contains custom code. Please pass `trust_remote_code=True`")

    monkeypatch.setattr(module, "LLM", refuse)
    monkeypatch.setitem(sys.modules, "vllm", module)
    line = "comes with custom code, which is not run; to run it, read it, then set"
    with pytest.raises(ModelError, match=f"^model 'm': .*reader {line}") as raised:
        VllmEngine("m", vllm_model(folder), 0)
    assert len(raised.value.lines) == 1
