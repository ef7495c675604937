"""Signs that are set as two, one above the other: equilibrium arrows, congruence, a stroke."""

from __future__ import annotations

from omibench.stages.ocr.formulas.reading.units import InkField, RowUnit

_UPPER = frozenset({"\\rightharpoonup", "\\leftharpoonup"})
_LOWER = frozenset({"\\leftharpoondown", "\\rightharpoondown"})
_BELOW = 0.7
"""Maximum distance between the two baselines, in type sizes."""
_OVERLAID = 0.15
"""Maximum difference between the ends of the two signs of a congruence, in type sizes."""


def join_harpoons(field: InkField) -> None:
    """Attach each lower harpoon, with the dashes that lengthen it, to the upper one.

    The arrow gets the baseline in the middle of its two halves, which is that of its row.
    """
    for upper in [u for u in field.units if u.latex in _UPPER]:
        around = upper.box.grow(1.5 * upper.size, 0)
        inside = field.centred_in(around._replace(y1=around.y1 + _BELOW * upper.size))
        near = [u for u in inside if u.baseline > upper.baseline]
        for lower in [u for u in near if u.latex in _LOWER]:
            dashes = [u for u in near if u.latex == "-" and _is_level(u, lower)]
            shift = (lower.baseline - upper.baseline) / 2
            above = [u for u in inside if u.latex == "-" and _is_level(u, upper)]
            for unit in [*above, upper]:
                unit.axis += shift
            for unit in [lower, *dashes]:
                field.remove(unit)
                upper.scripts.append(unit)
            break


def join_congruences(field: InkField) -> None:
    """Attach each tilde over an equals sign to it, as Computer Modern sets `\\cong`."""
    for tilde in [u for u in field.units if u.latex == "\\sim"]:
        below = tilde.box._replace(y0=tilde.box.y1, y1=tilde.box.y1 + _BELOW * tilde.size)
        for equals in field.centred_in(below):
            ends = (equals.box.x0 - tilde.box.x0, equals.box.x1 - tilde.box.x1)
            if equals.latex == "=" and max(map(abs, ends)) < _OVERLAID * tilde.size:
                field.remove(tilde)
                equals.scripts.append(tilde)
                break


def join_strokes(field: InkField) -> None:
    """Attach the stroke of Euler's `\\hbar`, which comes from a text font, to its letter."""
    for stroke in [u for u in field.units if u.latex == "-"]:
        if stroke.glyphs[0].symbol.kind != "piece":
            continue
        around = stroke.box.grow(stroke.size, stroke.size)
        for letter in field.centred_in(around):
            if letter.latex == "h" and letter.box.holds(stroke.box):
                field.remove(stroke)
                letter.scripts.append(stroke)
                break


def _is_level(unit: RowUnit, lower: RowUnit) -> bool:
    return abs(unit.baseline - lower.baseline) < 0.1 * lower.size
