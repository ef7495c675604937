"""A paper cut into drafts: sections, stems within them, problems that were taken out."""

from __future__ import annotations

from tests.stages.ocr.printed import Press

from omibench.stages.ocr.structure.drafts import read_paper


def sections() -> Press:
    press = Press()
    for title, letter in (("Section A", "A"), ("Section B", "B")):
        press.set((72, title), bold=True, size=12)
        press.set((72, "Each problem of this section is worth four points."))
        press.set((72, f"1. What is the mass of the star {letter}1?"))
        press.set((72, "The following information is relevant to problems 2 and 3."))
        press.set((72, f"A planet {letter} moves around a star."))
        press.set((72, f"2. What is the mass of the star {letter}2?"))
        press.set((72, f"3. What is the mass of the star {letter}3?"))
        press.skip()
    return press


def test_stems_and_introductions_belong_to_their_own_section() -> None:
    drafts = read_paper(sections().document()).drafts
    assert [draft.number for draft in drafts] == ["A1", "A2", "A3", "B1", "B2", "B3"]
    assert [draft.group for draft in drafts] == ["A1", "A2-3", "A2-3", "B1", "B2-3", "B2-3"]
    for draft in drafts:
        text = " ".join(getattr(item, "text", "") for item in draft.statement)
        assert text.count(f"star {draft.number}?") == text.count("?") == 1
        assert "four points" not in text
        if draft.stem:
            assert f"planet {draft.section} moves" in text
        assert draft.warnings == []


def test_a_problem_that_was_taken_out_has_no_answer() -> None:
    press = Press()
    press.set((72, "1. What is the mass of the star?"))
    press.set((72, "2. [This problem is removed from the test.]"))
    press.set((72, "3. What is the mass of the planet?"))
    assert read_paper(press.document()).block_key.cancelled == {"2"}


def test_what_follows_the_end_of_the_paper_is_no_part_of_the_last_problem() -> None:
    press = Press()
    press.set((72, "1. What is the mass of the star?"))
    press.set((72, "2. What is the mass of the planet?"))
    press.set((200, "END OF PAPER"))
    press.set((72, "Periodic table of the elements"))
    last = read_paper(press.document()).drafts[-1]
    assert [getattr(item, "text", "") for item in last.items] == ["What is the mass of the planet?"]
