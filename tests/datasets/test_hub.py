"""Datasets of the hub, read from local folders of the same layout: no network."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.datasets.conftest import Read

from omibench.errors import MissingExtraError, MissingInputError, ParamsError

REVISION = "0" * 40
PNG = b"\x89PNG\r\n\x1a\nnot decoded, so it need not be whole"
CARD = """---
configs:
- {config_name: Math, data_files: [{split: test, path: Math/*.parquet}]}
- {config_name: Physics, data_files: [{split: test, path: Physics/*.parquet}]}
---
"""
ONE = """---
configs:
- {config_name: default, data_files: [{split: test, path: "*.parquet"}]}
---
"""


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The library reads its environment once, when it is first imported: what is set there would
    # stay for every later test of the process.
    pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")
    constants = importlib.import_module("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))


def emma_folder(folder: Path) -> Path:
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    for subject in ("Math", "Physics"):
        (folder / subject).mkdir(parents=True)
        rows = [
            {
                "pid": f"{subject}_{n}", "subject": subject, "type": "Multiple Choice",
                "question": "<image_1> Which?", "options": ["<image_2>", "b"], "answer": "A",
                "context": "none", "category": "x", "task": "",
                "image_1": {"bytes": PNG, "path": "a.png"},
                "image_2": {"bytes": PNG + b"2", "path": "b.png"},
            }
            for n in (1, 2)
        ]  # fmt: skip
        table = pa.Table.from_pylist(rows)
        for place in ("image_1", "image_2"):
            at = table.schema.get_field_index(place)
            table = table.set_column(at, place, table[place].cast(image))
        table = table.replace_schema_metadata({"huggingface": _features()})
        pq.write_table(table, folder / subject / "test-00000-of-00001.parquet")
    (folder / "README.md").write_text(CARD)
    return folder


def _features() -> str:
    """What the library `datasets` writes beside its tables: which columns are pictures."""
    text, picture = {"dtype": "string", "_type": "Value"}, {"_type": "Image"}
    names = ("pid", "subject", "type", "question", "answer", "context", "category", "task")
    options = {"feature": text, "_type": "List"}
    features = dict.fromkeys(names, text) | {"options": options}
    return json.dumps({"info": {"features": features | {"image_1": picture, "image_2": picture}}})


def test_every_configuration_with_the_bytes_of_its_pictures(tmp_path: Path, read: Read) -> None:
    hub = emma_folder(tmp_path / "emma")
    questions, answers, _ = read("emma", None, hub=str(hub), revision=REVISION)
    assert [q.id for q in questions] == ["Math_1", "Math_2", "Physics_1", "Physics_2"]
    assert Path(questions[0].images[1].file).read_bytes() == PNG + b"2"
    assert questions[0].choices is not None
    assert questions[0].choices[0].text == "[IMAGE1]"
    assert {a.n_images for a in answers} == {2}


def test_one_configuration_is_named_by_its_split(tmp_path: Path, read: Read) -> None:
    (tmp_path / "omi").mkdir()
    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table = pa.table(
        {
            "id": ["math-1"], "subject": ["mathematics"], "answer_type": ["open"],
            "question": ["[IMAGE0] and [IMAGE1]?"], "answer": [["3"]],
            "image_list": pa.array([[{"bytes": PNG, "path": "a.png"}] * 2], pa.list_(picture)),
        }
    )  # fmt: skip
    pq.write_table(table, tmp_path / "omi" / "test.parquet")
    (tmp_path / "omi" / "README.md").write_text(ONE)
    (question,), _, _ = read("omibench", None, hub=str(tmp_path / "omi"), revision=REVISION)
    assert [Path(figure.file).read_bytes() for figure in question.images] == [PNG, PNG]


def test_what_the_hub_does_not_give_is_one_line(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match=r"benchmark\.hub: .* at 000000000000 cannot be"):
        read("emma", None, hub=str(tmp_path / "none"), revision=REVISION)


def test_without_the_library_the_extra_is_named(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'omibench\[hub\]', or download"):
        read("emma", None, hub="owner/name", revision=REVISION)


def test_a_branch_is_no_revision_and_a_dataset_needs_one(read: Read) -> None:
    with pytest.raises(ValueError, match="revision"):
        read("emma", None, hub="owner/name", revision="main")
    with pytest.raises(ValueError, match="belong together"):
        read("emma", None, hub="owner/name")
    with pytest.raises(ParamsError, match=r"benchmark\.hub"):
        read("emma", None)


def test_parts_of_a_split_are_joined(tmp_path: Path, read: Read) -> None:
    (tmp_path / "hub/data").mkdir(parents=True)
    for n in range(2):
        rows = {"id": [f"q-{n}"], "question": ["?"], "answer": [["1"]]}
        pq.write_table(pa.table(rows), tmp_path / f"hub/data/test-{n:05}-of-00002.parquet")
    questions, _, _ = read("folder", None, hub=str(tmp_path / "hub"), revision=REVISION)
    assert [q.id for q in questions] == ["q-0", "q-1"]


def test_tables_and_pictures_keep_their_paths(tmp_path: Path, read: Read) -> None:
    (tmp_path / "hub/images").mkdir(parents=True)
    (tmp_path / "hub/images/a.png").write_bytes(PNG)
    (tmp_path / "hub/problems.csv").write_text("id,question,answer,images\na,Q?,1,images/a.png\n")
    (question,), _, _ = read("folder", None, hub=str(tmp_path / "hub"), revision=REVISION)
    assert question.images[0].sha256
