"""Choices, letters of parts, and problems put together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count, islice
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stages.ocr.printed import list_texts, set_lines

from glyphtex.marks import Box
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import IMAGE_MARK, Choice, Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.layout.layout import Line, Picture
from omibench.stages.ocr.layout.reading_order import says_points, says_time
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure import assemble
from omibench.stages.ocr.structure.answers import with_answers
from omibench.stages.ocr.structure.assemble import Crops, to_problems
from omibench.stages.ocr.structure.choices import (
    LETTERINGS,
    Lettering,
    Option,
    read_labels,
    split_choices,
)
from omibench.stages.ocr.structure.document import read_document
from omibench.stages.ocr.structure.drafts import Draft, read_paper
from omibench.stages.ocr.structure.key_tables import read_key
from omibench.stages.ocr.structure.keys import Key, as_letters

# Choices in text and pictures.


def tell(text: str) -> dict[str, str]:
    """The choices of lines, by letter."""
    options = split_choices(set_lines(text))[1]
    return {option.letter: " ".join(list_texts(option.lines)) for option in options}


WHICH = "Which?\n"
DISTANCES = "A: 3 m | B: 4 m | C: 5 m | D: 6 m"


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        (WHICH + "(A) one\n(B) two, which is\nlonger\n(C) three",
         "A: one | B: two, which is longer | C: three"),
        (WHICH + "(A) 1 m (B) 2 m (C) 3 m", "A: 1 m | B: 2 m | C: 3 m"),
        ("Which? (A) 1 m (B) 2 m (C) 3 m (D) 4 m", ""),
        (WHICH + "A. red and|B. green and\nblue|white\nC. grey|D. pink",
         "A: red and blue | B: green and white | C: grey | D: pink"),
        ("Which? Compare (A) with (B).\n(A) one\n(B) two\n(C) three",
         "A: one | B: two | C: three"),
        ("A ball rolls.\n(a) Find x.\n(b) Find y.\n(c) Find z.", ""),
        ("Who?\n(a) How much? (2 points)\n(b) Why?\n(c) When?", ""),
        ("Qual é a cor?\na) azul\nb) verde\nc) branco\nd) preto",
         "A: azul | B: verde | C: branco | D: preto"),
        ("What is its speed?\n*A|0 m/s\n*B|1 m/s\n*C|2 m/s\n*D|3 m/s",
         "A: 0 m/s | B: 1 m/s | C: 2 m/s | D: 3 m/s"),
        ("How many?\n A ball and a rod\n  B and\n   are known to be\n    C or\n     D or E", ""),
        *(("How far does it go?\n" + text, DISTANCES) for text in [
            "(A) 3 m(B) 4 m(C) 5 m(D) 6 m", "(A)3 m(B)4 m(C)5 m(D)6 m",
            "(a) 3 m(b) 4 m(c) 5 m(d) 6 m", "A. 3 m;B. 4 m;C. 5 m;D. 6 m",
            "A)3 m;B)4 m;C)5 m;D)6 m", "(A) 3 m,(B) 4 m,(C) 5 m,(D) 6 m",
            "（A）3 m（B）4 m（C）5 m（D）6 m", "(A) 3 m (B) 4 m (C) 5 m;(D) 6 m",
        ]),
        ("How far?\n(A) 3 m(B) 4 m\n(C) 5 m(D)\n6 m(E) 7 m", f"{DISTANCES} | E: 7 m"),
        ("多远？\nA．三米B．四米C．五米D．六米", "A: 三米 | B: 四米 | C: 五米 | D: 六米"),
        (WHICH + "(A) red (B) blue (C) grey (D) the value of f(E) at 2",
         "A: red | B: blue | C: grey | D: the value of f(E) at 2"),
        (WHICH + "Let f(A) be 1, f(B) be 2 and f(C) be 3.", ""),
        (WHICH + "(A) 3 m(B) 4 m(D) 5 m", ""),
        (WHICH + "A. 3 mB. 4 mC. 5 m", ""),
        (WHICH + "(A)(B)(C)(D)", ""),
        ("下列说法正确的是\n①红色\n②增大\n③减小\n④不变\n⑤相等\nA. ①②\nB. ②③\nC. ③④\nD. ①④",
         "A: ①② | B: ②③ | C: ③④ | D: ①④"),
        ("Установите соответствие между величинами\nА) скорость\nБ) масса\nВ) сила", ""),
        ("Матрёшка катится. Найдите:\na) Найдите x\nb) Найдите y\nc) Найдите z", ""),
        *((announced + marks, "")
          for announced in ["Answer the following:", "回答下列问题：", "It is at rest."]
          for marks in ["\n(1) red\n(2) red\n(3) red\n(4) red", "\n① red\n② red\n③ red\n④ red",
                        "\n甲、red\n乙、red\n丙、red\n丁、red"]),
    ],
)  # fmt: skip
def test_choices_of_a_problem(text: str, choices: str) -> None:
    told = {letter: value.rstrip(",;") for letter, value in tell(text).items()}
    assert " | ".join(f"{letter}: {value}" for letter, value in told.items()) == choices


def test_text_before_and_well_below_the_choices_is_the_statement() -> None:
    lines = set_lines("Which?\n(A) word\n(B) word\n(C) word\n\n\nEnd of the first part")
    statement, options = split_choices(lines)
    assert list_texts(statement) == ["Which?", "End of the first part"]
    assert list_texts(options[2].lines) == ["word"]


def test_a_mark_tells_the_right_choice() -> None:
    _, options = split_choices(set_lines("Which?\n(A) 1\n(B) 2 ←CORRECT\n(C) 3 <- correct"))
    assert [(o.letter, o.correct, o.lines[0].text) for o in options] == [
        ("A", False, "1"), ("B", True, "2"), ("C", True, "3"),
    ]  # fmt: skip


@pytest.mark.parametrize("offset", [-6.0, 14.0])
def test_letters_above_or_below_find_their_pictures(offset: float) -> None:
    """Four pictures in a grid of two columns, tops a point apart, and their letters."""
    places = {"A": (60, 100), "B": (260, 101), "C": (60, 260), "D": (260, 259)}
    boxes = {c: Box(x, y, x + 120, y + 100) for c, (x, y) in places.items()}
    shown = [Picture(1, boxes[c]) for c in "BADC"]
    letters = []
    for c, b in boxes.items():
        x, y = (b.x0, b.y0 + offset) if offset < 0 else (b.centre[0], b.y1 + offset)
        letters.append(Line(1, Box(x, y - 8, x + 15, y + 2), f"({c})", 10, baseline=y))
    other = Picture(1, Box(150, 20, 250, 80))
    statement, options = split_choices([*set_lines("Which?"), other, *shown, *letters])
    assert [o.letter for o in options] == list("ABCD")
    assert [o.picture for o in options] == [shown[1], shown[0], shown[3], shown[2]]
    assert [i for i in statement if isinstance(i, Picture)] == [other]


def test_a_picture_between_text_choices_stays_in_the_statement() -> None:
    shown = Picture(1, Box(60, 200, 160, 260))
    statement, options = split_choices([*set_lines("Which?\n(A) one\n(B) two\n(C) three"), shown])
    assert shown in statement
    assert all(o.picture is None for o in options)


@given(st.lists(st.sampled_from(["(A) a", "(B)", "C. x", "(a) y", "b) z", "text", "(C) q"])))
def test_any_mixture_is_survived_without_losing_lines(texts: list[str]) -> None:
    lines = set_lines("\n".join(texts))
    statement, options = split_choices(lines)
    letters = [o.letter for o in options]
    assert letters == list("ABCDEFGH"[: len(letters)])
    assert len(letters) == 0 or len(letters) >= 3
    if not letters:
        assert statement == lines


# Choices and keys in other letters than A, B, C, D: as printed, by position, never a guess.

FORMS = {"(A)": "({}) ", "A)": "{}) ", "A.": "{}. ", "A、": "{}、", "①": "{} ", "A": "{} "}

WORDS = ["red", "5 m/s", "to the left", "none of these", "нет", "в два раза", "红色", "增大"]

ROWS = st.sampled_from([row for row in LETTERINGS if not row.is_latin])

SETS = ROWS.flatmap(lambda row: st.tuples(st.just(row), st.sampled_from(row.settings)))

COUNTS = st.integers(3, 5)

TEXTS = st.lists(st.sampled_from(WORDS), min_size=5, max_size=5)


def listed(letters: Sequence[str], setting: str, texts: Sequence[str]) -> list[str]:
    return [FORMS[setting].format(c) + text for c, text in zip(letters, texts, strict=False)]


def label_choices(row: Lettering, count: int) -> list[Choice]:
    return [Choice(label=c, text=f"text {k}") for k, c in enumerate(row.letters[:count])]


@given(
    SETS, COUNTS, TEXTS, st.sampled_from(["Which is right?", "下列说法正确的是", "Выберите ответ:"])
)
def test_choices_keep_the_letters_that_are_printed(
    marked: tuple[Lettering, str], count: int, texts: list[str], asks: str
) -> None:
    row, setting = marked
    letters = row.letters[:count]
    told = tell("\n".join(["A ball falls.", asks, *listed(letters, setting, texts)]))
    assert told == dict(zip(letters, texts, strict=False))


@settings(max_examples=40)
@given(SETS, st.integers(0, 4), TEXTS)
def test_a_list_with_a_gap_or_a_late_beginning_is_none(
    marked: tuple[Lettering, str], missing: int, texts: list[str]
) -> None:
    row, setting = marked
    letters = row.letters[:missing] + row.letters[missing + 1 : 6]
    told = tell("\n".join(["Which is right?", *listed(letters, setting, texts)]))
    assert told == ({} if missing < 5 else dict(zip(letters, texts, strict=False)))


@settings(max_examples=60)
@given(SETS, SETS, st.integers(1, 3), TEXTS)
def test_two_kinds_of_letters_are_no_list(
    marked: tuple[Lettering, str], other: tuple[Lettering, str], place: int, texts: list[str]
) -> None:
    (row, setting), strange = marked, other[0]
    if strange.letters == row.letters:
        return
    printed = listed(row.letters[:4], setting, texts)
    printed[place] = listed([strange.letters[place]], other[1], texts)[0]
    assert tell("\n".join(["Which is right?", *printed])) == {}


@given(SETS, COUNTS, st.sampled_from([
    "Find its speed. (2 points)", "Найдите скорость", "Чему равна масса?", "求它的速度",
    "质量为____", "Να βρείτε τη μάζα", "скорость тела (2 балла)", "說明理由",
]))  # fmt: skip
def test_sub_questions_are_no_choices(marked: tuple[Lettering, str], count: int, task: str) -> None:
    row, setting = marked
    parts = listed(row.letters[:count], setting, [task] * count)
    assert tell("\n".join(["Which is right?", *parts])) == {}


@given(ROWS, COUNTS, st.integers(0, 4), st.sampled_from(["{}", "({})", "{})", "{}."]))
def test_a_key_names_the_choice_at_the_place_of_its_letter(
    row: Lettering, count: int, place: int, form: str
) -> None:
    told = as_letters([form.format(row.letters[place])], label_choices(row, count))
    if place < count:
        assert told == [row.letters[place]]
    else:
        assert not set(told) & set(row.letters[:count])


@given(st.sampled_from(LETTERINGS), ROWS, st.integers(0, 3))
def test_a_letter_of_another_script_names_no_choice(
    key: Lettering, row: Lettering, place: int
) -> None:
    letter, labels = key.letters[place], row.letters[:4]
    told = as_letters([letter], label_choices(row, 4))
    same = key.letters.casefold() == row.letters.casefold() or {key.letters[0], row.letters[0]} == {
        "1", "①",
    }  # fmt: skip
    assert (told == [labels[place]]) if same else not set(told) & set(labels)


@settings(max_examples=40)
@given(ROWS, st.sets(st.integers(0, 3), min_size=1), st.sampled_from([", ", " ", "/", "、"]))
def test_a_key_of_several_letters(row: Lettering, places: set[int], between: str) -> None:
    letters = [row.letters[k] for k in sorted(places)]
    assert as_letters([between.join(letters)], label_choices(row, 4)) == letters
    if len(letters) > 1:
        backwards = between.join(reversed(letters))
        assert as_letters([backwards], label_choices(row, 4)) == [backwards]


def test_a_number_that_may_be_a_label_or_a_text_is_no_answer() -> None:
    options = [Choice(label=str(k), text=str(2 * k)) for k in range(1, 5)]
    assert [as_letters([text], options) for text in ("2", "(2)", "8")] == [[], ["2"], ["4"]]


@given(st.text(max_size=6), ROWS)
def test_any_text_is_read_as_labels_or_not_at_all(text: str, row: Lettering) -> None:
    assert set(read_labels(text, list(row.letters[:4]))) <= set(row.letters[:4])


@settings(max_examples=40)
@given(ROWS, st.lists(st.integers(0, 3), min_size=3, max_size=6))
def test_lists_of_answers_are_read(row: Lettering, places: list[int]) -> None:
    form = "({})" if row.letters.isdecimal() else "{}"
    answers = [form.format(row.letters[k]) for k in places]
    text = "  ".join(f"{n}. {answer}" for n, answer in enumerate(answers, 1))
    key = read_key(set_lines(text), [str(n) for n in range(1, len(places) + 1)])
    for n, k in enumerate(places, 1):
        assert as_letters(key.get(str(n)) or [], label_choices(row, 4)) == [row.letters[k]]


# What is printed in a paper is text, whatever it looks like; one bad problem is one problem.

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


def key(*answers: str) -> Key:
    made = Key()
    for answer in answers:
        made.add("1", answer)
    return made


def answer_problem(keys: Sequence[Key], solution: str | None = None, labels: str = "") -> Problem:
    problem = Problem(
        id="x-1", question="Which?", source="x", source_sha256="0", number="1", pages=[1],
        choices=[Choice(label=label, text=f"about {label}") for label in labels] or None,
    )  # fmt: skip
    return with_answers(problem, keys, solution)


@pytest.mark.parametrize(
    ("labels", "keys", "answer", "warnings"),
    [
        ("", [key(), key(), key()], None, []),
        ("", [key("B"), key(), key()], ["B"], []),
        ("", [key(), key(), key("C")], ["C"], []),
        ("", [key("B"), key("B"), key("B")], ["B"], []),
        ("", [key("B"), key("B"), key("D")], ["B"], ["answer_conflict: key ['B'], solution ['D']"]),
        ("", [key(), key("A"), key("D")], ["A"], ["answer_conflict: key ['A'], solution ['D']"]),
        ("", [key("void"), key("A")], None, ["answer_cancelled"]),
        ("", [key("B", "C"), key("C")], None,
         ["answer_doubtful: the key gives this number twice"]),
        ("ABCD", [key("E"), key("B")], None, ["answer_unread: E is not a choice"]),
        ("ABCD", [Key(unread={"1": "1-c?"}), key("B")], None,
         ["answer_unread: 1-c? is no answer"]),
    ],
)  # fmt: skip
def test_the_most_trusted_answer_is_kept_and_none_is_guessed(
    labels: str, keys: list[Key], answer: list[str] | None, warnings: list[str]
) -> None:
    answered = answer_problem(keys, labels=labels)
    assert (answered.answer, list(map(str, answered.warnings))) == (answer, warnings)


def test_words_behind_a_letter_are_the_solution_if_there_is_no_other() -> None:
    keys = [key("C. Because it has three."), key()]
    explained = answer_problem(keys, labels="ABCD")
    assert (explained.answer, explained.solution) == (["C"], "Because it has three.")
    assert answer_problem(keys, "Worked.", "ABCD").solution == "Worked."


# Running heads that tell points and time belong to no statement, however close they stand.

BODY = [
    "A cart rolls down a slope of length 4 m without friction and hits a spring at its lower",
    "end, which is compressed by 20 cm before the cart comes to rest for the first time. What",
    "is the constant of the spring, if losses are left out of account in your answer to this?",
    "Give it in newtons per metre, with two digits, and say how you have found the answer.",
]

Head = Sequence[tuple[float, float, str]]

NAME = "National Physics Olympiad 2024, round 2"


def paper(heads: Sequence[Head], top: float) -> pymupdf.Document:
    """Numbered problems that run over the pages, each page with a head (x, y, text)."""
    pdf = pymupdf.open()
    lines = chain.from_iterable([f"{n}. {BODY[0]}", *BODY[1:], ""] for n in count(1))
    for head in heads:
        page = pdf.new_page()
        for x, y, text in head:
            page.insert_text((x, y), text, fontsize=10.5)
        for row, text in enumerate(islice(lines, int((760 - top) / 14))):
            page.insert_text((72, top + 14 * row), text, fontsize=10.5)
    return pdf


def statements(pdf: pymupdf.Document) -> list[str]:
    drafts = read_paper(read_document(pdf)).drafts
    return [" ".join(list_texts(d.items)) for d in drafts]


LOW = [(72, 60, NAME), (72, 78, "Time allowed: 90 minutes"), (72, 110, "Maximum: 60 points")]

CLOSE = [(72, 50, NAME), (72, 64, "Time: 90 minutes, 60 points")]

ONE = [(72, 50, "Time: 90 minutes   Points: 60")]

VARIED = [
    [(72, 45, f"{word} ({points} points, {points + 5} min)")]
    for word, points in [("Motion", 20), ("Optics", 10), ("Waves", 15), ("Heat", 25)]
]


@pytest.mark.parametrize(
    ("heads", "top"),
    [
        ([LOW] * 4, 140), ([CLOSE] * 4, 78), ([[], ONE, [], []], 80), (VARIED, 62),
        ([[(72, 50, "Zeit: 120 min"), (300, 50, "Punkte: ___ / 40")]] * 3, 64),
    ],
)  # fmt: skip
def test_a_head_with_exam_data_is_in_no_statement(heads: Sequence[Head], top: float) -> None:
    found = statements(paper(heads, top))
    whole = " ".join(BODY)
    assert len(found) > 10
    assert set(found[:-1]) == {whole}


def test_points_that_a_problem_tells_stay_with_it() -> None:
    """One problem a page, its points below its number."""
    pdf = pymupdf.open()
    for n in range(1, 5):
        page = pdf.new_page()
        told = f"Problem {n}. (10 points, 20 min) "
        for row, text in enumerate([told + BODY[n % 2], *BODY[n % 2 + 1 :]]):
            page.insert_text((72, 60 + 14 * row), text, fontsize=10.5)
    found = statements(pdf)
    assert len(found) == 4
    assert all("20 min) A cart" in text or "20 min) end" in text for text in found)


@pytest.mark.parametrize(
    ("texts", "points", "time"),
    [
        (
            ["Total: 60 points", "Points: ____", "Max. 30 pts", "Punkte: 12", "满分100", "60 marks",
             "Počet bodů: 40", "Баллы: 20", "suma 40 pkt.", "配点 30"],
            True, None,
        ),
        (
            ["Time: 90 minutes", "Time allowed 3 hours", "(20 points, 15 min)",
             "Dauer ... Zeit: 90", "考试时间：120分钟", "Время: 4 часа", "Duração: 2 h",
             "Czas: 120 minut"],
            None, True,
        ),
        (
            ["at two points A and B", "the time after which it stops", "in 90 minutes", "x" * 5000],
            False, False,
        ),
    ],
)  # fmt: skip
def test_what_tells_points_or_time(
    texts: list[str], points: bool | None, time: bool | None
) -> None:
    for text in texts:
        assert points is None or says_points(text) == points, text
        assert time is None or says_time(text) == time, text


@pytest.mark.slow
def test_the_real_papers_lose_nothing(shared_data: Path) -> None:
    """No head of these papers tells points or time; test_exam_pdfs holds their problems."""
    text = (shared_data / "exam_pdfs/MockFMA-2021.pdf").read_bytes()
    pages = read_document(pymupdf.open(stream=text, filetype="pdf")).pages
    lost = [line for sheet in pages for line in sheet.lines if id(line) in sheet.furniture]
    assert not [line.text for line in lost if says_points(line.text)]
