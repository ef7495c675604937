"""Generators as sources: entries, mistakes, what is written, and the filter on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from omibench.errors import FileFormatError
from omibench.params.stages.filter import FilterParams
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.stage import sift
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.sources.manifest import read_manifest

CIRCUIT = {"name": "c", "generator": "circuit", "seed": 1, "counts": {"lamps": 12}}


def write(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "sources.yaml"
    path.write_text(yaml.safe_dump({"generators": list(entries)}))
    return path


def make(folder: Path, *entries: dict[str, Any]) -> list[Problem]:
    out = folder / "ocr"
    report = read_papers([], out, OcrParams(), manifest=write(folder, *entries))
    assert {file.status for file in report.files} == {"ok"}
    return read_jsonl(out / "problems.jsonl", Problem)


def test_problems_are_written_with_pictures_and_attributes(tmp_path: Path) -> None:
    stated = {"licence": "CC0-1.0", "attributes": {"exam": "own"}, "difficulty": 2}
    problems = make(tmp_path, CIRCUIT | stated)
    assert len(problems) == 12
    first = problems[0]
    assert first.id == "c-lamps-0001"
    assert first.licence == "CC0-1.0"
    assert first.attributes == {
        "exam": "own",
        "fresh": "yes",
        "template": "circuit lamps 2",
        "generator": "circuit 1",
    }
    assert len(first.images) == 3
    assert all((tmp_path / "ocr" / figure.file).is_file() for figure in first.images)
    assert len({problem.group for problem in problems}) == 12


def test_a_later_entry_repeats_no_problem(tmp_path: Path) -> None:
    problems = make(tmp_path, CIRCUIT | {"fresh": False}, CIRCUIT | {"name": "again"})
    assert len(problems) == 24
    pictures = [frozenset(figure.sha256 for figure in p.images) for p in problems]
    assert len(set(pictures)) == 24
    assert [p.attributes["fresh"] for p in problems] == ["no"] * 12 + ["yes"] * 12


@pytest.mark.parametrize("difficulty", [1, 5])
def test_the_filter_keeps_all(tmp_path: Path, difficulty: int) -> None:
    body = {"name": "b", "generator": "body", "seed": 1, "counts": {"most": 30}}
    problems = make(tmp_path, *({**e, "difficulty": difficulty} for e in (CIRCUIT, body)))
    kept, rejects = sift(problems, tmp_path / "ocr", FilterParams())
    assert not rejects
    assert len(kept) == 42


def test_a_copy_is_still_found(tmp_path: Path) -> None:
    problems = make(tmp_path, CIRCUIT)
    copy = problems[0].model_copy(update={"id": "copy", "group": "copy"})
    rejects = sift([*problems, copy], tmp_path / "ocr", FilterParams())[1]
    assert [reject.id for reject in rejects] == ["copy"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"generator": "circuits"}, r"generator: 'circuits' does not exist; did you mean"),
        ({"counts": {"lamp": 3}}, r"counts: circuit has no template 'lamp'; give lamps"),
        ({"counts": {}}, r"counts: .*at least 1"),
        ({"difficulty": 6}, r"difficulty: .*5"),
        ({"seed": -1}, r"seed: "),
        ({"keys": "withheld"}, r"seed: the keys are withheld, .* at least 20 digits"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read_manifest(write(tmp_path, CIRCUIT | change))
    assert len(caught.value.lines) == 1
    assert "sources.yaml, line" in str(caught.value)
