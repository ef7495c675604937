"""A folder of photographs as a source: each is one problem, kept whole, with its clean picture."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers, stage
from omibench.stages.ocr.jobs import OcrOutcome
from omibench.stages.ocr.sources.imports import list_photographed
from omibench.stages.ocr.sources.manifest import list_inputs, read_manifest
from small_freeze import make_picture

UNREAD = OcrParams(engine="textlayer")
"""Reads no photograph, so that tests need no engine."""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Two photographs, of which the first has a clean picture, and a note that is no picture."""
    for name in ("photos/b.png", "photos/a.png", "photos/clean/a.png", "photos/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make_picture(len(path.parts) + ord(path.stem[0])))
    path = tmp_path / "sources.yaml"
    path.write_text(
        "photographs:\n- {name: Home work, folder: photos, pictures: both, language: zh,"
        " licence: CC0, attributes: {school: north}}\n"
    )
    return path


def test_each_photograph_is_one_problem_that_is_kept_whole(tmp_path: Path, manifest: Path) -> None:
    out = tmp_path / "ocr"
    report = read_papers([], out, UNREAD, manifest=manifest)
    assert [(file.source, file.status, file.codes) for file in report.files] == [
        ("Home work/a", "ok", []),
        ("Home work/b", "ok", []),
    ]
    problems = read_jsonl(out / "problems.jsonl", Problem)
    assert [(p.id, p.photograph, p.group, p.number) for p in problems] == [
        ("Home_work_a", "real", "Home_work_a", "a"),
        ("Home_work_a-clean", "clean", "Home_work_a", "a"),
        ("Home_work_b", "real", "Home_work_b", "b"),
    ]
    assert {p.source for p in problems} == {"Home work"}
    assert [p.attributes.get("pair") for p in problems] == ["real", "clean", None]
    assert all(p.attributes["school"] == "north" for p in problems)
    assert all((p.question, p.language, p.licence) == ("[IMAGE0]", "zh", "CC0") for p in problems)
    for problem, name in zip(problems, ("a.png", "clean/a.png", "b.png"), strict=True):
        (figure,) = problem.images
        taken = (out / figure.file).read_bytes()
        assert taken == (tmp_path / "photos" / name).read_bytes()
        assert figure.sha256 == hashlib.sha256(taken).hexdigest()


def test_real_pictures_alone_are_items_by_default(tmp_path: Path, manifest: Path) -> None:
    manifest.write_text(manifest.read_text().replace("pictures: both, ", ""))
    read_papers([], tmp_path / "ocr", UNREAD, manifest=manifest)
    problems = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert [(p.photograph, p.attributes.get("pair")) for p in problems] == [
        ("real", "real"),
        ("real", None),
    ]


def test_a_damaged_photograph_is_named_and_the_others_are_done(
    tmp_path: Path, manifest: Path
) -> None:
    (tmp_path / "photos/a.png").write_bytes(make_picture(1)[:40])
    report = read_papers([], tmp_path / "ocr", UNREAD, manifest=manifest)
    assert [(file.status, file.codes) for file in report.files] == [
        ("error", ["pdf_damaged"]),
        ("ok", []),
    ]
    (problem,) = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert problem.id == "Home_work_b"


def test_a_photograph_whose_text_cannot_be_read_is_kept(
    tmp_path: Path, manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> OcrOutcome:
        return OcrOutcome(error=("paper_timeout", "a.png: not read within 1 s of wall time"))

    monkeypatch.setattr(stage, "_outcome", fail)
    report = read_papers([], tmp_path / "ocr", OcrParams(), manifest=manifest)
    assert [(file.status, file.codes) for file in report.files] == [
        ("warning", ["photograph_unread"]),
    ] * 2
    assert "not read within 1 s" in report.files[0].where["photograph_unread"]
    problems = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert [problem.question for problem in problems] == ["[IMAGE0]"] * 3


def test_a_clean_picture_that_is_damaged_leaves_its_photograph(
    tmp_path: Path, manifest: Path
) -> None:
    (tmp_path / "photos/clean/a.png").write_bytes(make_picture(1)[:40])
    report = read_papers([], tmp_path / "ocr", UNREAD, manifest=manifest)
    assert [file.codes for file in report.files] == [["clean_picture_unread"], []]
    problems = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert [(p.photograph, p.attributes.get("pair")) for p in problems] == [("real", None)] * 2


def test_a_change_of_any_picture_runs_the_stage_again(manifest: Path) -> None:
    folder = manifest.parent / "photos"
    inputs = [Path(name) for name in list_inputs(manifest)]
    assert inputs == [manifest, folder / "a.png", folder / "clean/a.png", folder / "b.png"]


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ("photographs:\n- {name: n, folder: none}\n", MissingInputError, "is no folder of photogr"),
        (
            "photographs:\n- {name: n, folder: photos, clean: none}\n",
            MissingInputError,
            "none: the folder of clean pictures does not exist",
        ),
        (
            "photographs:\n- {name: x, folder: photos}\n- {name: x, folder: photos}\n",
            FileFormatError,
            "the name 'x' is given twice",
        ),
        (
            "sources:\n- {name: n_a, paper: a.pdf}\nphotographs:\n- {name: n, folder: photos}\n",
            FileFormatError,
            "the names 'n_a' and 'n/a' would share one folder",
        ),
        (
            "photographs:\n- {name: n, folder: photos, pictures: clean}\n",
            FileFormatError,
            r"sources\.yaml.*pictures",
        ),
    ],
)
def test_a_wrong_manifest_is_one_line(
    manifest: Path, text: str, error: type[Exception], line: str
) -> None:
    manifest.write_text(text)
    with pytest.raises(error, match=line):
        list_photographed(read_manifest(manifest), manifest)
