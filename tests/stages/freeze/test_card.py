"""The dataset card has a header that parses and a body that escapes what papers say."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from omibench.schemas.problem import Answer, Choice, Question
from omibench.schemas.tables import FrozenManifest
from omibench.stages.freeze.card import dataset_card


def card(*questions: Question, **fields: Any) -> str:
    manifest = FrozenManifest(
        **{
            "name": "set: one", "version": "1.0.0", "problems": len(questions), "images": 4,
            "questions_sha256": "a" * 64, "answers_sha256": "b" * 64, "subjects": {},
        } | fields
    )  # fmt: skip
    answers = [Answer(id=q.id, answer=["1"], answer_type=q.answer_type) for q in questions]
    return dataset_card(manifest, questions, answers)


OPEN = Question(id="p-1", question="How far?", subject="physics", source="paper", language="es")
MCQ = OPEN.model_copy(update={"id": "p-2", "choices": [Choice(label="A", text="1")]})


def header(text: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    return values


def test_header() -> None:
    values = header(card(OPEN, MCQ, licence="cc-by-4.0"))
    assert values["pretty_name"] == "set: one"
    assert values["version"] == "1.0.0"
    assert values["license"] == "cc-by-4.0"
    assert values["language"] == ["es"]
    assert values["size_categories"] == ["n<1K"]
    files = {config["config_name"]: config["data_files"] for config in values["configs"]}
    assert files == {"questions": "questions.jsonl", "answers": "answers.jsonl"}
    assert "license" not in header(card(OPEN))


def test_body_counts() -> None:
    text = card(OPEN, MCQ)
    assert "2 problems with 4 distinct images: 1 multiple-choice and 1 open-ended." in text
    assert "| physics | 2 |" in text
    assert "SIMULATED" not in text


def test_what_a_paper_says_is_escaped() -> None:
    hostile = OPEN.model_copy(update={"source": "<script>|\nx"})
    text = card(hostile)
    assert "| &lt;script>\\| x | 1 |" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    "licence", ["CC BY\n---\n# evil", "cc---", "CC: [", "mine\n---\nx: 1", "---", "cc\u2028---\r\n"]
)
def test_no_text_of_a_licence_ends_the_header(licence: str) -> None:
    text = card(OPEN, licence=licence)
    values = header(text)
    assert values["license"] == "other"
    assert values["license_name"] == licence
    assert values["pretty_name"] == "set: one"
    assert text.split("\n").count("---") == 2
    assert header(card(OPEN, licence="CC BY-SA 4.0"))["license"] == "cc-by-sa-4.0"


def test_no_name_is_a_link_or_a_picture_of_another_site() -> None:
    hostile = OPEN.model_copy(update={"source": "![x](http://a/b) `c` \\| \u202e\x1b[2J\u2028d"})
    (line,) = (line for line in card(hostile).split("\n") if "http" in line)
    assert line == "| !\\[x\\](http://a/b) \\`c\\` \\\\\\|   \\[2J d | 1 |"


def test_no_licence_is_invented_for_problems_without_one() -> None:
    from omibench.stages.freeze.card import join_licences

    assert join_licences(["CC BY 4.0", "CC0", "CC0"]) == "CC BY 4.0, CC0"
    assert join_licences(["CC BY 4.0", None]) is None
    assert join_licences([None]) is None
    licensed = MCQ.model_copy(update={"licence": "CC BY 4.0"})
    text = card(OPEN, licensed)
    assert "license" not in header(text)
    assert "1 of 2 problems state no licence. The others: CC BY 4.0." in text
    assert "1 of 1 problems state no licence.\n" in card(OPEN)
    assert "state no licence" not in card(licensed, licence="CC BY 4.0")
