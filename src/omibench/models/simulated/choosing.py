"""Simulated judges that choose among samples: scorer of best-of-N, comparison judge, reward head.

Each has a view of a response on a normal scale: `discernment` for a right answer, a taste for the
answer that is the same in every prompt, and a random part per prompt. Because the taste is
constant, more candidates and more rounds help as little as with the reward models of EMMA (table
3).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from random import Random
from statistics import NormalDist

from omibench.models.simulated.equality import is_right, name_final_answer
from omibench.models.simulated.judging import read_section
from omibench.models.simulated.oracle import OracleRow
from omibench.params.models.simulated import SimulatedModel
from omibench.schemas.request import Role
from omibench.text.fences import read_fenced

Seeded = Callable[..., Random]
"""Creates a generator that depends only on the model and the given names."""
View = Callable[[str], float]
"""A judge's view of a response, in standard deviations around 0."""
_NORMAL = NormalDist()


def make_view(model: SimulatedModel, row: OracleRow, seeded: Seeded, rng: Random) -> View:
    """Return the view of a judge of responses to one problem, in one prompt.

    Args:
        model: The judge's block of params.
        row: The problem.
        seeded: Creates the generator of its taste for an answer.
        rng: The generator of the prompt.
    """

    def view(text: str) -> float:
        right = is_right(text, row.answer, bool(row.choices))
        answer = "right" if right else f"wrong {name_final_answer(text, len(row.answer))}"
        taste = seeded("taste", row.id, answer).gauss(0.0, 1.0)
        passing = rng.gauss(0.0, 1.0)
        share = model.lasting_taste
        spread = sqrt(share) * taste + sqrt(1 - share) * passing
        return spread + model.discernment * (right - 0.5)

    return view


def mark(prompt: str, view: View) -> str:
    """Return a mark from 0 to 100 for best-of-N: the normal quantile of the view.

    If the prompt contains several responses, return a mark for each.
    """
    rivals = [text for name, text in read_fenced(prompt).items() if name.startswith("RESPONSE ")]
    marks = [
        round(100 * _NORMAL.cdf(view(text)))
        for text in rivals or [read_section(prompt, "RESPONSE")]
    ]
    return f"MARKS: {', '.join(map(str, marks))}" if rivals else f"MARK: {marks[0]}"


def reward(response: str, view: View) -> str:
    """Return a reward head's number: the view itself."""
    return repr(round(view(response), 6))


def compare(prompt: str, view: View) -> str:
    """Return the better of two responses."""
    first, second = (view(read_section(prompt, name)) for name in ("RESPONSE A", "RESPONSE B"))
    return f"BETTER: {'A' if first >= second else 'B'}"


CHOOSERS: dict[Role, Callable[[str, View], str]] = {"marker": mark, "referee": compare}
