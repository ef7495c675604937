"""Selection of independent readings of the same task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Final, Literal

from omibench.results.statistics.agreement import (
    Coefficient,
    CoefficientEstimate,
    Distance,
    Level,
    Ratings,
    Unit,
    count_ratings,
    estimate_agreement,
    estimate_by_resampling,
    estimate_nominal,
    make_ac1,
    make_alpha,
    make_cohen_kappa,
    make_fleiss_kappa,
    specific_agreement,
)
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Field, Kind, is_asked
from omibench.review.report import AgreementFigure
from omibench.schemas.review import ReviewDecision, ReviewTask


@dataclass(frozen=True)
class ReadTask:
    """A task with independent readings by two or more people.

    Attributes:
        task: The task.
        readings: The first decision of each person, ordered by time.
    """

    task: ReviewTask
    readings: tuple[ReviewDecision, ...]


def list_readings(
    tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision]
) -> list[ReadTask]:
    """List the independent readings of every task that has two or more.

    Only a person's first decision on the current content counts, as annotator or auditor. Later
    decisions may be influenced by those of others, seniors see the history, and it is unknown what
    the authors of imported decisions saw. Samples, calibrations and familiarisation are excluded,
    as are simulated readings if two or more people read the task.

    Args:
        tasks: Tasks of every purpose.
        decisions: Decisions in any order.

    Returns:
        Readings in the order of the tasks.
    """
    by_id = {t.id: t for t in tasks if t.purpose == "work" and t.kind in KINDS}
    readings: dict[str, dict[str, ReviewDecision]] = {name: {} for name in by_id}
    for decision in sorted(decisions, key=lambda d: (d.time, d.id)):
        task = by_id.get(decision.task)
        if task is None or decision.content_hash != task.content_hash:
            continue
        if decision.role in ("annotator", "auditor"):
            readings[task.id].setdefault(decision.person, decision)
    tasks_read = []
    for name, by_person in readings.items():
        everyone = tuple(by_person.values())
        people = tuple(reading for reading in everyone if not reading.simulated)
        read = people if len(people) > 1 else everyone
        if len(read) > 1:
            tasks_read.append(ReadTask(by_id[name], read))
    return tasks_read


# Units of comparison: the values that each reader gave for a field.

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
        for comparison in _compare_field(field, tasks)
        if comparison.units
    ]


def _compare_field(field: Field, tasks: Sequence[ReadTask]) -> Iterator[Comparison]:
    yield _compare(field, "", _SCALES[field.type], tasks, partial(_read_values, field))
    if field.type != "choices":
        return
    order = {value: number for number, value in enumerate(field.values)}
    answers = [set_ for t in tasks for d in t.readings for set_ in _read_values(field, d) if set_]
    chosen = {str(option) for answer in answers for option in _list_members(answer)}
    for option in sorted(chosen, key=lambda value: (order.get(value, len(order)), value)):

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
            who: answers[place]
            for who, answers in values.items()
            if answers[place:] and answers[place] is not None
        }
        for place in range(number)
    ]
    return [Unit(task.task.problem, unit) for unit in units if len(unit) > 1]


# Agreement measures of each field, with their intervals.

AGREEMENT: Final = "agreement"
COHEN: Final = "cohen kappa"
WEIGHTED: Final = "cohen kappa (quadratic)"
FLEISS: Final = "fleiss kappa"
AC1: Final = "gwet ac1"
SPECIFIC: Final = "agreement on"
"""Of a field with two values, the share of the ratings of one that another person shares."""
ALPHA: Final = "krippendorff alpha"
ALPHA_ORDINAL: Final = "krippendorff alpha (ordinal)"
ALPHA_INTERVAL: Final = "krippendorff alpha (interval)"
ALPHA_MASI: Final = "krippendorff alpha (MASI)"
"""The alphas differ in the distance between two values: nominal, rank on the scale (ordinal),
difference on the scale (interval), or distance between two sets (MASI).
"""


def measure_agreement(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    confidence: float = 0.95,
    seed: int = 0,
) -> list[AgreementFigure]:
    """Measure the agreement of independent reviewers by kind of task and field.

    Single-valued fields have the share of equal values, Cohen's and Fleiss' kappa, Gwet's AC1 and
    Krippendorff's alpha; with two values also the agreement on each. Ratings have Cohen's kappa
    with quadratic weights and the ordinal and interval alpha. Fields with several values have
    alpha with the MASI distance between sets, and the single-value measures for each option.
    `readings.list_readings` selects the decisions.

    Args:
        tasks: Tasks of every purpose.
        decisions: Decisions in any order.
        confidence: Two-sided level of the intervals, in (0, 1). They generalize to other problems
            with the same reviewers.
        seed: Seed of the resamples.

    Returns:
        Rows ordered by kind, field and measure. A value is None if it is undefined because all
        reviewers always gave the same value.
    """
    by_kind: dict[str, list[ReadTask]] = defaultdict(list)
    for read in list_readings(tasks, decisions):
        by_kind[read.task.kind].append(read)
    return [
        figure
        for name, kind in KINDS.items()
        for comparison in list_comparisons(kind, by_kind[name])
        for figure in _measure(name, comparison, confidence, seed)
    ]


def measure_masi_distance(first: Hashable, second: Hashable) -> float:
    """1 - MASI of two sets, in [0, 1] (Passonneau 2006): the Jaccard index, times 1 if the sets are
    equal, 2/3 if one contains the other, 1/3 if they overlap, 0 if they are disjoint.
    """
    if first == second:
        return 0.0
    if not isinstance(first, frozenset) or not isinstance(second, frozenset):
        return 1.0
    shared = first & second
    if not shared:
        return 1.0
    weight = 2 / 3 if first <= second or second <= first else 1 / 3
    return 1 - weight * len(shared) / len(first | second)


_DISTANCES: Final[Mapping[str, Mapping[str, Level | Distance]]] = {
    "rating": {ALPHA_ORDINAL: "ordinal", ALPHA_INTERVAL: "interval"},
    "set": {ALPHA_MASI: measure_masi_distance},
}
"""The alphas of each scale that defines distances between values."""


def _measure(
    kind: str, comparison: Comparison, confidence: float, seed: int
) -> Iterator[AgreementFigure]:
    """Yield the figure of each measure that the scale of a comparison has."""
    ratings = count_ratings(comparison.units, comparison.values)
    share = estimate_agreement(ratings, confidence)

    def write(
        measure: str, estimate: CoefficientEstimate, units: Sequence[Unit] = comparison.units
    ) -> AgreementFigure:
        value, low, high = (None if isnan(number) else round(number, 6) for number in estimate)
        return AgreementFigure(
            kind=kind,
            field=comparison.field,
            measure=measure,
            value=value,
            low=low,
            high=high,
            tasks=comparison.tasks,
            people=comparison.people,
            simulated=comparison.simulated,
            option=comparison.option,
            units=len(units),
            between=" and ".join(comparison.sides) if units is comparison.pairs else "",
        )

    yield write(AGREEMENT, CoefficientEstimate(share.mean, share.lo, share.hi))
    if comparison.pairs and comparison.scale != "set":
        is_rating, pairs = comparison.scale == "rating", comparison.pairs
        of_pairs = count_ratings(pairs, comparison.values)
        cohen = make_cohen_kappa(pairs, comparison.sides, of_pairs.values, quadratic=is_rating)
        if is_rating:
            estimate = _estimate_distances(of_pairs, cohen, confidence, seed)
        else:
            agreed = estimate_agreement(of_pairs, confidence)
            estimate = estimate_nominal(cohen, of_pairs.n_clusters, agreed)
        yield write(WEIGHTED if is_rating else COHEN, estimate, pairs)
    if comparison.scale == "nominal":
        for option in ratings.values if len(ratings.values) == 2 else ():
            specific = specific_agreement(ratings, option, confidence)
            bounds = CoefficientEstimate(specific.mean, specific.lo, specific.hi)
            yield write(f"{SPECIFIC} {option}", bounds)
        for measure, coefficient in (
            (AC1, make_ac1(ratings)),
            (FLEISS, make_fleiss_kappa(ratings)),
            (ALPHA, make_alpha(ratings)),
        ):
            yield write(measure, estimate_nominal(coefficient, ratings.n_clusters, share))
        return
    for measure, level in _DISTANCES[comparison.scale].items():
        alpha = make_alpha(ratings, level)
        yield write(measure, _estimate_distances(ratings, alpha, confidence, seed))


def _estimate_distances(
    ratings: Ratings, coefficient: Coefficient, confidence: float, seed: int
) -> CoefficientEstimate:
    """Return an alpha; if all values agree, use the lower bound of the nominal one."""
    estimate = estimate_by_resampling(coefficient, ratings.n_clusters, confidence, seed)
    if estimate.value < 1:
        return estimate
    share = estimate_agreement(ratings, confidence)
    return estimate_nominal(make_alpha(ratings), ratings.n_clusters, share)
