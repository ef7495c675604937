"""Google Cloud Translation as translator, against a server that speaks its API."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security.hostile import Answer, Got, hostile

from omibench.errors import ModelError
from omibench.models.google_translate import mark_up, read_markup, read_translations
from omibench.models.registry import open_provider
from omibench.models.sdk import Failure
from omibench.params.models.registry import parse_model
from omibench.schemas.problem import Choice, Figure, Problem
from omibench.schemas.request import Request, Response, Tags, converse
from omibench.stages.filter.translation import (
    collect_texts,
    load_instructions,
    read_translation,
    translation_request,
)

KEY = "translate-key-0123456789"
ENGLISH = {"Ein Stab schwingt in": "A rod swings in", "Wie groß ist": "How large is"}
PROBLEM = Problem(
    id="de-1",
    source="paper.pdf",
    source_sha256="0" * 64,
    number="1",
    pages=[1],
    question="Ein Stab schwingt in [IMAGE0].\nWie groß ist $T < 2$ & $\\ce{H2O}$?",
    choices=[Choice(label="a", text="Wie groß ist 1 < 2"), Choice(label="b", image=0)],
    images=[Figure(file="a.png", sha256="0" * 64)],
    language="de",
)


@dataclass
class Google:
    """The state of the server: what it was sent, and how often it still refuses."""

    bodies: list[dict[str, Any]] = field(default_factory=list)
    busy: int = 0

    def reply(self, got: Got) -> Answer:
        assert got.path == "/language/translate/v2"
        if f"X-Goog-Api-Key: {KEY}\n" not in got.head:
            return write_answer(400, {"error": {"code": 400, "message": "API key not valid"}})
        if self.busy:
            self.busy -= 1
            return write_answer(429, {"error": {"code": 429, "message": "Rate limit"}})
        self.bodies.append(json.loads(got.body))
        rows = [{"translatedText": translate(text)} for text in self.bodies[-1]["q"]]
        return write_answer(200, {"data": {"translations": rows}})


def write_answer(status: int, value: object) -> Answer:
    return Answer(status, {"Retry-After": "0.1"}, [json.dumps(value).encode()])


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    state = Google()
    with hostile(state.reply) as server:
        monkeypatch.setenv("GOOGLE_TRANSLATE_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_TRANSLATE_URL", server.url)
        yield state


def translate(markup: str) -> str:
    """Translate HTML as the service does: no element marked so, with spaces beside elements."""
    pieces = re.split(r'(<span translate="no">.*?</span>|<br>)', markup)
    for i in range(0, len(pieces), 2):
        for german, english in ENGLISH.items():
            pieces[i] = pieces[i].replace(html.escape(german), english)
    return "".join(pieces)


PRICE = {"input": 20, "output": 0, "as_of": "2026-11-30"}


def ask(request: Request) -> Response:
    model = parse_model({"provider": "google-translate", "price": PRICE})
    ((_, response),) = open_provider("google", model).answer([request])
    return response


def request() -> Request:
    return translation_request(PROBLEM, load_instructions(None), 1024, 0, "s")


def test_a_problem_is_translated_and_its_formulas_and_marks_are_kept(google: Google) -> None:
    response = ask(request())
    texts = read_translation(response.text, collect_texts(PROBLEM))
    assert texts is not None
    assert texts.question == "A rod swings in [IMAGE0].\nHow large is $T < 2$ & $\\ce{H2O}$?"
    assert texts.choices == ("How large is 1 < 2", None)
    (body,) = google.bodies
    assert body["target"] == "en"
    assert "You translate" not in str(body)
    characters = sum(map(len, body["q"]))
    assert response.usage.input_tokens == characters
    assert response.cost_usd == pytest.approx(characters * 20e-6)


def test_a_rate_limit_is_waited_for(google: Google) -> None:
    google.busy = 2
    assert ask(request()).outcome == "answered"
    assert len(google.bodies) == 1


def test_a_wrong_key_is_one_line_without_the_key(
    google: Google, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_TRANSLATE_API_KEY", "a-wrong-key-9876543210")
    with pytest.raises(ModelError, match="API key not valid") as error:
        ask(request())
    assert "9876543210" not in str(error.value)
    assert "\n" not in str(error.value)


def test_another_role_is_refused(google: Google) -> None:
    other = Request(conversation=converse("", []), tags=Tags(role="judge", problem="p"))
    with pytest.raises(ModelError, match="only translates problems"):
        ask(other)
    assert google.bodies == []


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"data": {"translations": [{"translatedText": 3}]}}', b"[" * 10**5]
)
def test_a_reply_of_another_form_is_a_failure(body: bytes) -> None:
    with pytest.raises(Failure, match="does not hold the 1 translations"):
        read_translations(body, 1)


@given(st.text(st.sampled_from("ab $\\<>&\"'\n[]IMAGE0{}ñ"), max_size=60))
def test_markup_says_what_the_text_says(text: str) -> None:
    lines = [line.strip() for line in text.strip().split("\n")]
    assert [line.strip() for line in read_markup(mark_up(text)).split("\n")] == lines
