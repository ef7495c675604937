"""From lines of a paper to problems: numbers, stems, titles, references, drafts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stages.ocr.printed import Press

from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem, Subject
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.codes import CODES
from omibench.stages.ocr.jobs import OcrJob
from omibench.stages.ocr.layout.figures import CAPTION
from omibench.stages.ocr.layout.layout import Box, Item, Line
from omibench.stages.ocr.pipeline import read_source
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure.drafts import parse_range, read_paper, split_stem, stem_numbers
from omibench.stages.ocr.structure.numbering import (
    UNKNOWN,
    detect_language,
    figure_numbers,
    is_end,
    is_heading,
    leading_tag,
    opens_section,
    read_number,
    section_name,
    split_answers,
    subject_word,
    without_titles,
)
from omibench.stages.ocr.structure.segment import best_chain, find_candidates, mend_chain

# The chain of problem numbers, and sections of answers.


def paper(*rows: tuple[str, float, bool]) -> list[Item]:
    """Lines of (text, indent, bold) below each other."""
    return [
        Line(1, Box(60 + x, 12.0 * k, 400, 12.0 * k + 10), text, 10, bold, 12.0 * k + 8, indent=x)
        for k, (text, x, bold) in enumerate(rows)
    ]


def chained(flow: list[Item]) -> list[tuple[int, int]]:
    return [(c.index, c.number.value) for c in best_chain(find_candidates(flow))]


def test_a_list_inside_a_problem_does_not_continue_the_numbering() -> None:
    flow = paper(
        ("1. First", 0, True),
        ("2. Second, with statements", 0, True),
        ("1. one", 20, False),
        ("2. two", 20, False),
        ("3. three", 20, False),
        ("4. four", 20, False),
        ("3. Third", 0, True),
        ("4. Fourth", 0, True),
    )
    assert chained(flow) == [(0, 1), (1, 2), (6, 3), (7, 4)]


def test_instructions_with_numbers_do_not_replace_the_first_problems() -> None:
    texts = ["1. Use a pen.", "2. Do not talk.", "1. A ball", "2. A disc", "3. A rod", "4. A ring"]
    assert chained(paper(*((text, 0, False) for text in texts))) == [(2, 1), (3, 2), (4, 3), (5, 4)]


def test_a_named_style_wins_over_longer_lists() -> None:
    flow = paper(
        ("Problem 1. Facts", 0, False),
        *((f"{k}. fact", 0, False) for k in range(1, 4)),
        ("Problem 2. Laws", 0, False),
    )
    assert chained(flow) == [(0, 1), (4, 2)]


def test_a_paper_without_numbers_has_no_problems() -> None:
    assert chained(paper(("Nothing here", 0, False), ("3. only one", 0, False))) == []


def test_an_answer_section_is_cut_off_but_the_word_answers_is_not() -> None:
    flow = paper(
        ("1. A question about answers", 0, False),
        ("Answers", 0, False),
        ("2. Another", 0, False),
        ("Answer key", 0, True),
        ("1. B", 0, False),
    )
    front, back = split_answers(flow, 10)
    assert (len(front), len(back)) == (3, 1)
    assert split_answers(paper(("Answer key", 0, True), ("1. B", 0, False)), 10)[1] == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["1. a", "2. b", "3. c", "4. d", "Problem 1", "Problem 2", "x", "7) y"]
            ),
            st.sampled_from([0.0, 20.0]),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_a_chain_rises_in_one_style_and_in_reading_order(
    rows: list[tuple[str, float, bool]],
) -> None:
    chain = best_chain(find_candidates(paper(*rows)))
    assert [c.index for c in chain] == sorted({c.index for c in chain})
    values = [c.number.value for c in chain]
    assert all(0 < b - a <= 4 for a, b in pairwise(values))
    assert len({c.number.style for c in chain}) <= 1


@given(st.integers(2, 60))
def test_a_plain_numbering_is_found_whole(count: int) -> None:
    rows: list[tuple[str, float, bool]] = []
    for k in range(1, count + 1):
        rows += [(f"{k}. Question", 0.0 if k < 10 else -5.0, False), ("body text", 14.0, False)]
    assert [value for _, value in chained(paper(*rows))] == list(range(1, count + 1))


def test_candidates_stand_at_the_left_of_their_row(line: Callable[..., Line]) -> None:
    assert find_candidates([line("2. B", x=300, starts=False)]) == []
    assert find_candidates([line("2. B", upright=False)]) == []


# The best chain of numbers: lists inside problems, instructions above them, misread numbers.


def flow(*rows: tuple[str, float], engine: str = "textlayer") -> list[Item]:
    """Lines of (text, indent) below each other, as an engine read them."""
    return [
        Line(1, Box(60 + x, 12.0 * k, 400, 12.0 * k + 10), text, 10, baseline=12.0 * k + 8,
             indent=x, engine=engine)
        for k, (text, x) in enumerate(rows)
    ]  # fmt: skip


def values(items: list[Item]) -> list[int]:
    return [c.number.value for c in best_chain(find_candidates(items))]


def test_parts_of_one_problem_are_one_problem() -> None:
    items = flow(("B1 a) x", 0), ("B1 b) y", 0), ("B2 a) z", 0), ("B2 b) w", 0))
    assert [(c.index, c.number.value) for c in find_candidates(items)] == [(0, 1), (2, 2)]


def test_a_list_that_fills_the_last_problem_is_not_the_paper() -> None:
    items = flow(
        ("1. A", 0), ("2. B", 0), ("3. C", 0), ("1. one", 30), ("2. two", 30), ("3. three", 30)
    )
    assert [c.index for c in best_chain(find_candidates(items))] == [0, 1, 2]


def test_a_longer_paper_below_its_outdented_instructions_is_the_paper() -> None:
    rules = [(f"{k}. rule", 0.0) for k in (1, 2)]
    items = flow(*rules, *((f"{k}. problem", 30.0) for k in range(1, 6)))
    assert [c.index for c in best_chain(find_candidates(items))] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("misread", ["l. B", "I. B", "21. B", "1, B", "1 、B"])
def test_a_first_number_that_an_engine_misread_is_mended(misread: str) -> None:
    items = flow((misread, 0), ("text", 15), ("2. C", 0), ("3. D", 0), engine="rapidocr")
    chain = best_chain(find_candidates(items))
    assert [(c.index, c.number.value) for c in mend_chain(items, chain)][:2] == [(0, 1), (2, 2)]


@pytest.mark.parametrize("misread", ["S. B", "5, B", "5A ball", "s) B"])
def test_a_number_between_others_that_an_engine_misread_is_mended(misread: str) -> None:
    items = flow(
        *((f"{k}. A", 0.0) for k in range(1, 5)), (misread, 0), ("6. C", 0), engine="rapidocr"
    )
    chain = mend_chain(items, best_chain(find_candidates(items)))
    assert [c.number.value for c in chain] == [1, 2, 3, 4, 5, 6]


def test_nothing_is_mended_in_a_text_layer_nor_where_two_lines_may_be_meant() -> None:
    rows = [("1. A", 0.0), ("2, b", 0.0), ("3. C", 0.0)]
    printed = flow(*rows)
    assert len(mend_chain(printed, best_chain(find_candidates(printed)))) == 2
    read = flow(rows[0], rows[1], rows[1], rows[2], engine="rapidocr")
    assert len(mend_chain(read, best_chain(find_candidates(read)))) == 2
    inset = [replace(i, indent=40.0) if k == 1 else i for k, i in enumerate(flow(*rows, engine="x"))
             if isinstance(i, Line)]  # fmt: skip
    assert len(mend_chain(inset, best_chain(find_candidates(inset)))) == 2
    assert mend_chain([], []) == []


def test_values_skip_what_is_missing() -> None:
    assert values(flow(("1. A", 0), ("2. B", 0), ("5. C", 0), ("6. D", 0))) == [1, 2, 5, 6]


def test_of_two_numberings_that_take_turns_the_one_that_begins_is_the_paper() -> None:
    items = flow(*((row, 0.0) for k in (1, 2, 3) for row in (f"{k}) Let a substance", f"X{k} be")))
    assert [c.index for c in best_chain(find_candidates(items))] == [0, 2, 4]


# Stems that several problems share.


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Information for problems 3 and 4", (3, 4)),
        ("Problems 3-5 refer to the circuit below.", (3, 4, 5)),
        ("Questions 3–5", (3, 4, 5)),
        ("The following information is relevant to problems 3, 4, and 5.", (3, 4, 5)),
        ("The following information applies for the next two problems. A wheel", (3, 4)),
        ("Use the following data to answer questions 3 to 6:", (3, 4, 5, 6)),
        ("Información para los problemas 3 y 4", (3, 4)),
        ("Texto para as questões 3 a 5", (3, 4, 5)),
        ("Angaben zu den Aufgaben 3 und 4", (3, 4)),
        ("根据以下材料，回答第3至5题", (3, 4, 5)),
    ],
)
def test_a_stem_names_its_problems(text: str, numbers: tuple[int, ...]) -> None:
    assert stem_numbers(text, "", 3)[0] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "Compare your results for problems 1 and 2.",
        "The data of problems 4 and 5 come later.",
        "Neglect friction throughout the next two problems.",
        "Problem 3. A ball",
        "Figure 3 and Figure 4 show a ball.",
    ],
)
def test_what_is_no_stem_for_the_third_problem(text: str) -> None:
    assert stem_numbers(text, "", 3)[0] == ()


def test_a_heading_is_dropped_and_a_sentence_kept(column: Callable[..., list[Line]]) -> None:
    before, stem = split_stem(column("2. B", "Information for problems 3 and 4", "A rod."), 3)
    assert [i.text for i in before if isinstance(i, Line)] == ["2. B"]
    assert stem is not None
    assert (stem.name, [i.text for i in stem.items if isinstance(i, Line)]) == ("3-4", ["A rod."])
    _, stem = split_stem(column("2. B", "Problems 3-5 refer to a rod."), 3)
    assert stem is not None
    assert [i.text for i in stem.items if isinstance(i, Line)] == ["Problems 3-5 refer to a rod."]


def test_the_range_may_run_into_the_next_line(column: Callable[..., list[Line]]) -> None:
    _, stem = split_stem(column("The following is relevant to problems 3,", "4, and 5. A rod."), 3)
    assert stem is not None
    assert stem.numbers == (3, 4, 5)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("21 a 23", (21, 22, 23)),
        ("5-3", ()),
        ("1-99", ()),
        ("4 und 4", ()),
        ("7, 8 y 9", (7, 8, 9)),
    ],
)
def test_ranges(text: str, numbers: tuple[int, ...]) -> None:
    assert parse_range(text) == numbers


@given(st.text(alphabet="0123456789 ,-–and", max_size=40), st.integers(1, 30))
def test_any_range_is_rising_or_empty(text: str, following: int) -> None:
    numbers = parse_range(text)
    assert list(numbers) == sorted(set(numbers))
    found, end = stem_numbers(f"Information for problems {text}", "", following)
    assert not found or (found[0] == following and end > 0)


# Titles of sections, of answers, and the end of a paper.

Maker = Callable[..., Line]

Column = Callable[..., list[Line]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Section B", "B"),
        ("PART II: Theory", "II"),
        ("Seção 2 - Química", "2"),
        ("Teil A", "A"),
        ("二、填空题", "二"),
        ("III. Short answer", "III"),
        ("Multiple choice", ""),
    ],
)
def test_the_name_that_a_title_gives(line: Maker, text: str, name: str) -> None:
    assert section_name(text) == name
    assert opens_section(line(text, bold=True), 10)


@pytest.mark.parametrize(
    "text", ["Instructions", "Constants", "1. A ball", "Answers", "A ball rolls down a slope."]
)
def test_what_is_bold_and_no_title_of_problems(line: Maker, text: str) -> None:
    assert not opens_section(line(text, bold=True), 10)


@pytest.mark.parametrize("text", ["END OF PAPER", "— The End —", "全卷完", "Fin del examen"])
def test_a_paper_ends_where_it_says_so(line: Maker, text: str) -> None:
    assert is_end(line(text))
    assert not is_end(line("The end of the rod is fixed"))


@pytest.mark.parametrize(
    "title",
    ["Answer Key", "Marking Scheme", "参 考 答 案", "参考答案与评分标准", "Gabarito oficial",
     "Clave de respuestas", "Answers and solutions", "Correct answers", "Plantilla de respuestas",
     "Respuestas correctas", "Risposte corrette", "Richtige Antworten", "Grille des réponses"],
)  # fmt: skip
def test_an_answer_section_in_the_type_of_the_body(column: Column, title: str) -> None:
    lines = column("1. A ball", "2. A rod", "3. A car", title, "1. B", "2. C", "3. A")
    front, back = split_answers(lines, 10)
    assert (len(front), len(back)) == (3, 3)


@pytest.mark.parametrize("title", ["Resultat", "What was right", "正しいもの"])
def test_a_section_of_numbered_letters_is_a_key_under_any_title(column: Column, title: str) -> None:
    asked = ["1. A ball falls.", "2. A rod turns.", "3. A car stops.", "4. A gas expands."]
    keys = ["1. B", "2) C", "3. (A)", "page 2"]
    front, back = split_answers(column(*asked, title, *keys), 10)
    assert [i.text for i in front if isinstance(i, Line)] == asked
    assert [i.text for i in back if isinstance(i, Line)] == keys


@pytest.mark.parametrize("last", ["D. 4 m/s", "4 m/s", "Which way does it go?", "D) up"])
def test_a_key_without_a_title_takes_no_line_of_the_last_problem(column: Column, last: str) -> None:
    asked = ["1. A ball falls.", "2. A rod turns.", "3. A car stops.", last]
    front, back = split_answers(column(*asked, "1. B", "2. C", "3. A"), 10)
    assert [i.text for i in front if isinstance(i, Line)] == asked
    assert len(back) == 3


@pytest.mark.parametrize(
    "tail",
    [
        ["4. B", "5. C", "6. A"],
        ["1. B", "2. C"],
        ["1. Ball", "2. C", "3. A"],
        ["1. B", "2. C", "3. A", "Which of them is right, and what would a longer text say here?"],
    ],
)
def test_what_goes_on_or_says_more_is_no_key(column: Column, tail: list[str]) -> None:
    asked = ["1. A ball falls.", "2. A rod turns.", "3. A car stops."]
    assert split_answers(column(*asked, "Resultat", *tail), 10)[1] == []


def test_the_solution_below_each_problem_is_no_section(column: Column, line: Maker) -> None:
    lines = column("1. A", "Solution", "so", "2. B", "Solution", "so", "3. C", "Solution", "so")
    bold = [line(i.text, y=i.baseline, bold=i.text == "Solution") for i in lines]
    assert split_answers(bold, 10)[1] == []


def test_the_head_of_a_column_is_no_section(line: Maker) -> None:
    rows = [line("1. A", y=100), line("2. B", y=112), line("Answers", y=124)]
    beside = line("Points", x=200, y=124, starts=False)
    assert split_answers([*rows, beside, line("1. C", y=136)], 10)[1] == []


def test_what_introduces_the_next_section_is_no_part_of_the_problem(
    column: Column, line: Maker
) -> None:
    asked = column("2. A ball", "How fast?")
    title = line("Section B", y=200, bold=True)
    said = line("Each is worth four points.", y=212)
    assert without_titles([*asked, title, said], 10, restarts=True) == (asked, [title, said])
    assert without_titles([*asked, title, said], 10, restarts=False) == (asked, [title])


def test_a_part_of_a_problem_keeps_what_it_asks(column: Column, line: Maker) -> None:
    asked = column("2. A ball")
    part = line("Part B", y=200, bold=True)
    task = line("Determine its speed.", y=212)
    assert without_titles([*asked, part, task], 10, restarts=False) == ([*asked, task], [part])


# Ways of numbering problems.


@pytest.mark.parametrize(
    ("text", "value", "style", "rest"),
    [
        ("1. A ball", 1, "plain", "A ball"),
        ("12) A ball", 12, "plain", "A ball"),
        ("3、地球", 3, "plain", "地球"),
        ("6.（仅高年组）恒星", 6, "plain", "（仅高年组）恒星"),
        ("Problem 3. A ball", 3, "word", "A ball"),
        ("PROBLEM 3: A ball", 3, "word", "A ball"),
        ("Problema 4. Una bola", 4, "word", "Una bola"),
        ("Questão 17 - Uma bola", 17, "word", "Uma bola"),
        ("Aufgabe 2: Ein Ball", 2, "word", "Ein Ball"),
        ("Ej. 1: Una bola", 1, "word", "Una bola"),
        ("Theory Problem 1 A ball", 1, "word", "A ball"),
        ("Question 1 of 8: A ball", 1, "word", "A ball"),
        ("Question 1 of 8 balls", 1, "word", "of 8 balls"),
        ("问题1：地球", 1, "word", "地球"),
        ("第5题 地球", 5, "di", "地球"),
        ("第十二题 地球", 12, "di", "地球"),
        ("例3 地球", 3, "example", "地球"),
        ("Q7. A ball", 7, "letter", "A ball"),
        ("(D1.2) A ball", 1, "code", "(D1.2) A ball"),
        ("Data Analysis 2: The hole", 2, "heading", "The hole"),
    ],
)
def test_the_number_of_a_line(text: str, value: int, style: str, rest: str) -> None:
    number = read_number(text)
    assert number is not None
    assert (number.value, number.style, text[number.end :]) == (value, style, rest)


@pytest.mark.parametrize(
    "text",
    [
        "1.5 kg of water",
        "2021 was a year",
        "(1) a part",
        "(a) a part",
        "A. a choice",
        "25 QUESTIONS",
    ],
)
def test_what_is_no_number_of_a_problem(text: str) -> None:
    assert read_number(text) is None


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    number = read_number(text)
    assert number is None or (0 < number.value <= 999 and number.end <= len(text))


# The numbers of figures that a text names, and the captions that give them.


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Figures 1 and 2 show a cart; see fig. 4", ["1", "2", "4"]),
        ("In Figure 1 a 3 kg block slides", ["1"]),
        ("Na obrázku 1 a na obr. 2 a 3 je obvod", ["1", "2", "3"]),
        ("Na rysunkach 1 i 2 oraz rys. nr 4", ["1", "2", "4"]),
        ("На рисунке 1 и рис. № 2, 3", ["1", "2", "3"]),
        ("図1と2、第3図を見よ。如图４", ["1", "2", "3", "４"]),
        ("The rysunek has no number", []),
    ],
)
def test_the_figures_that_a_text_names(text: str, numbers: list[str]) -> None:
    assert figure_numbers(text) == numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Figure 3: A cart.", "3"), ("Obr. 2: Obvod", "2"), ("Obrázek 1", "1"), ("Rys. 4. To", "4"),
        ("Rysunek 5", "5"), ("Рис. 6. Путь", "6"), ("Рисунок 7 – Путь", "7"), ("図8：回路", "8"),
    ],
)  # fmt: skip
def test_captions(text: str, number: str) -> None:
    match = CAPTION.fullmatch(text)
    assert match is not None
    assert match["number"] == number


# Section headings and tags that name a subject.


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Biología", "biology"),
        ("Section B: Physics", "physics"),
        ("QUÍMICA", "chemistry"),
        ("Mathematik", "mathematics"),
        ("物理", "physics"),
        ("Physics and Chemistry", None),
        ("History", None),
    ],
)
def test_the_subject_of_a_heading(text: str, subject: Subject | None) -> None:
    assert subject_word(text) == subject


def test_headings() -> None:
    assert all(map(is_heading, ["Section B", "II、简答题", "Química", "Parte 2 Problemas"]))
    assert not any(map(is_heading, ["The physics of a ball is simple enough", "Partial pressure"]))


def test_a_tag_is_cut_off_and_other_brackets_stay() -> None:
    assert leading_tag("[Química] Una sal") == ("chemistry", "Una sal")
    assert leading_tag("[Fe/H] is a ratio") == (None, "[Fe/H] is a ratio")


# The language of a paper that nobody has named.


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How fast is the ball when it leaves the table?", "en"),
        ("¿Cuál es la rapidez de la bola al dejar la mesa?", "es"),
        ("Qual é a velocidade da bola ao deixar a mesa, e por que não muda?", "pt"),
        ("Quelle est la vitesse de la balle quand elle quitte la table ?", "fr"),
        ("Wie groß ist die Geschwindigkeit der Kugel, wenn sie den Tisch verlässt?", "de"),
        ("Qual è la velocità della palla che non cade, e per quale motivo?", "it"),
        ("小球离开桌面时 v = 3 m/s，求 F.", "zh"),
        ("球が机を離れるときの速さ v を求めよ。", "ja"),
        ("공이 탁자를 떠날 때의 속력은?", "ko"),
        ("Какова скорость шара, когда он покидает стол?", "ru"),
        ("The angles α, β and γ of the triangle are known", "en"),
        ("F = ma", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_words_and_script_tell_it(text: str, language: str) -> None:
    assert detect_language(text) == language


@given(st.text())
def test_any_text_has_some_language_or_none(text: str) -> None:
    assert detect_language(text) == UNKNOWN or len(detect_language(text)) == 2


# A paper cut into drafts: sections, stems within them, problems that were taken out.


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


# A document of solutions alone says so: its solutions are never asked.

PROSE = [
    "By conservation of energy the speed at the lower end is the root of twice g h, and so the",
    "kinetic energy there is that of the cart alone, which gives 4.2 m/s in this case.",
]


def read(folder: Path, title: str, *first: str, asks: str = "") -> tuple[list[str], list[Problem]]:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 60), title, fontsize=14)
    for n in range(1, 7):
        for row, text in enumerate([f"{n}. {first[n % len(first)]} {PROSE[0]}", PROSE[1], asks]):
            page.insert_text((72, 40 + 60 * n + 14 * row), text, fontsize=10)
    pdf.save(folder / "p.pdf")
    job = OcrJob(
        source=Source(name="p", paper=str(folder / "p.pdf")), folder=folder, params=OcrParams()
    )
    codes = read_source(job).codes
    return codes, read_jsonl(folder / "problems.jsonl", Problem)


@pytest.mark.parametrize(
    ("title", "first"),
    [
        ("Test 2012", ("Item d).", "Item a).")), ("Test", ("Alternativa D.",)),
        ("Solutions of the test", ("",)), ("Resolução da prova", ("",)),
        ("Physics Olympiad 2012: worked solutions", ("First,", "Then,")),
    ],
)  # fmt: skip
def test_solutions_alone_are_told(tmp_path: Path, title: str, first: tuple[str, ...]) -> None:
    codes, _ = read(tmp_path, title, *first)
    assert "solutions_only" in codes
    assert "`solutions:`" in CODES["solutions_only"].remedy


def test_a_letter_at_the_head_of_a_solution_is_no_question(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "Test 2012", "Item d).", "Item a).")
    assert {problem.question for problem in problems} == {""}
    assert [problem.answer for problem in problems[:2]] == [["A"], ["D"]]


@pytest.mark.parametrize(
    ("title", "asks"),
    [
        ("Solutions and questions", "What is its speed after that?"),
        ("Physics: with solutions", "(A) 3 m/s (B) 4 m/s (C) 5 m/s"),
        ("Test 2012", ""),
    ],
)
def test_what_asks_or_has_no_such_title_is_a_paper(tmp_path: Path, title: str, asks: str) -> None:
    codes, _ = read(tmp_path, title, "", asks=asks)
    assert "solutions_only" not in codes
