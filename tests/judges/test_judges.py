"""How each judge's reply is read, and what it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.judges.conftest import CASE, user_text

from omibench.answers.judges import alignment, extraction, grade, quality
from omibench.answers.judges.alignment import ALIGNMENT
from omibench.answers.judges.error_type import error_type
from omibench.answers.judges.extraction import NO_ANSWER
from omibench.answers.judges.grade import GRADE
from omibench.answers.judges.instrument import build_request
from omibench.answers.judges.quality import QUALITY, Quality
from omibench.answers.judges.taxonomies import NO_ERROR, TAXONOMIES, load_taxonomy
from omibench.errors import OmibenchError, ParamsError


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("SCORE: 1/1", 1.0),
        ("Two of three.\nSCORE: 2/3", 0.67),
        ("**SCORE: 0/4**", 0.0),
        ("SCORE: 0.5", 0.5),
        ("SCORE: 1", 1.0),
        ("SCORE: 3/2", None),
        ("SCORE: 299/300", 0.99),
        ("SCORE: 0.9999", 0.99),
        ("SCORE: 1/0", None),
        ("SCORE: 1.5", None),
        ("SCORE: 80 %", None),
        ("SCORE: nan", None),
        ("SCORE: -1/2", None),
        ("SCORE: 1/2 or 2/2", None),
        ("1/2", None),
    ],
)
def test_grades_are_shares(reply: str, value: float | None) -> None:
    assert grade.read(reply, CASE) == value


def test_a_grader_sees_the_answer_and_not_the_response() -> None:
    text = user_text(build_request(CASE._replace(answer="12 cm; 3"), GRADE))
    assert "12 cm; 3" in text
    assert "Adding up" not in text


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("EXTRACTED: 12 cm", "12 cm"),
        ("It ends so.\nEXTRACTED: $12$ \\text{cm}", "$12$ \\text{cm"),
        ("EXTRACTED: 12 cm; adding up", "12 cm; adding up"),
        ("EXTRACTED: null", NO_ANSWER),
        ("EXTRACTED: Null.", NO_ANSWER),
        ("EXTRACTED: \\frac{24}{2} cm", "\\frac{24}{2} cm"),
        ("EXTRACTED:", None),
        ("EXTRACTED: ;", None),
        ("12 cm", None),
        ("EXTRACTED: 12 cm\nI hope that helps.", None),
    ],
)
def test_an_extracted_answer_is_the_last_line(reply: str, value: str | None) -> None:
    told = extraction.read(reply, CASE)
    assert told == value or (value is not None and told is not None and told.startswith(value))


def marks(**changed: object) -> str:
    import json

    return json.dumps({**dict.fromkeys(quality.KEYS, 4), **changed})


def test_marks_of_a_rationale_are_six_whole_numbers() -> None:
    assert quality.read(marks(overall=5), CASE) == Quality(4, 4, 4, 4, 4, 5)


@pytest.mark.parametrize(
    "reply",
    [marks(overall=6), marks(overall=4.5), marks(clarity="4"), marks(detail=True), marks(extra=1),
     '{"overall": 4}', "4 4 4 4 4 4", f"{marks()} Good work."],
)  # fmt: skip
def test_other_marks_are_none(reply: str) -> None:
    assert quality.read(reply, CASE) is None


def test_quality_is_judged_without_the_gold() -> None:
    """A rationale is marked, not its answer: neither gold nor reference is shown."""
    text = user_text(build_request(CASE._replace(gold=["GOLD"], reference="WORKED"), QUALITY))
    assert "GOLD" not in text
    assert "WORKED" not in text


def test_several_raters_give_medians() -> None:
    votes = [Quality(1, 2, 3, 4, 5, 3), Quality(3, 2, 3, 4, 5, 3), Quality(5, 5, 3, 1, 5, 4)]
    assert quality.vote(votes) == Quality(3, 2, 3, 4, 5, 3)
    assert quality.vote(votes[:2]) == Quality(2, 2, 3, 4, 5, 3)
    assert quality.vote([]) is None


@pytest.mark.parametrize(
    ("reply", "mark"),
    [
        ('{"score": 4}', 4.0),
        ('Both integrate.\n```json\n{"justification": "as the reference", "score": 2}\n```', 2.0),
        ('{"score": 0}', None),
        ('{"score": 4, "confidence": 1}', None),
        ("score: 4", None),
    ],
)
def test_alignment_is_one_mark(reply: str, mark: float | None) -> None:
    assert alignment.read(reply, CASE) == mark


def test_alignment_shows_the_reference() -> None:
    assert "WORKED" in user_text(build_request(CASE._replace(reference="WORKED"), ALIGNMENT))


@pytest.mark.parametrize("name", TAXONOMIES)
def test_an_error_has_one_type_of_its_taxonomy(name: str) -> None:
    instrument = error_type(TAXONOMIES[name])
    types = [*TAXONOMIES[name].types, NO_ERROR]
    assert [instrument.read(f"Why.\nERROR TYPE: {t}", CASE) for t in types] == types
    text = user_text(build_request(CASE, instrument))
    assert all(f"\n- {t}: " in text for t in types)
    for reply in ("ERROR TYPE: unknown", f"ERROR TYPE: {types[0]} or {types[1]}", types[0], ""):
        assert instrument.read(reply, CASE) is None


def test_published_types_are_the_papers() -> None:
    assert [len(t.types) for t in TAXONOMIES.values()] == [5, 4, 6]
    assert TAXONOMIES["mathreal"].outcomes["refused"] == "reject"


def test_a_taxonomy_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "types.yaml"
    path.write_text("types:\n  sign: a sign is lost\n  unit: a unit is wrong\n")
    assert list(load_taxonomy(str(path)).types) == ["sign", "unit"]
    assert error_type(load_taxonomy(str(path))).read("ERROR TYPE: unit", CASE) == "unit"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("types: {sign: lost}", "types"),
        ("types: {Sign: a, unit: b}", "Sign"),
        ("types: {no_error: a, unit: b}", "no_error"),
        ("types: {a: a, b: b}\noutcomes: {refused: c}", "'c'"),
        ("types: {a: a, b: b}\noutcomes: {refsed: a}", "outcomes"),
        ("types: [", r"types\.yaml, line 1: is not valid YAML"),
        ("3", "is 3, but must be a block of keys"),
    ],
)
def test_a_wrong_taxonomy_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "types.yaml"
    path.write_text(text)
    with pytest.raises(OmibenchError, match=said) as raised:
        load_taxonomy(str(path))
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_unknown_taxonomy_gets_the_nearest() -> None:
    with pytest.raises(ParamsError, match="did you mean 'mathreal'"):
        load_taxonomy("mathreel")


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        ("12 cm", True),
        ("$12$ \\text{cm}", True),
        ("12 cm; adding up", True),
        ("24/2 cm", False),
        ("12 cm; 13 cm", False),
    ],
)
def test_a_reformatted_answer_is_told_from_a_copy(answer: str, same: bool) -> None:
    """MathReal's protocol asks for the answer alone, not for its spelling (appendix D)."""
    assert extraction.read(f"EXTRACTED: {answer}", CASE) == answer
    assert extraction.is_verbatim(answer, CASE.response) is same
