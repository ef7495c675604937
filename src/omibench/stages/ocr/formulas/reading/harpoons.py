"""Signs that are set as two, one above the other: equilibrium arrows, congruence."""

from __future__ import annotations

from omibench.stages.ocr.formulas.reading.units import InkField, RowUnit
from omibench.stages.ocr.layout.layout import Box

_UPPER = frozenset({"\\rightharpoonup", "\\leftharpoonup"})
_LOWER = frozenset({"\\leftharpoondown", "\\rightharpoondown"})
_BELOW = 0.7
"""Maximum distance between the two baselines, in type sizes."""
_OVERLAID = 0.15
"""Maximum difference between the ends of the two signs of a congruence, in type sizes."""


def join_harpoons(field: InkField) -> None:
    """Attach each lower harpoon, with the dashes that lengthen it, to the upper one."""
    for upper in [u for u in field.units if _latex(u) in _UPPER]:
        reach = 1.5 * upper.size
        around = Box(
            upper.box.x0 - reach,
            upper.box.y0,
            upper.box.x1 + reach,
            upper.box.y1 + _BELOW * upper.size,
        )
        near = [u for u in field.centred_in(around) if u.baseline > upper.baseline]
        for lower in [u for u in near if _latex(u) in _LOWER]:
            dashes = [u for u in near if _latex(u) == "-" and _is_level(u, lower)]
            for unit in [lower, *dashes]:
                field.remove(unit)
                upper.scripts.append(unit)
            break


def join_congruences(field: InkField) -> None:
    """Attach each tilde over an equals sign to it, as Computer Modern sets `\\cong`."""
    for tilde in [u for u in field.units if _latex(u) == "\\sim"]:
        below = tilde.box._replace(y0=tilde.box.y1, y1=tilde.box.y1 + _BELOW * tilde.size)
        for equals in field.centred_in(below):
            ends = (equals.box.x0 - tilde.box.x0, equals.box.x1 - tilde.box.x1)
            if _latex(equals) == "=" and max(map(abs, ends)) < _OVERLAID * tilde.size:
                field.remove(tilde)
                equals.scripts.append(tilde)
                break


def _latex(unit: RowUnit) -> str:
    return unit.glyph.symbol.latex if unit.glyph else ""


def _is_level(unit: RowUnit, lower: RowUnit) -> bool:
    return abs(unit.baseline - lower.baseline) < 0.1 * lower.size
