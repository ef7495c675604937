"""Each reason has problems that it rejects and neighbours that it lets pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import Choice, Figure, Problem
from omibench.stages.filter.candidate import Case
from omibench.stages.filter.reasons import computed as reasons
from omibench.stages.filter.reasons.registry import REASONS
from omibench.stages.filter.stage import all_reasons

Make = Callable[..., Problem]
Look = Callable[..., Case]
Draw = Callable[..., Figure]

PICTURES = [Choice(label="A", image=0), Choice(label="B", image=1)]
LETTERS = [Choice(label=label, text=f"{i} m") for i, label in enumerate("ABCD", 1)]


def test_a_sound_problem_passes_every_reason(make: Make, look: Look) -> None:
    assert all_reasons(look(make())) == []
    assert REASONS.built_in_names == [
        "out_of_scope", "statement_incomplete", "statement_illegible", "answer_missing",
        "answer_ambiguous", "too_few_images", "image_not_referred_to", "exact_duplicate",
        "near_duplicate", "ocr_error",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "evidence"),
    [
        ({"subjects": ["biology"]}, r"its subject is 'physics'; wanted: biology"),
        ({"languages": ["de", "fr"]}, r"its language is 'en'; wanted: de, fr"),
        ({"since": 2020}, r"its paper is of 2019; wanted: since 2020"),
    ],
)
def test_out_of_scope(make: Make, look: Look, params: dict[str, Any], evidence: str) -> None:
    problem = make(subject="physics", year=2019)
    assert evidence in str(reasons.out_of_scope(look(problem, params=FilterParams(**params))))
    wanted = FilterParams(subjects=["physics"], languages=["en"], since=2019)
    assert reasons.out_of_scope(look(problem, params=wanted)) is None
    undated = make(subject="physics")
    assert reasons.out_of_scope(look(undated, params=wanted)) is None, "nothing is known of it"


@pytest.mark.parametrize(
    "task",
    [
        "Prove that the path is a circle.", "b) Show that $a = g$.", "Sketch the orbit.",
        "Demuestre que el camino es un círculo.", "Zeigen Sie, dass die Bahn ein Kreis ist.",
        "求证：小车的路程是一个圆。",
    ],
)  # fmt: skip
def test_out_of_scope_is_what_no_answer_compares_with(make: Make, look: Look, task: str) -> None:
    problem = make(question=f"Figures 1 and 2 show a cart. {task}")
    assert "with which no answer can be compared" in str(reasons.out_of_scope(look(problem)))
    assert reasons.out_of_scope(look(problem, params=FilterParams(proofs=True))) is None
    with_choices = problem.model_copy(update={"choices": LETTERS})
    assert reasons.out_of_scope(look(with_choices)) is None


def test_a_number_of_choices_is_in_scope(make: Make, look: Look) -> None:
    four = FilterParams(preset="usnco-v")
    assert reasons.out_of_scope(look(make(choices=LETTERS, answer=["A"]), params=four)) is None
    three = make(choices=LETTERS[:3], answer=["A"])
    assert reasons.out_of_scope(look(three, params=four)) == "it has 3 choices; wanted: 4"
    assert reasons.out_of_scope(look(make(), params=four)) == "it has no choices; wanted: 4"


@pytest.mark.parametrize(
    "question",
    [
        "Prove that the cart of Figures 1 and 2 stops. How far does it go?",
        "Figures 1 and 2 show a cart. How can one show that it stops?",
        "(1)求证：两图中的小车会停下;(2)求路程。",
        "Figures 1 and 2 show a cart. Obtain its speed. Take its mass as small. Draw a sketch.",
        "Draw your conclusion from Figures 1 and 2: (a) is it fast; (b) how far does it go?",
    ],
)
def test_a_proof_on_the_way_is_in_scope(make: Make, look: Look, question: str) -> None:
    assert reasons.out_of_scope(look(make(question=question))) is None


@pytest.mark.parametrize(
    "question",
    [
        "T h e c a r t o f Figures 1 and 2 is s l o w",
        "Th~e c@rt o¬f Figures 1 and 2 ¤¤§ is m|l slo#w",
    ],
)
def test_statement_illegible(make: Make, look: Look, question: str) -> None:
    found = reasons.statement_illegible(look(make(question=question)))
    assert found is not None
    assert "at least 0.8 are needed" in found
    lax = FilterParams(min_legible=0.0)
    assert reasons.statement_illegible(look(make(question=question), params=lax)) is None


@pytest.mark.parametrize(
    "question",
    [
        "Figures 1 and 2: $\\frac{a_1}{b^2} \\le |x|$ with x_1 = 3 m/s², ♀ × ♂, ΔH° = −5 kJ·mol⁻¹.",
        "Points A, B, C, D, E and F lie on the circles of Figures 1 and 2.",
        "图1和图2表示小车的速度和道路，求小车在八秒内走过的路程。",
        "The oxides Al₂O₃, CO₂, NaOH(aq) and 5'-ATG-3' of Figures 1-2; fill in ____.",
    ],
)
def test_statement_legible(make: Make, look: Look, question: str) -> None:
    assert reasons.statement_illegible(look(make(question=question))) is None


@pytest.mark.parametrize(
    ("question", "evidence"),
    [
        ("Find the mass. [IMAGE0] [IMAGE1]", r"3 words; at least 6"),
        ("Figure 1 and Figure 2 show a spring that is pulled with a force of", r"breaks off"),
        ("Figures 1 and 2 show a spring; its far end is fixed, and then,", r"breaks off"),
        ("Las figuras 1 y 2 muestran un resorte que cuelga de la", r"breaks off"),
        ("Figures 1 and 2 show a spring. Which of the following holds for it?", r"no choices"),
        ("Figures 1 and 2 show the curve $y = x^2. How long is it?", r"1 dollar sign"),
        ("Figures 1, 2 and 5 show one spring each. Which is the softest?", r"refers to figure 5"),
    ],
)
def test_statement_incomplete(make: Make, look: Look, question: str, evidence: str) -> None:
    found = reasons.statement_incomplete(look(make(question=question)))
    assert found is not None
    assert re.search(evidence, found)


@pytest.mark.parametrize(
    "choices",
    [
        [Choice(label="A", text="1 m")],
        [Choice(label="A", text="1 m"), Choice(label="C", text="2 m")],
        [Choice(label="A", text="1 m"), Choice(label="B", text=" ")],
    ],
)
def test_statement_incomplete_without_its_choices(
    make: Make, look: Look, choices: list[Choice]
) -> None:
    assert reasons.statement_incomplete(look(make(choices=choices, answer=["A"])))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"question": "Figures 1 and 2 show a spring. Its length is", "choices": LETTERS},
        {"question": "Figures 1 and 2 show a spring. Give its length in metres"},
        {"question": "图1和图2表示小车的速度和道路，求小车在八秒内走过的路程。"},
        {"question": "Figures 1 and 2 show a spring. Which of the following?", "choices": LETTERS},
        {"question": "In Figures 1-2 a spring hangs. Find its period $T$ = ____"},
        {"question": "Figures 1 and 2 show a spring. Table 4 gives its lengths. Find $k$."},
        {"question": "Figures 1 and 2:", "choices": LETTERS},
        {"question": "Figures 1 and 2 show a cart. State for each: it stops. TRUE FALSE\n\n---"},
        {"question": "Figures 1 and 2 show: <table><tr><td>4</td></tr></table>"},
        {"question": "Figures 1 and 2 show a cart. Find\n(a) its speed at $t = 0$;"},
        {"question": "In which of the following is it fast?\nI.\n[IMAGE0]\nII.\n[IMAGE1]"},
        {"question": "Which cart is slow?", "choices": PICTURES, "answer": ["A"]},
    ],
)
def test_statement_complete(make: Make, look: Look, fields: dict[str, Any]) -> None:
    assert reasons.statement_incomplete(look(make(**fields))) is None


@pytest.mark.parametrize("answer", [None, [], [""], ["(a) 3 m", " — "]])
def test_answer_missing(make: Make, look: Look, answer: list[str] | None) -> None:
    assert reasons.answer_missing(look(make(answer=answer)))


@pytest.mark.parametrize("answer", [["0"], ["A"], ["-1"], ["TRUE", "FALSE"]])
def test_answer_present(make: Make, look: Look, answer: list[str]) -> None:
    assert reasons.answer_missing(look(make(answer=answer))) is None


def test_sources_that_disagree_leave_the_answer_ambiguous(make: Make, look: Look) -> None:
    found = reasons.answer_ambiguous(look(make(warnings=["answer_conflict: key 3, solution 4"])))
    assert found == "the sources disagree: key 3, solution 4"


def test_answer_ambiguous_only_where_one_option_is_asked_for(make: Make, look: Look) -> None:
    several = "Figures 1 and 2 show a cart. Mark all statements that apply."
    double = make(choices=LETTERS, answer=["B", "D"])
    evidence = reasons.answer_ambiguous(look(double))
    assert evidence == "the key names 2 choices (B, D) where one is asked for"
    asked = make(choices=LETTERS, answer=["B", "D"], question=several)
    assert reasons.answer_ambiguous(look(asked)) is None
    for question in ("The reason/s for the stop in Figures 1 and 2 is/are:", "Tick the option(s)."):
        plural = make(choices=LETTERS, answer=["B", "D"], question=question)
        assert reasons.answer_ambiguous(look(plural)) is None
    assert reasons.answer_ambiguous(look(make(choices=LETTERS, answer=["B"]))) is None
    assert reasons.answer_ambiguous(look(make(answer=["3 m or 5 m"])))
    assert reasons.answer_ambiguous(look(make(answer=["3 m"]))) is None


def test_too_few_images_counts_contents(make: Make, look: Look) -> None:
    problem = make()
    twice = make(images=[problem.images[0], problem.images[0]])
    evidence = reasons.too_few_images(look(twice))
    assert evidence == "1 distinct of 2 images; at least 2 are needed"
    assert reasons.too_few_images(look(twice, params=FilterParams(min_images=1))) is None
    assert reasons.too_few_images(look(problem)) is None


@pytest.mark.parametrize(
    ("question", "left_out"),
    [
        ("A cart rolls down a long road. How far does it travel in 8 s?", "no word"),
        ("A cart has the speed of Figure 1. How far does it travel in 8 s?", "figure 2"),
        ("Give the period to three significant figures for a cart of 2 kg.", "no word"),
        ("Un carro recorre un camino largo. ¿Qué distancia recorre en 8 s?", "no word"),
        ("小车沿长路行驶，求八秒内走过的路程是多少？", "no word"),
    ],
)
def test_image_not_referred_to(make: Make, look: Look, question: str, left_out: str) -> None:
    evidence = reasons.image_not_referred_to(look(make(question=question)))
    assert evidence is not None
    assert left_out in evidence


@pytest.mark.parametrize(
    "question",
    [
        "Use the graph and the drawing to find how far the cart rolls.",
        "Figures 1–2 describe a cart. How far does it roll?",
        "Fig. 1 is about speed, and see also Fig. 2. How far does the cart roll?",
        "La gráfica y el esquema describen un carro. ¿Hasta dónde llega?",
        "O gráfico mostra a velocidade. Até onde vai o carro?",
        "Abbildung 1 und Abbildung 2 zeigen einen Wagen. Wie weit rollt er?",
        "Les figures 1 et 2 décrivent un chariot. Jusqu'où va-t-il ?",
        "如图所示，小车沿斜面下滑，求路程。",
        "图1和图2描述小车的运动，求路程。",
        "Table 1 lists the masses. Use the graph to find how far the cart rolls.",
        "The pyramids below give the ages of two species. Which one grows?",
        "Two carts P and Q roll as follows:\n[IMAGE0]\n[IMAGE1]",
    ],
)
def test_image_referred_to(make: Make, look: Look, question: str) -> None:
    assert reasons.image_not_referred_to(look(make(question=question))) is None


def test_a_caption_refers_to_nothing(make: Make, look: Look) -> None:
    captioned = (
        "A cart rolls for 8 s. How far does it travel?\n"
        "[IMAGE0]\nFigure 1: The speed.\n[IMAGE1]\nFigure 2: The road."
    )
    assert reasons.image_not_referred_to(look(make(question=captioned)))


def test_picture_choices_refer_to_themselves(make: Make, look: Look) -> None:
    choices = [Choice(label="A", image=0), Choice(label="B", image=1)]
    chosen = make(question="Where does a cart on a smooth road end?", choices=choices)
    assert reasons.image_not_referred_to(look(chosen)) is None


def test_exact_duplicate_whatever_the_numbering(make: Make, look: Look, draw: Draw) -> None:
    first = make()
    again = make(
        id="mechanics-9",
        question=first.question.replace("Figure 1", "Figure 7").replace("Figure 2", "FIGURE 8"),
        images=[
            draw("speed2.png", [(0, 90), (40, 20), (95, 60)], "Figure 7: The speed.", margin=9),
            draw("road2.png", [(0, 10), (95, 85)], "Figure 8: The road.", margin=4),
        ],
    )
    assert {f.sha256 for f in first.images}.isdisjoint(f.sha256 for f in again.images)
    evidence = reasons.exact_duplicate(look(again, first))
    assert evidence is not None
    assert "same text as mechanics-1" in evidence
    assert reasons.exact_duplicate(look(again)) is None


def test_same_words_about_other_pictures_are_another_problem(
    make: Make, look: Look, draw: Draw
) -> None:
    other = make(
        id="mechanics-2",
        images=[draw("x.png", [(0, 10), (50, 95), (95, 10)]), draw("y.png", [(0, 50), (95, 50)])],
    )
    assert reasons.exact_duplicate(look(other, make())) is None
    assert reasons.near_duplicate(look(other, make())) is None


def test_a_threshold_that_minhash_cannot_promise_is_searched_in_full(
    make: Make, look: Look
) -> None:
    first = make(id="a-1")
    loose = make(
        id="b-1",
        question="Figures 1 and 2 show the speed and the road of a cart. How far does it travel?",
    )
    half = FilterParams(near_duplicate=0.5)
    assert "similar to a-1" in str(reasons.near_duplicate(look(loose, first, params=half)))
    assert reasons.near_duplicate(look(loose, first)) is None


def test_which_warnings_are_unresolved_errors_is_a_parameter(make: Make, look: Look) -> None:
    problem = make(warnings=["low_confidence: 0.31 on page 2"])
    assert reasons.ocr_error(look(problem)) is None
    strict = FilterParams(unresolved=["low_confidence"])
    assert "low_confidence: 0.31" in str(reasons.ocr_error(look(problem, params=strict)))


def test_near_duplicate_needs_like_text_and_like_figures(make: Make, look: Look) -> None:
    first = make()
    reworded = make(id="b-2", question=first.question.replace("How far does", "What way does"))
    evidence = reasons.near_duplicate(look(reworded, first))
    assert evidence is not None
    assert re.search(r"text is 0\.9\d+ similar to mechanics-1, at least 0\.85", evidence)
    assert reasons.exact_duplicate(look(reworded, first)) is None
    another = make(
        id="b-3",
        question="Figures 1 and 2 show a hill and a lake. Which is older, and by how much?",
    )
    assert reasons.near_duplicate(look(another, first)) is None
    strict = FilterParams(near_duplicate=1.0)
    assert reasons.near_duplicate(look(reworded, first, params=strict)) is None


def test_moved_sentences_make_no_other_problem(make: Make, look: Look) -> None:
    one = "A block hangs from two springs, and Figure 1 gives the force of the first one. "
    two = "The upper spring is twice as stiff as the lower; see Figure 2 for the scale. "
    ask = "By how much does the block sink when another body of 2 kg is put on top of it?"
    first = make(question=one + two + ask)
    moved = make(id="b-2", question=two + one + ask)
    evidence = reasons.near_duplicate(look(moved, first))
    assert evidence is not None
    shuffled = make(id="b-3", question=" ".join(sorted((one + two + ask).split())))
    assert reasons.near_duplicate(look(shuffled, first)) is None


def test_problems_of_one_stem_are_no_near_duplicates(make: Make, look: Look) -> None:
    first = make(group="mechanics-1-2")
    second = make(
        id="mechanics-2",
        group="mechanics-1-2",
        question=first.question.replace("How far", "How high"),
    )
    assert reasons.near_duplicate(look(second, first)) is None
    elsewhere = second.model_copy(update={"source": "another paper"})
    assert reasons.near_duplicate(look(elsewhere, first))


@pytest.mark.parametrize(
    ("fields", "evidence"),
    [
        ({"question": "Figures 1 and 2 show a cart of mass \ufffd kg. Find it."}, "U+FFFD"),
        ({"question": "Figures 1 and 2 show the angle \uf061 of a cart."}, "U+F061"),
        ({"question": "Figures 1 and 2 show a cart (cid:31) on a road."}, "(cid:31)"),
        ({"answer": ["\ue001 m"]}, "answer 1"),
        ({"choices": [Choice(label="A", text="\ufffd"), Choice(label="B", text="1")]}, "choice A"),
        ({"warnings": ["math_suspect: x 2 on page 3"]}, "math_suspect: x 2 on page 3"),
    ],
)
def test_ocr_error(make: Make, look: Look, fields: dict[str, Any], evidence: str) -> None:
    found = reasons.ocr_error(look(make(**fields)))
    assert found is not None
    assert evidence in found


def test_no_ocr_error_in_other_scripts_and_warnings(make: Make, look: Look) -> None:
    text = "Figures 1 and 2: α ≥ 30°, Ω ∈ ℝ, Größe, 小车\n\tFind x."
    problem = make(question=text, warnings=["number_gap: 3 after 1"])
    assert reasons.ocr_error(look(problem)) is None


@pytest.mark.parametrize(
    "hostile",
    ["Figure 1 " * 9_000, "Figures " + "1-" * 9_000, "\n" * 9_000 + "Figure 1", "all " * 9_000,
     "a" + "!" * 9_000 + "1", "the " * 9_000, "." + " " * 9_000 + "x", "(" * 9_000],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_no_text_of_a_paper_holds_the_filter_up(make: Make, look: Look, hostile: str) -> None:
    case = look(make(question=hostile, answer=[hostile, "A" + " " * 9_000 + "!"]), make())
    for name in REASONS.built_in_names:
        found = REASONS.get(name)(case)
        assert found is None or found, name
