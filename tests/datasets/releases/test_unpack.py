"""A release is read back as the freeze that it was built from, or refused in one line."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.datasets.conftest import Read

import omibench
from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions, SplitPlan
from omibench.datasets.release_contents import iter_questions
from omibench.errors import FileFormatError, MissingInputError
from omibench.params.study import parse_study
from omibench.schemas.problem import OriginalRow
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    read_typed_json,
    write_json,
)
from omibench.stages.freeze import freeze_dataset
from small_freeze import write_freeze, write_sources

TABLE = "data/test-00000-of-00001.parquet"


@pytest.fixture
def freeze(tmp_path: Path) -> Path:
    """A small freeze with a translated item, whose problems a simulated model judged."""
    folder = write_freeze(tmp_path / "results/freeze")
    manifest = read_typed_json(folder / "manifest.json", FrozenManifest)
    write_json(
        folder / "manifest.json", manifest.model_copy(update={"simulated": {"translation": 1}})
    )
    return folder


@pytest.fixture
def release(freeze: Path, tmp_path: Path) -> Path:
    """A draft release of it, in two splits."""
    sources = write_sources(tmp_path / "sources.yaml")
    options = ReleaseOptions(
        sources=sources, version="2.0.0", draft=True, split=SplitPlan("mini", 2)
    )
    build_release(freeze, tmp_path / "release", options)
    return tmp_path / "release"


def test_a_release_is_frozen_again_with_the_same_content(
    freeze: Path, release: Path, tmp_path: Path
) -> None:
    study = parse_study({"benchmark": {"name": "frozen"}, "data": str(release)}, "test")
    again = freeze_dataset(None, tmp_path / "again", study)
    before = read_typed_json(freeze / "manifest.json", FrozenManifest)
    assert again.questions_sha256 == before.questions_sha256
    assert again.answers_sha256 == before.answers_sha256
    assert (again.name, again.version) == ("rods", "2.0.0-draft")
    assert again.simulated == {"translation": 1}
    pictures = [
        sorted(p.name for p in (f / "images").iterdir()) for f in (freeze, tmp_path / "again")
    ]
    assert pictures[0] == pictures[1]
    originals = [
        read_jsonl(f / "originals.jsonl", OriginalRow) for f in (freeze, tmp_path / "again")
    ]
    assert originals[0] == originals[1]


def test_python_reads_a_release_and_its_pictures(freeze: Path, release: Path) -> None:
    loaded, frozen = omibench.load_release(release), omibench.load_release(freeze)
    assert loaded.questions == frozen.questions
    assert loaded.answers == frozen.answers
    figure = loaded.questions["item-3"].images[1]
    assert loaded.read_picture(figure) == frozen.read_picture(figure)
    assert not (release / "images").exists()
    scratch = loaded.folder
    assert scratch.is_dir()
    del loaded
    gc.collect()
    assert not scratch.exists()


def test_a_release_of_the_hub_is_read_whole(freeze: Path, release: Path, read: Read) -> None:
    params = {"hub": str(release), "revision": "0" * 40}
    questions, answers, folder = read("frozen", None, **params)
    before = read_typed_json(freeze / "manifest.json", FrozenManifest)
    assert content_hash(questions) == before.questions_sha256
    assert content_hash(answers) == before.answers_sha256
    assert all((folder / figure.file).is_file() for q in questions for figure in q.images)


def test_items_that_are_given_as_metadata_are_one_clear_line(
    freeze: Path, tmp_path: Path, read: Read
) -> None:
    sources = write_sources(tmp_path / "sources.yaml", beta=False)
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources, draft=True))
    with pytest.raises(MissingInputError) as raised:
        read("frozen", tmp_path / "out")
    assert len(raised.value.lines) == 1
    assert "3 of 6 items are listed as metadata only (item-1, item-3, item-5)" in str(raised.value)
    assert "EXTRACTION.md" in str(raised.value)


def edit_rows(release: Path, column: str, value: object) -> None:
    table = pq.read_table(release / TABLE)
    rows = table.to_pylist()
    rows[0][column] = value
    pq.write_table(pa.Table.from_pylist(rows, table.schema), release / TABLE)


def change_picture(release: Path) -> None:
    edit_rows(release, "images", [{"bytes": b"x", "path": "x"}] * 2)


def change_id(release: Path) -> None:
    edit_rows(release, "id", "other")


def drop_pictures(release: Path) -> None:
    edit_rows(release, "images", None)


def change_question(release: Path) -> None:
    path = release / "questions.jsonl"
    path.write_text(path.read_text("utf-8").replace("rod 2", "rod 9"), "utf-8")


def drop_question(release: Path) -> None:
    lines = (release / "manifest.jsonl").read_text("utf-8").splitlines(keepends=True)
    (release / "manifest.jsonl").write_text("".join(lines[:-1]), "utf-8")


def change_hash(release: Path) -> None:
    path = release / "manifest.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows[4]["answer_sha256"] = "0" * 64
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def drop_table(release: Path) -> None:
    sums = release / "SHA256SUMS"
    kept = [line for line in sums.read_text().splitlines(keepends=True) if "data/mini" not in line]
    sums.write_text("".join(kept))


def lead_out(release: Path) -> None:
    sums = release / "SHA256SUMS"
    sums.write_text(sums.read_text() + f"{'0' * 64}  data/../../x.parquet\n")


@pytest.mark.parametrize(
    ("spoil", "finding"),
    [
        (change_picture, "its pictures differ from manifest.jsonl"),
        (change_id, "is not an item of manifest.jsonl"),
        (drop_pictures, "its pictures differ from manifest.jsonl"),
        (change_question, "questions.jsonl: its content"),
        (drop_question, "have different items"),
        (change_hash, "item-4: its gold differs from manifest.jsonl"),
        (drop_table, "is in manifest.jsonl but in no table"),
        (lead_out, "leads out of this folder"),
    ],
)
def test_a_release_that_is_not_what_it_says_is_one_line(
    release: Path, read: Read, spoil: Callable[[Path], None], finding: str
) -> None:
    spoil(release)
    with pytest.raises(FileFormatError) as raised:
        read("frozen", release)
    assert len(raised.value.lines) == 1
    assert finding in str(raised.value)


def test_a_picture_may_not_be_written_elsewhere(release: Path, read: Read) -> None:
    path = release / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows[0]["images"][0]["file"] = "../../evil.png"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    provenance = release / "provenance.json"
    document = json.loads(provenance.read_text("utf-8"))
    document["frozen"]["questions_sha256"] = content_hash(iter_questions(release))
    provenance.write_text(json.dumps(document), "utf-8")
    with pytest.raises(FileFormatError, match="is not a path of a frozen picture"):
        read("frozen", release)
