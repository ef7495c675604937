"""MathReal: photographs or clean pictures, Chinese or English, grades as attributes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError

ROW: dict[str, Any] = {
    "idx": 7, "ImgReal": "real/7.jpg", "ImgClean": None, "QuestionCN": "多少?",
    "QuestionEN": "How?", "AnswerCN": "三", "AnswerEN": "3", "Category": "Plane Geometry",
    "EducationalStage": "Middle", "QuestionType": "FillInTheBlank", "Difficulty": "Hard",
    "ImageQualityDegradation": {"blur": 2}, "ImagePerspectiveVariation": {"rotation": "Upright"},
}  # fmt: skip


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "testmini.json").write_text(json.dumps(rows), "utf-8")
    return folder


@pytest.mark.parametrize(("language", "text", "gold"), [("zh", "多少?", "三"), ("en", "How?", "3")])
def test_a_language_is_chosen(
    tmp_path: Path, read: Read, language: str, text: str, gold: str
) -> None:
    (question,), (answer,), _ = read("mathreal", write(tmp_path, ROW), language=language)
    assert (question.id, question.question) == ("mathreal-0007", f"[IMAGE0]\n{text}")
    assert (question.language, answer.answer) == (language, [gold])
    assert answer.attributes == {
        "category": "Plane Geometry", "difficulty": "Hard", "stage": "Middle",
        "type": "FillInTheBlank", "blur": "2", "rotation": "Upright", "noise": ["blur"],
        "noise groups": ["image quality degradation"],
    }  # fmt: skip


def test_clean_pictures_are_those_that_there_are(tmp_path: Path, read: Read) -> None:
    both = {**ROW, "idx": 8, "ImgClean": "clean/8.png"}
    _, answers, _ = read("mathreal", write(tmp_path, ROW, both))
    assert [a.attributes.get("pair") for a in answers] == [None, "real"]
    questions, answers, _ = read("mathreal", write(tmp_path, ROW, both), pictures="clean")
    assert [a.attributes["pair"] for a in answers] == ["clean"]
    assert [(q.id, q.images[0].file) for q in questions] == [("mathreal-0008", "clean/8.png")]
    with pytest.raises(FileFormatError, match="no record has a clean picture"):
        read("mathreal", write(tmp_path, ROW), pictures="clean")


def test_both_pictures_of_a_problem_are_two_items_of_one_group(tmp_path: Path, read: Read) -> None:
    both = {**ROW, "idx": 8, "ImgClean": "clean/8.png"}
    questions, answers, _ = read("mathreal", write(tmp_path, ROW, both), pictures="both")
    assert [(q.id, q.group, q.images[0].file) for q in questions] == [
        ("mathreal-0008", "mathreal-0008", both["ImgReal"]),
        ("mathreal-0008-clean", "mathreal-0008", "clean/8.png"),
    ]
    assert [(a.id, a.group, a.attributes["pair"]) for a in answers] == [
        ("mathreal-0008", "mathreal-0008", "real"),
        ("mathreal-0008-clean", "mathreal-0008", "clean"),
    ]
    assert questions[0].question == questions[1].question
    with pytest.raises(FileFormatError, match="no record has a clean picture"):
        read("mathreal", write(tmp_path, ROW), pictures="both")


def test_the_official_testmini_loads_whole(shared_data: Path, read: Read) -> None:
    questions, answers, folder = read("mathreal", shared_data / "mathreal")
    assert len(questions) == 480
    assert sum(answer.attributes.get("pair") == "real" for answer in answers) == 175
    there = [q.images[0] for q in questions if q.images[0].sha256]
    assert len(there) == 120
    assert all((folder / figure.file).is_file() for figure in there)
    assert len(read("mathreal", shared_data / "mathreal", pictures="clean").questions) == 175
    assert len(read("mathreal", shared_data / "mathreal", pictures="both").questions) == 350


def test_a_clone_of_the_repository_is_read_as_it_is(tmp_path: Path, read: Read) -> None:
    (tmp_path / "json").mkdir()
    row = ROW | {"ImgReal": "real/7.png", "ImgClean": "clean/7.png"}
    (tmp_path / "json/testmini.json").write_text(json.dumps([row]), "utf-8")
    for side, shade in (("clean", 10), ("real", 200)):
        (tmp_path / "img" / side).mkdir(parents=True)
        Image.new("L", (4, 4), shade).save(tmp_path / "img" / side / "7.png")
    for side in ("real", "clean"):
        (question,), _, _ = read("mathreal", tmp_path, pictures=side)
        assert question.images[0].file == f"img/{side}/7.png", "files of one name are told apart"


def test_a_link_to_pictures_elsewhere_is_named(
    tmp_path: Path, read: Read, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "real").mkdir(parents=True)
    Image.new("L", (4, 4), 9).save(elsewhere / "real/7.jpg")
    folder = tmp_path / "clone"
    folder.mkdir()
    write(folder, ROW)
    (folder / "img").symlink_to(elsewhere)
    (question,), _, _ = read("mathreal", folder)
    assert not question.images[0].sha256, "a downloaded link reads no file of this machine"
    assert f"{folder / 'img'}: is a link to the folder {elsewhere}, which is not" in caplog.text
