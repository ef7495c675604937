"""Templates: what is left of a prompt where a slot stands idle."""

from __future__ import annotations

import pytest

from omibench.settings.registry import PROMPTS
from omibench.settings.templates import CHOICES, EXAMPLES, QUESTION, drop_slot


@pytest.mark.parametrize(
    ("template", "left"),
    [
        ("[Question]\n{question}\n\n[Choices]\n{choices}\n\nGo!", "[Question]\n{question}\n\nGo!"),
        ("[Q]\n{question}\n[Choices]\n{choices}\nGo!", "[Q]\n{question}\nGo!"),
        ("{question}\n{choices}\nGo!", "{question}\nGo!"),
        ("{question} {choices}", "{question}"),
        ("{question}", "{question}"),
    ],
)
def test_what_goes_with_the_choices(template: str, left: str) -> None:
    assert drop_slot(template, CHOICES) == left


@pytest.mark.parametrize("name", PROMPTS.built_in_names)
def test_every_built_in_prompt_keeps_its_question_and_loses_idle_slots(name: str) -> None:
    prompt = PROMPTS.get(name)
    full = prompt.shape(lettered=True)
    assert full.count(QUESTION) == full.count(CHOICES) == 1
    for idle in (prompt.shape(lettered=False), prompt.shape(lettered=True, choices=False)):
        assert idle.count(QUESTION) == 1
        assert CHOICES not in idle
        assert EXAMPLES not in idle
        assert "[Choices]" not in idle
