"""Simulated judges that choose among samples: how well they discern, and how alike in prompts."""

from __future__ import annotations

import re

from tests.models.conftest import Make, reply

from omibench.schemas.request import Role
from omibench.text.fences import Section, fence_sections

RIGHT, WRONG, OTHER = "So \\boxed{B}.", "So \\boxed{C}.", "Well, so \\boxed{C}."
DRAWS = 400


def say(make: Make, role: Role, *texts: str, seed: int = 0, index: int = 0, **fields: float) -> str:
    names = [f"RESPONSE {letter}" for letter in "ABCD"] if len(texts) > 1 else ["RESPONSE"]
    sections = [Section(name, text) for name, text in zip(names, texts, strict=False)]
    return reply(make(seed=seed, **fields), role, "mcq", fence_sections(sections), index)


def share_of_right_wins(make: Make, **fields: float) -> float:
    wins = sum(
        say(make, "referee", RIGHT, WRONG, seed=seed, **fields) == "BETTER: A"
        for seed in range(DRAWS)
    )
    return wins / DRAWS


def test_a_referee_prefers_the_right_response_as_often_as_it_discerns(simulate: Make) -> None:
    # Two views differ by discernment with a variance of 2: P = Phi(d / sqrt 2).
    assert abs(share_of_right_wins(simulate, discernment=0.0) - 0.5) < 0.1
    assert abs(share_of_right_wins(simulate, discernment=1.0) - 0.760) < 0.09
    assert share_of_right_wins(simulate, discernment=50.0) == 1.0
    assert share_of_right_wins(simulate, discernment=-50.0) == 0.0


def test_marks_are_whole_numbers_of_the_scale_and_order_as_views_do(simulate: Make) -> None:
    for seed in range(20):
        marks = re.fullmatch(
            r"MARKS: (\d+), (\d+), (\d+)",
            say(simulate, "marker", RIGHT, WRONG, OTHER, seed=seed, discernment=50.0),
        )
        assert marks is not None
        assert int(marks[1]) == 100
        assert int(marks[2]) == int(marks[3]) == 0
    alone = {say(simulate, "marker", WRONG, index=i, lasting_taste=0.0) for i in range(20)}
    assert len(alone) > 5
    assert all(re.fullmatch(r"MARK: (\d{1,2}|100)", mark) for mark in alone)


def test_a_reward_head_says_its_view(simulate: Make) -> None:
    views = [
        [float(say(simulate, "marker", text, seed=seed, reward=True)) for seed in range(DRAWS)]
        for text in (RIGHT, WRONG)
    ]
    right, wrong = (sum(row) / DRAWS for row in views)
    assert abs(right - wrong - 0.4) < 0.3
