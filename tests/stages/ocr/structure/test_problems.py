"""From lines of a paper to problems: numbers, stems, titles, references, drafts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stages.ocr.printed import list_texts, set_lines

from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem, Subject
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.codes import CODES
from omibench.stages.ocr.jobs import OcrJob
from omibench.stages.ocr.layout.figures import CAPTION
from omibench.stages.ocr.layout.reading_order import collect_words
from omibench.stages.ocr.pipeline import read_source
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure.document import Document
from omibench.stages.ocr.structure.drafts import (
    Paper,
    parse_range,
    read_paper,
    split_stem,
    stem_numbers,
)
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

# The chain of problem numbers: lists inside problems, instructions above them, misread numbers.


def tell(text: str, engine: str = "textlayer", *, mends: bool = False) -> str:
    """The numbers of the chain in lines, each with the index of its line: `0:1 4:2`."""
    flow = set_lines(text, engine=engine)
    chain = best_chain(find_candidates(flow))
    chain = mend_chain(flow, chain) if mends else chain
    return " ".join(f"{c.index}:{c.number.value}" for c in chain)


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("*1. First\n*2. Second, with statements\n  1. one\n  2. two\n  3. three\n  4. four\n"
         "*3. Third\n*4. Fourth", "0:1 1:2 6:3 7:4"),
        ("1. Use a pen.\n2. Do not talk.\n1. A ball\n2. A disc\n3. A rod\n4. A ring",
         "2:1 3:2 4:3 5:4"),
        ("Problem 1. Facts\n1. fact\n2. fact\n3. fact\nProblem 2. Laws", "0:1 4:2"),
        ("Nothing here\n3. only one", ""),
        ("1. A\n2. B\n3. C\n   1. one\n   2. two\n   3. three", "0:1 1:2 2:3"),
        ("1. rule\n2. rule\n   1. A\n   2. B\n   3. C\n   4. D\n   5. E", "2:1 3:2 4:3 5:4 6:5"),
        ("1. A\n2. B\n5. C\n6. D", "0:1 1:2 2:5 3:6"),
        ("1) Let a substance\nX1 be\n2) Let a substance\nX2 be\n3) Let a substance\nX3 be",
         "0:1 2:2 4:3"),
    ],
)  # fmt: skip
def test_the_numbers_of_the_problems(text: str, chain: str) -> None:
    assert tell(text) == chain


def test_candidates_start_their_row_and_parts_of_one_problem_are_one() -> None:
    items = set_lines("B1 a) x\nB1 b) y\nB2 a) z\nB2 b) w\nText|9. x")
    assert [(c.index, c.number.value) for c in find_candidates(items)] == [(0, 1), (2, 2)]


@pytest.mark.parametrize("misread", ["l. B", "I. B", "21. B", "1, B", "1 、B"])
def test_a_first_number_that_an_engine_misread_is_mended(misread: str) -> None:
    assert tell(f"{misread}\n text\n2. C\n3. D", "rapidocr", mends=True) == "0:1 2:2 3:3"


@pytest.mark.parametrize("misread", ["S. B", "5, B", "5A ball", "s) B"])
def test_a_number_between_others_that_an_engine_misread_is_mended(misread: str) -> None:
    text = f"1. A\n2. A\n3. A\n4. A\n{misread}\n6. C"
    assert tell(text, "rapidocr", mends=True) == "0:1 1:2 2:3 3:4 4:5 5:6"


@pytest.mark.parametrize(
    ("text", "engine", "chain"),
    [
        ("1. A\n2, b\n3. C", "textlayer", "0:1 2:3"),
        ("1. A\n2, b\n2, b\n3. C", "rapidocr", "0:1 3:3"),
        ("1. A\n    2, b\n3. C", "rapidocr", "0:1 2:3"),
        ("", "rapidocr", ""),
    ],
)
def test_nothing_is_mended_where_it_is_not_certain(text: str, engine: str, chain: str) -> None:
    assert tell(text, engine, mends=True) == chain


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "  ", "*", "  *"]),
            st.sampled_from(
                ["1. a", "2. b", "3. c", "4. d", "Problem 1", "Problem 2", "x", "7) y"]
            ),
        ),
        max_size=30,
    )
)
def test_a_chain_rises_in_one_style_and_in_reading_order(rows: list[tuple[str, str]]) -> None:
    chain = best_chain(find_candidates(set_lines("\n".join(map("".join, rows)))))
    assert [c.index for c in chain] == sorted({c.index for c in chain})
    assert all(0 < b.number.value - a.number.value <= 4 for a, b in pairwise(chain))
    assert len({c.number.style for c in chain}) <= 1


@given(st.integers(2, 60))
def test_a_plain_numbering_is_found_whole(count: int) -> None:
    text = "\n".join(f"{k}. Question\n body text" for k in range(1, count + 1))
    assert tell(text) == " ".join(f"{2 * k}:{k + 1}" for k in range(count))


# Stems that several problems share.


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Information for problems 3 and 4", "3 4"),
        ("Problems 3-5 refer to the circuit below.", "3 4 5"),
        ("Questions 3–5", "3 4 5"),
        ("The following information is relevant to problems 3, 4, and 5.", "3 4 5"),
        ("The following information applies for the next two problems. A wheel", "3 4"),
        ("Use the following data to answer questions 3 to 6:", "3 4 5 6"),
        ("Información para los problemas 3 y 4", "3 4"),
        ("Texto para as questões 3 a 5", "3 4 5"),
        ("Angaben zu den Aufgaben 3 und 4", "3 4"),
        ("根据以下材料，回答第3至5题", "3 4 5"),
        ("Compare your results for problems 1 and 2.", ""),
        ("The data of problems 4 and 5 come later.", ""),
        ("Neglect friction throughout the next two problems.", ""),
        ("Problem 3. A ball", ""),
        ("Figure 3 and Figure 4 show a ball.", ""),
    ],
)
def test_a_stem_names_its_problems(text: str, numbers: str) -> None:
    assert " ".join(map(str, stem_numbers(text, "", 3)[0])) == numbers


@pytest.mark.parametrize(
    ("text", "before", "name", "items"),
    [
        ("2. B\nInformation for problems 3 and 4\nA rod.", ["2. B"], "3-4", ["A rod."]),
        ("2. B\nProblems 3-5 refer to a rod.", ["2. B"], "3-5", ["Problems 3-5 refer to a rod."]),
        ("The following is relevant to problems 3,\n4, and 5. A rod.", [], "3-5", ["A rod."]),
        ("The following is relevant to problems 3,\n4, and 5.\nA rod.", [], "3-5", ["A rod."]),
        ("Problems 3,\n4 and 5 refer to a rod.", [], "3-5",
         ["Problems 3,", "4 and 5 refer to a rod."]),
    ],
)  # fmt: skip
def test_a_heading_of_a_stem_is_dropped_and_a_sentence_kept(
    text: str, before: list[str], name: str, items: list[str]
) -> None:
    left, stem = split_stem(set_lines(text), 3)
    assert list_texts(left) == before
    assert stem is not None
    assert (stem.name, list_texts(stem.items)) == (name, items)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("21 a 23", "21 22 23"), ("5-3", ""), ("1-99", ""), ("4 und 4", ""), ("7, 8 y 9", "7 8 9")],
)
def test_ranges(text: str, numbers: str) -> None:
    assert " ".join(map(str, parse_range(text))) == numbers


@given(st.text(alphabet="0123456789 ,-–and", max_size=40), st.integers(1, 30))
def test_any_range_is_rising_or_empty(text: str, following: int) -> None:
    numbers = parse_range(text)
    assert list(numbers) == sorted(set(numbers))
    found, end = stem_numbers(f"Information for problems {text}", "", following)
    assert not found or (found[0] == following and end > 0)


# Titles of sections, of answers, and the end of a paper.


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Section B", "B"), ("PART II: Theory", "II"), ("Seção 2 - Química", "2"), ("Teil A", "A"),
        ("二、填空题", "二"), ("III. Short answer", "III"), ("Multiple choice", ""),
        ("Instructions", None), ("Constants", None), ("1. A ball", None), ("Answers", None),
        ("A ball rolls down a slope.", None),
    ],
)  # fmt: skip
def test_the_name_that_a_bold_title_gives(text: str, name: str | None) -> None:
    (line,) = set_lines(f"*{text}")
    assert opens_section(line, 10) == (name is not None)
    assert name is None or section_name(text) == name


@pytest.mark.parametrize("text", ["END OF PAPER", "— The End —", "全卷完", "Fin del examen"])
def test_a_paper_ends_where_it_says_so(text: str) -> None:
    last, other = set_lines(f"{text}\nThe end of the rod is fixed")
    assert (is_end(last), is_end(other)) == (True, False)


THREE = "1. A ball falls.\n2. A rod turns.\n3. A car stops."


@pytest.mark.parametrize(
    ("asked", "title", "key"),
    [
        *((THREE, title, "1. B\n2. C\n3. A") for title in [
            "Answer Key", "Marking Scheme", "参 考 答 案", "参考答案与评分标准", "Gabarito oficial",
            "Clave de respuestas", "Answers and solutions", "Correct answers",
            "Plantilla de respuestas", "Respuestas correctas", "Risposte corrette",
            "Richtige Antworten", "Grille des réponses",
        ]),
        *((f"{THREE}\n4. A gas expands.", title, "1. B\n2) C\n3. (A)\npage 2")
          for title in ["Resultat", "What was right", "正しいもの"]),
        *((f"{THREE}\n{last}", "", "1. B\n2. C\n3. A")
          for last in ["D. 4 m/s", "4 m/s", "Which way does it go?", "D) up"]),
        *((f"{THREE}\nResultat\n{tail}", None, "") for tail in [
            "4. B\n5. C\n6. A", "1. B\n2. C", "1. Ball\n2. C\n3. A",
            "1. B\n2. C\n3. A\nWhich of them is right, and what would a longer text say here?",
        ]),
        ("1. A question about answers\nAnswers\n2. Another", "*Answer key", "1. B"),
        ("*Answer key\n1. B", None, ""),
        ("1. A\n*Solution\nso\n2. B\n*Solution\nso\n3. C\n*Solution\nso", None, ""),
        ("1. A\n2. B\nAnswers|Points\n1. C", None, ""),
    ],
)  # fmt: skip
def test_the_section_of_answers_is_cut_off(asked: str, title: str | None, key: str) -> None:
    text = "\n".join([asked, *([title] if title else []), *([key] if key else [])])
    front, back = split_answers(set_lines(text), 10)
    assert front == set_lines(asked)
    assert list_texts(back) == key.split("\n") * bool(key)


@pytest.mark.parametrize(
    ("text", "restarts", "kept", "titles"),
    [
        ("*Section B\nEach is worth four points.", True, 2, [2, 3]),
        ("*Section B\nEach is worth four points.", False, 2, [2]),
        ("*Part B\nDetermine its speed.", False, 3, [2]),
    ],
)
def test_what_introduces_the_next_section_is_no_part_of_the_problem(
    text: str, restarts: bool, kept: int, titles: list[int]
) -> None:
    lines = set_lines(f"2. A ball\nHow fast?\n{text}")
    left = [*lines[:2], *([lines[3]] if kept == 3 else [])]
    assert without_titles(lines, 10, restarts=restarts) == (left, [lines[k] for k in titles])


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


def read_text(text: str) -> Paper:
    lines = set_lines(text)
    return read_paper(Document([], [*lines], 10.0, collect_words(lines)))


def test_stems_and_introductions_belong_to_their_own_section() -> None:
    text = """*Section {0}
Each problem of this section is worth four points.
1. What is the mass of the star {0}1?
The following information is relevant to problems 2 and 3.
A planet {0} moves around a star.
2. What is the mass of the star {0}2?
3. What is the mass of the star {0}3?"""
    drafts = read_text("\n".join(map(text.format, "AB"))).drafts
    assert [draft.number for draft in drafts] == ["A1", "A2", "A3", "B1", "B2", "B3"]
    assert [draft.group for draft in drafts] == ["A1", "A2-3", "A2-3", "B1", "B2-3", "B2-3"]
    for draft in drafts:
        text = " ".join(list_texts(draft.statement))
        assert text.count(f"star {draft.number}?") == text.count("?") == 1
        assert "four points" not in text
        assert (f"planet {draft.section} moves" in text) == (draft.stem is not None)
        assert draft.warnings == []


def test_a_problem_taken_out_has_no_answer_and_nothing_follows_the_end_of_the_paper() -> None:
    paper = read_text("""1. What is the mass of the star?
2. [This problem is removed from the test.]
3. What is the mass of the planet?
  END OF PAPER
Periodic table of the elements""")
    assert paper.block_key.cancelled == {"2"}
    assert list_texts(paper.drafts[-1].items) == ["What is the mass of the planet?"]


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
