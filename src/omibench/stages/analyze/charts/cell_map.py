"""Heat maps with one row per model and one column per setting, for studies with many cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt

from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.stages.analyze.charts.marks import (
    MOST_ROWS,
    WIDTH,
    embed_data,
    make_title,
    model_name,
)
from omibench.stages.analyze.charts.theme import INK, SERIES, Chart

MOST_SERIES: Final = len(SERIES)
"""The number of settings that colours can distinguish; with more, a figure is a heat map."""
MOST_OPAQUE: Final = 0.75
"""The lightness of the highest value, so that numbers on it stay readable."""
_STEP: Final = 24
_NAME_ROOM, _LETTER = 280, 7
"""The width of row names, and of a letter, in pixels."""


def needs_map(cells: Sequence[Cell]) -> bool:
    """Return whether there are too many cells for a row or a symbol each."""
    return len(cells) > MOST_ROWS or len({cell.setting for cell in cells}) > MOST_SERIES


def draw_cell_map(
    results: Results, shares: Mapping[Cell, float], title: str, *subtitle: str, simulated: bool
) -> Chart:
    """Draw one number for every cell.

    Args:
        results: The study's results.
        shares: Number of each cell, in per cent; rows and columns follow the study's order.
        title: Title of the figure.
        subtitle: Lines below the title.
        simulated: Whether to mark the title as simulated.
    """
    models = list(dict.fromkeys(cell.model for cell in shares))
    columns = list(dict.fromkeys(results.setting_label(cell.setting) for cell in shares))
    highest = max(shares.values(), default=0) or 1.0
    data = [
        {
            "model": model_name(results, cell.model),
            "setting": results.setting_label(cell.setting),
            "share": share,
            "strength": MOST_OPAQUE * share / highest,
        }
        for cell, share in shares.items()
    ]
    room = (WIDTH - _NAME_ROOM) / max(1, len(columns))
    # Rotate names that do not fit side by side.
    angle = 0 if _LETTER * max(map(len, columns), default=0) < room else -40
    names = [model_name(results, model) for model in models]
    base = alt.Chart(embed_data(data)).encode(
        x=alt.X(
            "setting:N",
            sort=None,
            scale=alt.Scale(domain=columns),
            title=None,
            axis=alt.Axis(labelAngle=angle, orient="top"),
        ),
        y=alt.Y("model:N", sort=None, scale=alt.Scale(domain=names), title=None),
    )
    squares = base.mark_rect(color=SERIES[0]).encode(
        opacity=alt.Opacity("strength:Q", scale=None, legend=None)
    )
    text = base.mark_text(color=INK).encode(text=alt.Text("share:Q", format=".0f"))
    return alt.layer(squares, text).properties(
        width=WIDTH,
        height={"step": _STEP},
        title=make_title(title, *subtitle, simulated=simulated),
    )
