"""Problems are put into English only where the translation keeps what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from omibench.params.stages.filter import TranslationParams
from omibench.params.study import Study
from omibench.schemas.problem import Choice, Figure, Problem
from omibench.schemas.request import Request, Response
from omibench.stages.filter.translation import collect_texts, read_translation, translate_problems
from omibench.text.fences import read_fenced

Make = Callable[..., Problem]
PARAMS = TranslationParams(model="pen")
QUESTION = (
    "Un carro no se detiene. La Figura 1 muestra su rapidez y la Figura 2, el camino. ¿Qué "
    "distancia recorre en 8,0 s?\n[IMAGE0]\nFigura 1: La rapidez.\n[IMAGE1]"
)
GOOD = """\
QUESTION:
A cart does not stop. Figure 1 shows its speed and Figure 2 the road. How far does it travel in \
8.0 s?
[IMAGE0]
Figure 1: The speed.
[IMAGE1]
CHOICE A:
12.5 m
CHOICE B:
more than 13 m
"""
BAD = GOOD.replace("8.0 s", "80 s")


class Scripted:
    """Models that reply what they are told, in turn, and remember what they were asked."""

    study = Study()

    def __init__(self, *replies: Response | str) -> None:
        self.replies = list(replies)
        self.asked: list[Request] = []

    def ask(self, model: str, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        self.asked += requests
        found = []
        for request in requests:
            reply = self.replies.pop(0)
            response = Response(text=reply) if isinstance(reply, str) else reply
            found.append((f"key-{request.tags.problem}-{request.index}", response))
        return found


def put(models: Scripted, *problems: Problem, params: TranslationParams = PARAMS) -> list[Any]:
    return translate_problems(problems, params, models)  # type: ignore[arg-type]


@pytest.fixture
def spanish(make: Make) -> Problem:
    """A problem in Spanish, with a caption under its first figure and choices."""
    one, two = make().images
    return make(
        id="es-1", language="es", question=QUESTION, answer=["A"],
        images=[one.model_copy(update={"caption": "Figura 1: La rapidez."}), two],
        choices=[Choice(label="a", text="12,5 m"), Choice(label="b", text="más de 13 m")],
    )  # fmt: skip


def test_a_checked_translation_takes_the_place_of_the_original_which_is_kept(
    spanish: Problem,
) -> None:
    models = Scripted(GOOD)
    (judged,) = put(models, spanish)
    problem = judged.problem
    assert judged.evidence is None
    assert problem.language == "en"
    assert problem.question.startswith("A cart does not stop.")
    assert [choice.text for choice in problem.choices] == ["12.5 m", "more than 13 m"]
    assert [choice.label for choice in problem.choices] == ["a", "b"]
    assert problem.images[0].caption == "Figure 1: The speed."
    assert problem.images[1] == spanish.images[1]
    assert problem.original.question == QUESTION
    assert problem.original.choices == spanish.choices
    assert (problem.original.language, problem.original.translator) == ("es", "pen")
    assert list(map(str, problem.warnings)) == ["translation: from es by pen"]
    (told,) = judged.judgements
    assert (told.judgement, told.model, told.keys) == ("translation", "pen", ["key-es-1-0"])
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


def test_what_is_asked_stands_in_fences(spanish: Problem) -> None:
    models = Scripted(GOOD)
    put(models, spanish)
    (request,) = models.asked
    assert request.tags.role == "translator"
    assert read_fenced(request.conversation.text) == {
        "QUESTION": QUESTION, "CHOICE A": "12,5 m", "CHOICE B": "más de 13 m"
    }  # fmt: skip
    assert request.conversation.images == []


def test_a_translation_that_fails_is_asked_for_once_more(spanish: Problem) -> None:
    models = Scripted(BAD, GOOD)
    (judged,) = put(models, spanish)
    assert judged.problem.language == "en"
    assert [request.index for request in models.asked] == [0, 1]
    assert judged.judgements[0].asked == 2
    assert "numbers: lost '8,0'; new '80'" in judged.judgements[0].answers[0]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (BAD, "numbers: lost '8,0'; new '80'"),
        ("Sure! " + GOOD.replace("CHOICE B:", "B:"), "does not hold the sections"),
        (GOOD.replace("does not stop", "stops"), "negations: in 1 sentences of the original, in 0"),
        (GOOD.replace("more than 13 m", ""), "the translation is empty"),
        (Response(text="No.", outcome="refused"), "the translator's reply is refused"),
    ],
)
def test_one_that_fails_twice_is_not_used(spanish: Problem, reply: str, why: str) -> None:
    (judged,) = put(Scripted(reply, reply), spanish)
    assert judged.evidence is None, "nothing is rejected for it"
    assert judged.problem.model_copy(update={"warnings": []}) == spanish
    (warning,) = judged.problem.warnings
    assert str(warning).startswith("translation: not used, ")
    assert why in warning.detail
    assert why in judged.judgements[0].answers[1]


def test_english_is_left_alone_and_order_kept(spanish: Problem, make: Make) -> None:
    models = Scripted(GOOD)
    first, second = put(models, make(id="en-1"), spanish)
    assert (first.problem.id, second.problem.id) == ("en-1", "es-1")
    assert first.judgements == []
    assert len(models.asked) == 1


def test_an_answer_in_words_is_left_and_said_so(make: Make) -> None:
    problem = make(
        language="es", answer=["el nitrógeno", "3 N"],
        question="La Figura 1 y la Figura 2. ¿Qué gas es?", images=[Figure(file="a", sha256="a")],
    )  # fmt: skip
    (judged,) = put(Scripted("QUESTION:\nFigure 1 and Figure 2. Which gas is it?"), problem)
    assert judged.problem.answer == ["el nitrógeno", "3 N"]
    assert "translation: the answer 'el nitrógeno' is left in es" in list(
        map(str, judged.problem.warnings)
    )


def test_only_the_sections_that_were_shown_are_read(spanish: Problem) -> None:
    original = collect_texts(spanish)
    read = read_translation(GOOD, original)
    assert read is not None
    assert read.choices == ("12.5 m", "more than 13 m")
    for reply in ("", GOOD + GOOD, GOOD.replace("CHOICE A", "CHOICE C"), "QUESTION: in one line"):
        assert read_translation(reply, original) is None
