"""What is printed in a paper is text, whatever it looks like; one bad problem is one problem."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import IMAGE_MARK, Choice, Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure import assemble
from omibench.stages.ocr.structure.answers import with_answers
from omibench.stages.ocr.structure.assemble import Crops, to_problems
from omibench.stages.ocr.structure.choices import Option
from omibench.stages.ocr.structure.drafts import Draft
from omibench.stages.ocr.structure.keys import Key

NO_CROPS = Crops({}, {})
SOURCE = Source(name="x", paper="x.pdf")


def test_a_printed_image_mark_is_text(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    lines = [
        "1. What does the tag [IMAGE7] stand for in this text?",
        "(A) [IMAGE0]",
        "(B) nothing",
        "(C) all of it",
    ]
    for k, text in enumerate(lines):
        page.insert_text((72, 100 + 16 * k), text)
    page.draw_circle((200, 250), 50)
    page.insert_text((160, 320), "Figure 1: The tag [IMAGE3].", fontsize=9)
    page.insert_text((72, 400), "2. And what does it show to the people who read this?")
    pdf.save(tmp_path / "tags.pdf")
    report = read_papers([tmp_path / "tags.pdf"], tmp_path, OcrParams(dpi=72))
    assert (report.files[0].status, report.files[0].codes) == ("ok", [])
    first, second = read_jsonl(tmp_path / "problems.jsonl", Problem)
    assert first.question.startswith("What does the tag [IMAGE 7] stand for in this text?")
    assert IMAGE_MARK.findall(first.question) == ["0"]
    assert "The tag [IMAGE 3]." in first.question
    assert next(choice.text for choice in first.choices or []) == "[IMAGE 0]"
    assert second.images == []


def test_a_problem_that_breaks_a_rule_is_left_out_and_the_others_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = assemble._choice

    def broken(option: Option, *rest: object) -> Choice:
        return Choice(label=option.letter) if option.letter == "H" else real(option, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(assemble, "_choice", broken)
    drafts = [Draft("1", [1], [], [], None, None), Draft("2", [1], [], [Option("H")], None, None)]
    problems, codes = to_problems(drafts, SOURCE, "00", NO_CROPS, frozenset())
    assert ([p.number for p in problems], codes) == (["1"], ["problem_dropped"])
    assert to_problems(drafts[:1], SOURCE, "00", NO_CROPS, frozenset())[1] == []


def key(**answers: str) -> Key:
    made = Key()
    for letters in answers.values():
        for letter in letters.split("/"):
            made.add("1", letter)
    return made


@pytest.mark.parametrize(
    ("keys", "answer", "warnings"),
    [
        ((key(), key(), key()), None, []),
        ((key(a="B"), key(), key()), ["B"], []),
        ((key(), key(), key(a="C")), ["C"], []),
        ((key(a="B"), key(b="B"), key(c="B")), ["B"], []),
        ((key(a="B"), key(b="B"), key(c="D")), ["B"], ["answer_conflict"]),
        ((key(), key(b="A"), key(c="D")), ["A"], ["answer_conflict"]),
        ((key(a="void"), key(b="A"), key()), None, ["answer_cancelled"]),
        ((key(a="B/C"), key(b="C"), key()), None, ["answer_doubtful"]),
    ],
)
def test_the_most_trusted_answer_is_kept_and_none_is_guessed(
    keys: tuple[Key, Key, Key], answer: list[str] | None, warnings: list[str]
) -> None:
    problem = Problem(
        id="x-1", question="Why?", source="x", source_sha256="0", number="1", pages=[1]
    )
    answered = with_answers(problem, keys, None)
    assert answered.answer == answer
    assert [warning.code for warning in answered.warnings] == warnings


def test_a_letter_with_words_is_a_letter_and_what_names_no_choice_is_told() -> None:
    problem = Problem(
        id="x-1", question="Which?", source="x", source_sha256="0", number="1", pages=[1],
        choices=[Choice(label=label, text=f"about {label}") for label in "ABCD"],
    )  # fmt: skip
    explained = with_answers(problem, (key(a="C. Because it has three."), key(), key()), None)
    assert (explained.answer, explained.solution) == (["C"], "Because it has three.")
    assert with_answers(problem, (key(a="C. Because."), key()), "Worked.").solution == "Worked."
    unread = with_answers(problem, (key(a="E"), key(a="B")), None)
    assert (unread.answer, list(map(str, unread.warnings))) == (
        None,
        ["answer_unread: E is not a choice"],
    )
    torn = Key(unread={"1": "1-c?"})
    told = with_answers(problem, (torn, key(a="B")), None)
    assert (told.answer, list(map(str, told.warnings))) == (
        None,
        ["answer_unread: 1-c? is no answer"],
    )
