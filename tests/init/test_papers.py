"""Papers are paired with their keys and solutions by the names of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import MissingInputError
from omibench.stages.ocr.sources.manifest import read_manifest
from omibench.study.init.contents import Exam, find_papers, manifest_text, pair_papers


def files(*names: str) -> list[Path]:
    return [Path(name) for name in names]


def test_a_key_and_solutions_go_with_the_paper_that_their_names_begin_with() -> None:
    exams = pair_papers(files("a.pdf", "a-solutions.pdf", "a_key.pdf", "b.png", "b answers.csv"))
    assert exams == [
        Exam(Path("a.pdf"), Path("a_key.pdf"), Path("a-solutions.pdf")),
        Exam(Path("b.png"), Path("b answers.csv")),
    ]


@pytest.mark.parametrize("name", ["a_Answer_Key", "a-answers", "a.key", "a KEYS", "a-answer-key"])
def test_the_words_for_a_key(name: str) -> None:
    assert pair_papers(files("a.pdf", f"{name}.pdf")) == [Exam(Path("a.pdf"), Path(f"{name}.pdf"))]


@pytest.mark.parametrize("name", ["monkey", "x/a_key", "c_key", "key", "a_keyboard"])
def test_other_names_are_papers_of_their_own(name: str) -> None:
    exams = pair_papers(files("a.pdf", f"{name}.pdf"))
    assert exams == [Exam(Path("a.pdf")), Exam(Path(f"{name}.pdf"))]


def test_a_second_key_is_a_paper_and_a_table_alone_is_nothing() -> None:
    exams = pair_papers(files("a.pdf", "a-answers.pdf", "a-key.pdf", "notes.txt"))
    assert exams == [Exam(Path("a.pdf"), Path("a-answers.pdf")), Exam(Path("a-key.pdf"))]


def test_the_manifest_is_one_that_ocr_reads(tmp_path: Path) -> None:
    papers, study = tmp_path / "my papers", tmp_path / "study"
    for name in ("2024/físicA: 1.pdf", "2024/físicA: 1_key.pdf", "2025/a.pdf", "2025/a.png"):
        (papers / name).parent.mkdir(parents=True, exist_ok=True)
        (papers / name).write_bytes(b"")
    (papers / ".hidden").mkdir()
    (papers / ".hidden/b.pdf").write_bytes(b"")
    study.mkdir()
    manifest = manifest_text(find_papers(papers), papers, study)
    (study / "sources.yaml").write_text(manifest.text, "utf-8")
    first, *others = read_manifest(study / "sources.yaml").sources
    assert first.name == "2024-físicA: 1"
    assert Path(first.paper).resolve() == papers / "2024/físicA: 1.pdf"
    assert Path(first.key or "").resolve() == papers / "2024/físicA: 1_key.pdf"
    assert [source.name for source in others] == ["2025-a", "2025-a-2"]
    assert manifest.papers == "../my papers"


def test_a_folder_without_papers_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(MissingInputError, match=r"--papers .*: contains no paper: no file"):
        find_papers(tmp_path)
    with pytest.raises(MissingInputError, match="the folder does not exist"):
        find_papers(tmp_path / "none")
