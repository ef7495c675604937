"""Circuits and bodies: keys found again from the pictures, and no picture that can be left out."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pytest
from PIL import Image

from generators.conftest import Make
from omibench.datasets.generators.body import Views, list_possible, view_stacks
from omibench.datasets.generators.make import MadeProblem

DIFFICULTIES = pytest.mark.parametrize("difficulty", [1, 2, 3, 4, 5])
Shown = list[tuple[tuple[str, ...], tuple[tuple[str, int, int], ...], tuple[str, ...]]]


def pick(problem: MadeProblem) -> str:
    """The text of the right choice."""
    return next(c.text or "" for c in problem.choices or [] if c.label == problem.answer[0])


def run_signals(parts: Shown, known: dict[str, int]) -> dict[str, int]:
    """The values at all letters and lamps that can be known, by truth tables and letters alone."""
    tables = {
        "AND": {(1, 1)}, "OR": {(0, 1), (1, 0), (1, 1)}, "XOR": {(0, 1), (1, 0)},
        "NOT": {(0, 0), (0, 1)},
    }  # fmt: skip
    known = {"0": 0, "1": 1, **known}
    waiting = [*parts]
    while ready := [part for part in waiting if {*part[0]} <= known.keys()]:
        for starts, gates, ends in ready:
            wires = [known[start] for start in starts]
            for operation, box, dot in gates:
                wires[box] = int((wires[box], wires[dot]) in tables[operation])
            known |= dict(zip(ends, wires, strict=True))
        waiting = [part for part in waiting if part not in ready]
    return known


def write_lamps(known: dict[str, int]) -> str:
    lamps = sorted(name for name in known if name.startswith("lamp"))
    return ", ".join(f"{lamp} = {known[lamp]}" for lamp in lamps)


@DIFFICULTIES
def test_lamps_follow_from_letters(make: Make, difficulty: int) -> None:
    for problem in make("circuit", "lamps", 60, difficulty=difficulty):
        parts = [drawing.values for drawing in problem.pictures]
        assert len(parts) == difficulty + 1
        assert write_lamps(run_signals(parts, {})) == pick(problem)


@DIFFICULTIES
def test_no_part_of_a_circuit_can_be_left_out(make: Make, difficulty: int) -> None:
    for problem in make("circuit", "lamps", 30, difficulty=difficulty):
        parts = [drawing.values for drawing in problem.pictures]
        choices = {choice.text for choice in problem.choices or []}
        for unseen in parts:
            others = [part for part in parts if part is not unseen]
            possible = {
                write_lamps(run_signals(others, dict(zip(unseen[2], values, strict=True))))
                for values in product((0, 1), repeat=len(unseen[2]))
            }
            assert len(possible & choices) > 1


def read_squares(data: bytes) -> np.ndarray:
    """The squares of a picture, top row first: True where grey."""
    pixels = np.asarray(Image.open(io.BytesIO(data)))
    centres = pixels[60 + 20 :: 40, :]
    column = np.flatnonzero(pixels[60 + 20] < 100)
    left = column[0]
    middles = range(left + 20, column[-1], 40)
    return centres[: (pixels.shape[0] - 90) // 40, middles] < 230


def read_views(problem: MadeProblem) -> dict[str, np.ndarray]:
    names = {
        drawing.values[0] if len(drawing.values) == 2 else "above": read_squares(drawing.draw())
        for drawing in problem.pictures
    }
    return {"front": names["front"], "right": names["right"], "above": names["above"][::-1]}


@DIFFICULTIES
def test_cubes_are_counted_again_in_the_pictures(make: Make, difficulty: int) -> None:
    """The largest body is all cubes that no view shows to be empty."""
    for problem in make("body", "most", 25, difficulty=difficulty):
        views = read_views(problem)
        cubes = (
            views["front"][:, None, :] & views["right"][:, :, None] & views["above"][None, :, :]
        )  # level, row, column
        assert str(cubes.sum()) == problem.answer[0]
        assert (cubes.any(1) == views["front"]).all()
        assert (cubes.any(2) == views["right"]).all()


@DIFFICULTIES
def test_no_view_of_a_body_can_be_left_out(make: Make, difficulty: int) -> None:
    for problem in make("body", "most", 25, difficulty=difficulty):
        views = read_views(problem)
        front, right = (tuple(views[name].sum(0).tolist()) for name in ("front", "right"))
        above = tuple(tuple(map(int, row)) for row in views["above"])
        body = Views(front, right, above)
        assert body.are_of_a_body()
        assert all(len(list_possible(body, unseen)) > 1 for unseen in range(3))


def test_the_largest_body_is_that_of_all_bodies() -> None:
    """Every body of up to 2 x 2 stacks of up to 2 cubes, and all with the same views."""
    counts: dict[Views, int] = {}
    for a, b, c, d in product(range(3), repeat=4):
        views = view_stacks([[a, b], [c, d]])
        counts[views] = max(counts.get(views, 0), a + b + c + d)
    assert {views: views.count_most() for views in counts} == counts


def test_views_of_no_body_are_known() -> None:
    assert not Views((1, 2), (1, 1), ((1, 1), (1, 1))).are_of_a_body()
