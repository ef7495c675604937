"""Existing benchmarks beside papers: their rows and pictures reach the filter as problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from tests.stages.ocr.conftest import exam

from omibench.params.stages.ocr import OcrParams
from omibench.params.study import parse_study
from omibench.schemas.problem import Answer, Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.stage import filter_problems
from omibench.stages.freeze import freeze_dataset
from omibench.stages.ocr import read_papers

HEAD = "id,question,answer,images,choices,subject,language,group,solution,licence"


def picture(path: Path, shade: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (64, 64), (shade, 255 - shade, 40))
    image.paste((255, 255, 255), (shade // 8, 8, shade // 8 + 20, 40))
    image.save(path)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Two rows with pictures, one whose picture is missing, and a paper beside them."""
    folder = tmp_path / "mine"
    for k in range(3):
        picture(folder / f"img/{k}.png", 60 * k)
    asked = "In which of the two figures [IMAGE0] and [IMAGE1] does the ball move faster?"
    rows = [
        HEAD,
        f"a 1,{asked},B,img/0.png | img/1.png,first | second,physics,,g1,Count.,CC0",
        f"b,{asked} Give v.,3 m/s,img/1.png | img/2.png,,,fr,g1,,",
        "c,What does the figure show?,x,img/9.png,,,,,,",
    ]
    (folder / "problems.csv").write_text("\n".join(rows), "utf-8")
    exam().save(tmp_path / "paper.pdf")
    path = tmp_path / "sources.yaml"
    path.write_text(
        """sources:
- {name: paper, paper: paper.pdf}
benchmarks:
- {name: Old Set, folder: mine, competition: Cup, year: 2020, subject: physics, licence: MIT}
""",
        "utf-8",
    )
    return path


def test_rows_become_problems_beside_those_of_papers(tmp_path: Path, manifest: Path) -> None:
    out = tmp_path / "ocr"
    report = read_papers([], out, OcrParams(dpi=72), manifest=manifest)
    assert [(f.source, f.codes) for f in report.files] == [
        ("paper", []), ("Old Set", ["picture_missing"]),
    ]  # fmt: skip
    problems = {p.id: p for p in read_jsonl(out / "problems.jsonl", Problem)}
    assert list(problems) == ["paper-1", "paper-2", "Old_Set-a_1", "Old_Set-b"]
    first, second = problems["Old_Set-a_1"], problems["Old_Set-b"]
    assert (first.answer, first.solution, first.number) == (["B"], "Count.", "a 1")
    assert [choice.text for choice in first.choices or []] == ["first", "second"]
    assert (first.licence, second.licence) == ("CC0", "MIT")
    assert (first.subject, second.subject) == ("physics", "physics")
    assert (first.language, second.language) == ("en", "fr")
    assert first.group == second.group == "Old_Set-g1"
    assert (first.competition, first.year, first.pages) == ("Cup", 2020, [])
    assert all((out / figure.file).is_file() for p in problems.values() for figure in p.images)


def test_attributes_of_a_paper_reach_the_frozen_answers(tmp_path: Path) -> None:
    exam().save(tmp_path / "paper.pdf")
    (tmp_path / "key.txt").write_text("1. A\n2. A\n", "utf-8")
    text = """sources:
- {name: p, paper: paper.pdf, key: key.txt, year: 2024, attributes: {exam: local, skills: [a, b]}}
"""
    (tmp_path / "sources.yaml").write_text(text, "utf-8")
    read_papers([], tmp_path / "ocr", OcrParams(dpi=72), manifest=tmp_path / "sources.yaml")
    freeze_dataset(tmp_path / "ocr/problems.jsonl", tmp_path / "freeze", parse_study({}, "p.yaml"))
    answers = read_jsonl(tmp_path / "freeze/answers.jsonl", Answer)
    assert [answer.attributes for answer in answers] == [
        {"year": "2024", "exam": "local", "skills": ["a", "b"]}
    ] * 2


def test_rows_can_be_filtered_like_what_was_read(tmp_path: Path, manifest: Path) -> None:
    read_papers([], tmp_path / "ocr", OcrParams(dpi=72), manifest=manifest)
    study = parse_study({"study": {"name": "s", "results": str(tmp_path / "r")}}, "params.yaml")
    out = tmp_path / "filter"
    out.mkdir()
    filter_problems(tmp_path / "ocr/problems.jsonl", out, study)
    kept = [p.id for p in read_jsonl(out / "problems.jsonl", Problem)]
    assert "Old_Set-a_1" in kept


def test_a_table_with_a_mistake_fails_alone_and_names_the_row(
    tmp_path: Path, manifest: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine/problems.csv").write_text(f"{HEAD}\nx7,,B,,,,,,,", "utf-8")
    report = read_papers([], tmp_path / "ocr", OcrParams(dpi=72), manifest=manifest)
    assert [(f.source, f.status) for f in report.files] == [("paper", "ok"), ("Old Set", "error")]
    assert "x7" in caplog.text


def test_a_published_format_is_read_by_its_adapter(tmp_path: Path) -> None:
    folder = tmp_path / "omi"
    picture(folder / "images/p.png", 30)
    row = {
        "id": "phys-1", "subject": "physics", "answer_type": "open", "question": "See [IMAGE0].",
        "image_list": ["p.png"], "choice_list": [], "answer": ["3"], "solution": "Three.",
    }  # fmt: skip
    (folder / "test.jsonl").write_text(json.dumps(row), "utf-8")
    manifest = tmp_path / "sources.yaml"
    manifest.write_text("benchmarks:\n- {name: omi, folder: omi, format: omibench}", "utf-8")
    report = read_papers([], tmp_path / "ocr", OcrParams(), manifest=manifest)
    assert [(f.source, f.status, f.codes) for f in report.files] == [("omi", "ok", [])]
    (problem,) = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert (problem.id, problem.answer, len(problem.images)) == ("omi-phys-1", ["3"], 1)


def test_topics_and_attributes_reach_the_frozen_answers(tmp_path: Path) -> None:
    folder = tmp_path / "mv"
    for name in ("a", "b"):
        picture(folder / f"images/{name}.png", 40 if name == "a" else 200)
    row = {
        "problem_id": 5, "question": "How much higher is the bar of <image_1> than <image_2>?",
        "input_image": ["a.png", "b.png"], "answer": "(1) 3 (2) 4", "answer_type": "multi-step",
        "difficulty": "High", "grade": "Junior", "subject": "Statistics", "analysis": "Read off.",
    }  # fmt: skip
    (folder / "MV-MATH.json").write_text(json.dumps([row]), "utf-8")
    manifest = tmp_path / "sources.yaml"
    manifest.write_text(
        "benchmarks:\n- {name: mv, folder: mv, format: mv-math, year: 2025, "
        "attributes: {exam: final, grade: unknown}}",
        "utf-8",
    )
    read_papers([], tmp_path / "ocr", OcrParams(), manifest=manifest)
    study = parse_study({}, "params.yaml")
    filter_problems(tmp_path / "ocr/problems.jsonl", tmp_path / "filter", study)
    freeze_dataset(tmp_path / "filter/problems.jsonl", tmp_path / "freeze", study)
    (answer,) = read_jsonl(tmp_path / "freeze/answers.jsonl", Answer)
    assert (answer.id, answer.answer, answer.topic) == ("mv-mv-math-5", ["3", "4"], "Statistics")
    assert answer.attributes == {
        "type": "multi-step", "difficulty": "High", "grade": "Junior", "category": "Statistics",
        "exam": "final", "year": "2025",
    }, "what a row tells of itself goes before what its manifest says of all"  # fmt: skip
    (problem,) = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert problem.question.startswith("How much higher is the bar of [IMAGE0] than [IMAGE1]?")
