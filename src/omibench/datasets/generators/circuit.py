"""A logic circuit in parts: each picture shows one part, and its state runs through all of them.

Parts are joined by the letters at the ends of their wires, and come in no particular order, with
their wires in any order. The lamps depend on every part: `list_possible` tries all values that an
unseen part can pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Final, NamedTuple

from omibench.datasets.generators.canvas import Canvas
from omibench.datasets.generators.make import list_marks
from omibench.datasets.generators.registry import Draft, Drawing, generator

OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b,
    "NOT": lambda a, b: 1 - a,
}
"""The value of the wire with the box after it, by those of the box and of the dot before."""
LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Names of wires: not those that can be taken for a digit."""
_STEP, _ROW, _MARGIN = 80, 60, 90
"""Pixels from gate to gate, from wire to wire, and from the border to the wires."""
State = tuple[int, ...]


class Gate(NamedTuple):
    """A box on one wire, joined to a dot on another; NOT has no dot."""

    operation: str
    box: int
    dot: int


class Part(NamedTuple):
    """A part of a circuit: its wires from top to bottom, and its gates from left to right."""

    starts: tuple[str, ...]
    """The letters at the left ends, or the values of the switches there."""
    gates: tuple[Gate, ...]
    ends: tuple[str, ...]
    """The letters at the right ends, or the names of the lamps there."""
    order: tuple[int, ...]
    """The wire of the part before that each wire continues."""

    def run(self, state: State) -> State:
        """Return the values at the right ends, from those at the right ends of the part before."""
        values = [state[wire] for wire in self.order]
        for gate in self.gates:
            values[gate.box] = OPERATIONS[gate.operation](values[gate.box], values[gate.dot])
        return tuple(values)


def run_parts(parts: Sequence[Part], state: State) -> State:
    """Return the values after a row of parts."""
    for part in parts:
        state = part.run(state)
    return state


def list_possible(parts: Sequence[Part], unseen: int) -> set[State]:
    """Return every state of the lamps that is possible if one part is not seen.

    Args:
        parts: The parts in order; the first also shows the switches, the last the lamps.
        unseen: Place of the part. Behind it, each wire can have any value.
    """
    after = parts[unseen + 1 :]
    return {run_parts(after, state) for state in product((0, 1), repeat=len(parts[0].order))}


@generator("circuit", version=1, templates=("lamps",))
def make(template: str, random: Random, difficulty: int) -> Draft:
    """Make a circuit of 2 to 6 parts and 3 or 4 wires.

    The choices are the four states of two of the lamps, the others being right in all, and each
    part that is left out makes at least two of them possible.
    """
    count, wires = difficulty + 1, 3 if difficulty < 4 else 4
    while True:
        state = tuple(random.choice((0, 1)) for _ in range(wires))
        parts = _draw_parts(random, state, count, gates=wires + difficulty // 2)
        lamps = run_parts(parts, state)
        varied = random.sample(range(wires), 2)
        choices = [_replace(lamps, varied, values) for values in product((0, 1), repeat=2)]
        if all(len(list_possible(parts, k).intersection(choices)) > 1 for k in range(count)):
            break
    selection = random.sample(parts, count)
    places = {part: number for number, part in enumerate(selection, 1)}
    steps, now = [], state
    for part in parts:
        now = part.run(now)
        values = ", ".join(f"{end} = {value}" for end, value in zip(part.ends, now, strict=True))
        steps.append(f"Behind picture {places[part]}: {values}.")
    return Draft(
        question=(
            f"The {count} pictures show the parts of one circuit, in no particular order. Signals "
            "run from left to right, and wires with the same letter at their ends are joined. A "
            "wire begins with the value 0 or 1 that is written at a switch. A box replaces the "
            "value of its wire: by the result of its operation on this value and the value of the "
            "wire with the dot, or, if it is NOT, by the opposite value. What do the lamps show at "
            f"the end?\n{list_marks(count)}"
        ),
        pictures=[Drawing(draw_part, (part.starts, part.gates, part.ends)) for part in selection],
        answer=_write_state(lamps),
        wrong=[_write_state(choice) for choice in choices if choice != lamps],
        solution=" ".join([*steps, f"The lamps show {_write_state(lamps)}."]),
    )


def _draw_parts(random: Random, state: State, count: int, gates: int) -> list[Part]:
    wires = len(state)
    letters = random.sample(LETTERS, wires * (count - 1))
    starts, order = tuple(map(str, state)), tuple(range(wires))
    parts = []
    for number in range(count):
        drawn = []
        for _ in range(gates):
            box, dot = random.sample(range(wires), 2)
            drawn.append(Gate(random.choice((*OPERATIONS,)), box, dot))
        is_last = number == count - 1
        fresh = letters[number * wires : (number + 1) * wires]
        ends = tuple(f"lamp {k + 1}" for k in range(wires)) if is_last else tuple(fresh)
        parts.append(Part(starts, tuple(drawn), ends, order))
        order = tuple(random.sample(range(wires), wires))
        starts = tuple(ends[wire] for wire in order)
    return parts


def _replace(state: State, places: Sequence[int], values: Sequence[int]) -> State:
    changes = dict(zip(places, values, strict=True))
    return tuple(changes.get(place, value) for place, value in enumerate(state))


def _write_state(lamps: State) -> str:
    return ", ".join(f"lamp {number} = {value}" for number, value in enumerate(lamps, 1))


def draw_part(starts: Sequence[str], gates: Sequence[Gate], ends: Sequence[str]) -> bytes:
    """Draw the wires of a part with their gates; return a PNG."""
    width = 2 * _MARGIN + _STEP * (len(gates) + 1)
    canvas = Canvas(width, _ROW * (len(starts) + 1))
    for wire, (start, end) in enumerate(zip(starts, ends, strict=True)):
        y = _ROW * (wire + 1)
        canvas.line(_MARGIN, y, width - _MARGIN, y)
        if start.isdigit():
            canvas.box(_MARGIN - 60, y - 18, _MARGIN, y + 18)
            canvas.write(_MARGIN - 30, y, start)
        else:
            canvas.write(_MARGIN - 10, y, start, anchor="rm")
        canvas.write(width - _MARGIN + 10, y, end, anchor="lm")
    for column, gate in enumerate(gates, 1):
        x, y = _MARGIN + _STEP * column, _ROW * (gate.box + 1)
        if gate.operation != "NOT":
            canvas.line(x, y, x, _ROW * (gate.dot + 1))
            canvas.dot(x, _ROW * (gate.dot + 1))
        canvas.box(x - 26, y - 18, x + 26, y + 18)
        canvas.write(x, y, gate.operation)
    return canvas.to_png()
