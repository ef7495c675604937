"""Doubts from the painting order: programs paint the marks of a formula consecutively."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph

TORN = "other text is painted between the marks of the formula"
TAKEN = "one of its marks may have been read as part of another formula"


def find_torn(
    regions: Sequence[FormulaRegion], glyphs: Sequence[Glyph]
) -> Iterator[tuple[int, str]]:
    """Yield the formulas whose marks are not painted consecutively.

    Args:
        regions: Formulas of a page.
        glyphs: Glyphs of the page in painting order.

    Yields:
        Index of a formula and the doubt.
    """
    owners = {id(glyph): k for k, region in enumerate(regions) for glyph in region.glyphs}
    order = [owners.get(id(glyph)) for glyph in glyphs]
    places: dict[int, list[int]] = {}
    for place, owner in enumerate(order):
        if owner is not None:
            places.setdefault(owner, []).append(place)
    for owner, own in places.items():
        if own[-1] - own[0] + 1 == len(own):
            continue
        yield owner, TORN
        others = {order[place] for place in range(own[0], own[-1])} - {owner, None}
        for other in others:
            if other is not None:
                yield other, TAKEN
