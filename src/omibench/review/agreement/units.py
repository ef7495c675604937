"""Units of comparison: the values that each reader gave for a field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from omibench.review.agreement.readings import ReadTask
from omibench.review.kinds.declaration import Field, Kind, is_asked
from omibench.schemas.review import ReviewDecision
from omibench.statistics.raters import Unit

Scale = Literal["nominal", "rating", "set"]
ROLES: Final = ("annotator", "auditor")
_SCALES: Final[Mapping[str, Scale]] = {
    "choice": "nominal",
    "flag": "nominal",
    "steps": "nominal",
    "rating": "rating",
    "choices": "set",
}
"""The scale of each type of field that is compared; texts are not compared."""
Values = list[Hashable]
"""One reader's values for a task: one per unit, None if the question was not shown."""


@dataclass(frozen=True)
class Comparison:
    """One field, or one option of a field with several values, that readers can agree on.

    Attributes:
        field: Name of the field.
        option: The option, if options are compared individually.
        scale: Type of the values: names, integers on a scale, or sets of names.
        values: The values of an ordered scale, in order.
        units: The values that each reader gave, by unit; units of one problem form a cluster.
        pairs: The units rated by both `sides`, in the order of `sides`.
        sides: `annotator` and `auditor`, or the two people if there are only two.
        tasks: The number of tasks with units.
        people: The number of people who read them.
        simulated: Whether any of them is simulated.
    """

    field: str
    option: str
    scale: Scale
    values: tuple[int, ...]
    units: tuple[Unit, ...]
    pairs: tuple[Unit, ...]
    sides: tuple[str, str]
    tasks: int
    people: int
    simulated: bool


def list_comparisons(kind: Kind, tasks: Sequence[ReadTask]) -> list[Comparison]:
    """List the comparisons of one kind of task.

    Args:
        kind: The kind.
        tasks: Its tasks with two or more readers.
    """
    return [
        comparison
        for field in kind.fields
        if field.type in _SCALES
        for comparison in _compare_field(kind, field, tasks)
        if comparison.units
    ]


def _compare_field(kind: Kind, field: Field, tasks: Sequence[ReadTask]) -> Iterator[Comparison]:
    def read_field(decision: ReviewDecision) -> Values:
        return _read_values(field, decision)

    yield _compare(field, "", _SCALES[field.type], tasks, read_field)
    if field.type != "choices":
        return
    answers = [set_ for t in tasks for d in t.readings for set_ in _read_values(field, d) if set_]
    for option in _sort_options(field, {str(v) for a in answers for v in _list_members(a)}):

        def read_option(decision: ReviewDecision, option: str = option) -> Values:
            sets = _read_values(field, decision)
            return [None if answer is None else option in _list_members(answer) for answer in sets]

        yield _compare(field, option, "nominal", tasks, read_option)


def _read_values(field: Field, decision: ReviewDecision) -> Values:
    value = decision.fields.get(field.name)
    if not is_asked(field, decision.fields):
        return [None]
    if field.type == "choices":  # selecting no option is also an answer
        return [frozenset(map(str, value)) if isinstance(value, list) else frozenset()]
    if field.type == "steps":
        return [str(step) for step in value] if isinstance(value, list) else []
    return [None if isinstance(value, list | dict) else value]


def _list_members(value: Hashable) -> frozenset[str]:
    return value if isinstance(value, frozenset) else frozenset()


def _sort_options(field: Field, values: Iterable[str]) -> list[str]:
    """Return the options that any reader selected, in declaration order."""
    order = {value: number for number, value in enumerate(field.values)}
    return sorted(values, key=lambda value: (order.get(value, len(order)), value))


def _compare(
    field: Field,
    option: str,
    scale: Scale,
    tasks: Sequence[ReadTask],
    read: Callable[[ReviewDecision], Values],
) -> Comparison:
    everybody = sorted({d.person for task in tasks for d in task.readings})
    by_name = len(everybody) == 2
    sides = (everybody[0], everybody[1]) if by_name else ROLES
    units: list[Unit] = []
    pairs: list[Unit] = []
    read_tasks: list[ReadTask] = []
    for task in tasks:
        task_units = _split_units(task, read, lambda d: d.person)
        units += task_units
        if task_units:
            read_tasks.append(task)
        split = task_units if by_name else _split_units(task, read, lambda d: d.role)
        pairs += [unit for unit in split if set(sides) <= set(unit.values)]
    readings = [reading for task in read_tasks for reading in task.readings]
    return Comparison(
        field=field.name,
        option=option,
        scale=scale,
        values=tuple(range(field.scale[0], field.scale[1] + 1)) if scale == "rating" else (),
        units=tuple(units),
        pairs=tuple(pairs),
        sides=sides,
        tasks=len(read_tasks),
        people=len({reading.person for reading in readings}),
        simulated=any(reading.simulated for reading in readings),
    )


def _split_units(
    task: ReadTask,
    read: Callable[[ReviewDecision], Values],
    name: Callable[[ReviewDecision], str],
) -> list[Unit]:
    """Return the units of a task rated by two or more readers; each name's first reading counts."""
    values: dict[str, Values] = {}
    for reading in task.readings:
        values.setdefault(name(reading), read(reading))
    number = max(map(len, values.values()), default=0)
    units = [
        {
            who: said[place]
            for who, said in values.items()
            if said[place:] and said[place] is not None
        }
        for place in range(number)
    ]
    return [Unit(task.task.problem, unit) for unit in units if len(unit) > 1]
