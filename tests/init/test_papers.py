"""Papers are paired with their keys and solutions by the names of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.stages.ocr.sources.manifest import read_manifest
from omibench.study.init.contents import (
    Exam,
    describe_pairs,
    find_papers,
    find_subject,
    manifest_text,
    pair_papers,
)


def files(*names: str) -> list[Path]:
    return [Path(name) for name in names]


def test_a_key_and_solutions_go_with_the_paper_that_their_names_begin_with() -> None:
    exams = pair_papers(files("a.pdf", "a-solutions.pdf", "a_key.pdf", "b.png", "b answers.csv"))
    assert exams == [
        Exam(Path("a.pdf"), Path("a_key.pdf"), Path("a-solutions.pdf")),
        Exam(Path("b.png"), Path("b answers.csv")),
    ]


@pytest.mark.parametrize(
    "name", ["a_Answer_Key", "a-answers", "a.key", "a KEYS", "a-answer-key", "a_ans"]
)
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


@pytest.mark.parametrize("name", ["a-S", "a-sol", "a_sols", "a solution"])
def test_the_words_for_solutions(name: str) -> None:
    exams = pair_papers(files("a.pdf", f"{name}.pdf"))
    assert exams == [Exam(Path("a.pdf"), None, Path(f"{name}.pdf"))]


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("astro2020.pdf", "astronomy"), ("Astronomy/theory_1.pdf", "astronomy"),
        ("2024/phys_22.pdf", "physics"), ("maths-a.pdf", "mathematics"), ("paper.pdf", None),
        ("astrophysics.pdf", "astronomy"), ("physics_chemistry.pdf", None),
    ],
)  # fmt: skip
def test_a_subject_is_that_of_the_name(name: str, subject: str | None) -> None:
    assert find_subject(name) == subject


def test_the_pairs_are_listed_and_the_subject_is_in_the_manifest(tmp_path: Path) -> None:
    for name in ("astro.pdf", "astro_ans.pdf", "astro-S.pdf", "b.pdf"):
        (tmp_path / name).write_bytes(b"")
    found = find_papers(tmp_path)
    assert describe_pairs(found, tmp_path) == [
        "astro.pdf: key astro_ans.pdf, solutions astro-S.pdf, subject astronomy",
        "b.pdf: key none, solutions none, subject not in the name",
    ]
    (tmp_path / "sources.yaml").write_text(manifest_text(found, tmp_path, tmp_path).text)
    sources = read_manifest(tmp_path / "sources.yaml").sources
    assert [source.subject for source in sources] == ["astronomy", None]


def test_all_mistakes_of_a_manifest_are_listed_at_once(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text(
        "sources:\n- {name: a, paper: a.pdf, subject: astrology}\n"
        "- {name: b, paper: b.pdf, subjct: y, year: [2]}\n"
    )
    with pytest.raises(FileFormatError) as found:
        read_manifest(tmp_path / "sources.yaml")
    first, second, third = found.value.lines
    assert "line 2: sources.0.subject: Input should be 'astronomy', " in first
    assert {"sources.1.year" in second, "sources.1.year" in third} == {True, False}
    assert "did you mean 'subject'?" in second + third
