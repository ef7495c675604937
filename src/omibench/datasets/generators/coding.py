"""Charts and the code that draws them: choose the code, choose the chart, or the change.

EMMA, B.1 and B.2: a chart and four variants, each with one property of the chart changed. One
variant, drawn at random, is the target; so choices alone do not give it away. The code that is
shown is that of the functions below with their arguments written in. Needs matplotlib.
"""

# The functions that draw are shown to models, without types, and each argument is a property.
# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: PLR0913, PLR0917, B905

from __future__ import annotations

import ast
import inspect
import io
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Final, NamedTuple

from omibench.datasets.generators.registry import Draft, Drawing, generator

VARIANTS: Final = 4
SIZE, DPI = (5, 4), 80
"""Inches, and pixels per inch."""
_NAMES: Final = ("north", "east", "south")
_COLORS: Final = ("crimson", "gold", "seagreen", "royalblue", "black", "orchid")
_POSITION: Final = "Alignment, Orientation, & Position"
Values = tuple[tuple[str, Any], ...]
"""The arguments of a chart by name."""

PROPERTIES: Final[Mapping[str, tuple[str, tuple[Any, ...]]]] = {
    "colors": ("Color & Texture", ()),
    "values": ("Data Reasoning", ()),
    "grid_axis": ("Gridline", ("x", "y", "both")),
    "legend_place": (
        "Legend", ("upper left", "upper right", "lower left", "lower right", "center")
    ),
    "line_style": ("Marker & Line", ("-", "--", ":", "-.")),
    "marker_form": ("Marker & Line", ("o", "s", "^", "x", "*")),
    "steps": ("Advanced Chart Type", ("default", "steps-pre", "steps-mid", "steps-post")),
    "texture": ("Color & Texture", ("", "//", "xx", "..", "--")),
    "scale": ("Axis & Scale", ("linear", "log")),
    "side": ("Axis & Scale", ("left", "right")),
    "tick_angle": (_POSITION, (0, 30, 60, 90, 120)),
    "title_place": (_POSITION, ("left", "center", "right")),
    "zero": ("Polar Coordinates", ("N", "E", "S", "W", "NE")),
    "direction": ("Polar Coordinates", (1, -1)),
    "azimuth": ("3D", (15, 40, 65, 120, 160)),
    "elevation": ("3D", (10, 30, 60)),
}  # fmt: skip
"""What a variant can change -> its skill in EMMA, and its options unless they are drawn."""
_DATA: Final = ("names", "values", "colors")
"""Arguments that the code has as variables."""


def _draw_lines(
    ax, names, values, colors, line_style, marker_form, steps, grid_axis, legend_place, scale
):
    for name, row, color in zip(names, values, colors):
        ax.plot(
            row, linestyle=line_style, marker=marker_form, drawstyle=steps, color=color, label=name
        )
    ax.set_yscale(scale)
    ax.grid(axis=grid_axis)
    ax.legend(loc=legend_place)


def _draw_bars(
    ax, names, values, colors, texture, grid_axis, legend_place, side, tick_angle, title_place
):
    for place, (name, row, color) in enumerate(zip(names, values, colors)):
        starts = [k + 0.25 * place for k in range(len(row))]
        ax.bar(starts, row, width=0.25, color=color, hatch=texture, edgecolor="white", label=name)
    ax.yaxis.set_ticks_position(side)
    ax.tick_params(axis="x", rotation=tick_angle)
    ax.grid(axis=grid_axis)
    ax.set_title("Yield by year", loc=title_place)
    ax.legend(loc=legend_place)


def _draw_areas(ax, names, values, colors, legend_place, side, tick_angle, title_place):
    ax.stackplot(range(len(values[0])), values, colors=colors, labels=names)
    ax.yaxis.set_ticks_position(side)
    ax.tick_params(axis="y", rotation=tick_angle)
    ax.set_title("Load by hour", loc=title_place)
    ax.legend(loc=legend_place)


def _draw_rose(ax, names, values, colors, texture, zero, direction, legend_place, title_place):
    for name, row, color in zip(names, values, colors):
        angles = [6.283 * k / len(row) for k in range(len(row))]
        ax.bar(angles, row, width=0.5, color=color, hatch=texture, alpha=0.6, label=name)
    ax.set_theta_zero_location(zero)
    ax.set_theta_direction(direction)
    ax.set_title("Wind", loc=title_place)
    ax.legend(loc=legend_place)


def _draw_blocks(ax, names, values, colors, azimuth, elevation, legend_place, title_place):
    for depth, (name, row, color) in enumerate(zip(names, values, colors)):
        ax.bar(range(len(row)), row, zs=depth, zdir="y", color=color, label=name)
    ax.view_init(elev=elevation, azim=azimuth)
    ax.set_title("Stock by shelf", loc=title_place)
    ax.legend(loc=legend_place)


class Chart(NamedTuple):
    """A kind of chart: the function that draws it, its axes, and EMMA's skills that it needs."""

    draw: Callable[..., None]
    projection: str | None = None
    skills: tuple[str, ...] = ()


CHARTS: Final = {
    "lines": Chart(_draw_lines),
    "bars": Chart(_draw_bars),
    "areas": Chart(_draw_areas, skills=("Advanced Chart Type",)),
    "rose": Chart(_draw_rose, "polar", ("Polar Coordinates", "Advanced Chart Type")),
    "blocks": Chart(_draw_blocks, "3d", ("3D", "Advanced Chart Type")),
}


@generator(
    "coding",
    version=1,
    templates=("choose_code", "choose_chart", "modify", "modify_with_original"),
    subject="coding",
    extra="coding",
)
def make(template: str, random: Random, difficulty: int) -> Draft:
    """Make a problem about a chart with 1 to 3 series.

    The variants change four properties at difficulties 1 and 2, two at 3 and 4, and one at 5.
    """
    name = random.choice((*CHARTS,))
    options = _list_options(name, random, series=1 + difficulty // 2, points=4 + difficulty // 2)
    base = {key: random.choice(choices) for key, choices in options.items()}
    changes = _draw_changes(random, options, base, spread=(4, 4, 2, 2, 1)[difficulty - 1])
    first, *variants = [tuple((base | {key: value}).items()) for key, value in changes]
    before = tuple(base.items())
    code, target = _fence(write_code(name, first)), Drawing(draw_chart, (name, first))
    start = f"This Python code uses matplotlib:\n{_fence(write_code(name, before))}\n"
    pictures: list[Drawing] = [target]
    right: str | Drawing = _describe_change(name, before, first)
    wrong: list[str | Drawing] = [_describe_change(name, before, other) for other in variants]
    if template == "choose_code":
        question = "Which code, in Python with matplotlib, draws this chart?\n[IMAGE0]"
        right, wrong = code, [_fence(write_code(name, other)) for other in variants]
    elif template == "choose_chart":
        question = f"This Python code uses matplotlib:\n{code}\nWhich picture shows its chart?"
        pictures, right = [], target
        wrong = [Drawing(draw_chart, (name, other)) for other in variants]
    elif template == "modify":
        question = f"{start}Which change of it gives this chart?\n[IMAGE0]"
    else:
        pictures = [Drawing(draw_chart, (name, before)), target]
        question = f"{start}It draws the chart [IMAGE0]. Which change gives the chart [IMAGE1]?"
    return Draft(
        question=question,
        pictures=pictures,
        answer=right,
        wrong=wrong,
        solution=f"The choices differ in {', '.join(dict(changes))}; here {changes[0][0]} is "
        f"{changes[0][1]!r}.",
        attributes={
            "skills": sorted(
                {PROPERTIES[key][0] for key in dict(changes)}.union(CHARTS[name].skills)
            )
        },
    )


def _list_options(name: str, random: Random, *, series: int, points: int) -> dict[str, list[Any]]:
    """Return the options of each argument of a chart."""
    options: dict[str, list[Any]] = {"names": [_NAMES[:series]]}
    colors = random.sample(_COLORS, len(_COLORS))
    options["colors"] = [tuple((colors + colors)[k : k + series]) for k in range(len(colors))]
    rows = [random.sample(range(2, 20), points) for _ in range(series)]
    turned = [[*rows[:-1], rows[-1][k:] + rows[-1][:k]] for k in range(points)]
    options["values"] = [tuple(map(tuple, matrix)) for matrix in turned]
    for key in [*inspect.signature(CHARTS[name].draw).parameters][1:]:
        options[key] = options.get(key) or [*PROPERTIES[key][1]]
    return options


def _draw_changes(
    random: Random, options: Mapping[str, Sequence[Any]], base: Mapping[str, Any], *, spread: int
) -> list[tuple[str, Any]]:
    """Return the change of each variant, over `spread` properties."""
    each = VARIANTS // spread
    able = [key for key, choices in options.items() if len(choices) > each]
    changes = [
        (key, value)
        for key in random.sample(able, spread)
        for value in random.sample([v for v in options[key] if v != base[key]], each)
    ]
    return random.sample(changes, len(changes))


class _WriteIn(ast.NodeTransformer):
    """Replaces names by values."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the value of a name as source."""
        if node.id not in self._values:
            return node
        return ast.parse(repr(self._values[node.id]), mode="eval").body


@lru_cache
def _read_source(name: str) -> str:
    return inspect.getsource(CHARTS[name].draw)


@lru_cache(64)
def write_code(name: str, values: Values) -> str:
    """Return the code of a chart: its data as variables, other arguments written in."""
    written = dict(values)
    data = {key: written.pop(key) for key in _DATA}
    function: Any = _WriteIn(written).visit(ast.parse(_read_source(name))).body[0]
    projection = CHARTS[name].projection
    return "\n".join(
        [
            "import matplotlib.pyplot as plt",
            *(f"{key} = {value!r}" for key, value in data.items()),
            f"fig = plt.figure(figsize={SIZE}, dpi={DPI})",
            f"ax = fig.add_subplot({f'projection={projection!r}' if projection else ''})",
            *map(ast.unparse, function.body),
        ]
    )


def _fence(code: str) -> str:
    return f"```python\n{code}\n```"


def _describe_change(name: str, before: Values, after: Values) -> str:
    lines = zip(*(write_code(name, values).splitlines() for values in (before, after)), strict=True)
    return "; ".join(f"replace `{o.strip()}` by `{n.strip()}`" for o, n in lines if o != n)


def draw_chart(name: str, values: Values) -> bytes:
    """Draw a chart with the default style of matplotlib; return a PNG."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        figure = Figure(figsize=SIZE, dpi=DPI)
        CHARTS[name].draw(figure.add_subplot(projection=CHARTS[name].projection), **dict(values))
        file = io.BytesIO()
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()
