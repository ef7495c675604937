"""Which settings are points of one curve: those that differ in one quantity alone.

What is compared is what the settings say, never how they are called: two that differ in the number
of examples and in nothing else are two points, whatever their names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from omibench.params.setting import Setting

Facts = Mapping[str, Any]
"""What a setting says, by dotted key: `decoding.temperature` -> 0.0."""


class Position(NamedTuple):
    """Where a setting stands on an axis, and what else it says."""

    place: float
    rest: Facts
    """All that points of one curve share."""
    condition: Facts | None = None
    """What tells curves of the same rest apart; None: the point belongs to each of them."""


class SeriesPoint(NamedTuple):
    """A setting on a curve."""

    place: float
    setting: str


class SettingSeries(NamedTuple):
    """Settings that make one curve, in the order of their places."""

    name: str
    """How it differs from the other curves on the axis; empty where it is the only one."""
    points: tuple[SeriesPoint, ...]


Locate = Callable[[Setting], Position]


def locate_budget(setting: Setting) -> Position:
    """A setting by the tokens that a response may have (OMIBench, H.1)."""
    facts = _describe(setting)
    return Position(setting.decoding.max_tokens, _without(facts, "decoding.max_tokens"))


def locate_shots(setting: Setting) -> Position:
    """A setting by the number of examples before the question (USNCO-V, "Few-shot prompting").

    A setting without examples is the beginning of the curves of every kind of examples.
    """
    facts = _describe(setting)
    rest = {name: value for name, value in facts.items() if not name.startswith("examples")}
    if setting.examples is None or setting.examples.k == 0:
        return Position(0, rest)
    condition = {
        name: value
        for name, value in facts.items()
        if name.startswith("examples.") and name != "examples.k"
    }
    return Position(setting.examples.k, rest, condition)


def list_series(settings: Mapping[str, Setting], locate: Locate) -> list[SettingSeries]:
    """List the curves that some settings make along an axis.

    Where several settings stand at one place of a curve, as runs of one and of five samples do,
    the one that draws most samples is the point.

    Args:
        settings: The settings by name.
        locate: The axis.

    Returns:
        Every curve of two places or more, in the order in which the settings first occur.
    """
    positions = {name: locate(setting) for name, setting in settings.items()}
    curves: dict[str, tuple[Facts, list[str]]] = {}
    for position in positions.values():
        for condition in _list_conditions(position, positions.values()):
            facts = {**position.rest, **condition}
            members = [n for n, other in positions.items() if _fits(other, position, condition)]
            curves.setdefault(json.dumps(facts, sort_keys=True), (facts, members))
    series = [
        (facts, _choose_points(members, positions, settings)) for facts, members in curves.values()
    ]
    drawn = [(facts, points) for facts, points in series if len(points) > 1]
    names = name_differences([facts for facts, _ in drawn])
    return [SettingSeries(name, points) for name, (_, points) in zip(names, drawn, strict=True)]


def list_prompts(settings: Mapping[str, Setting]) -> list[dict[str, str]]:
    """List the prompts that are compared: settings that differ in their words alone.

    The room for a response may differ too, since a prompt that asks for the answer alone goes with
    less; of several rooms of one prompt the largest counts.

    Args:
        settings: The settings by name.

    Returns:
        For each comparison of two prompts or more: prompt -> setting, in the order of `settings`.
    """
    groups: dict[str, dict[str, str]] = {}
    for name in sorted(settings, key=lambda name: -settings[name].decoding.max_tokens):
        facts = _describe(settings[name])
        words = ("prompt", "prompts", "decoding.max_tokens")
        rest = {k: v for k, v in facts.items() if k.partition(".")[0] != "prompts"}
        key = json.dumps({k: v for k, v in rest.items() if k not in words}, sort_keys=True)
        prompt = ", ".join([settings[name].prompt, *settings[name].prompts.values()])
        groups.setdefault(key, {}).setdefault(prompt, name)
    order = list(settings)
    return [
        dict(sorted(group.items(), key=lambda entry: order.index(entry[1])))
        for group in sorted(
            groups.values(), key=lambda group: min(map(order.index, group.values()))
        )
        if len(group) > 1
    ]


def name_differences(descriptions: Sequence[Facts]) -> list[str]:
    """Name each of several descriptions by what not all of them say.

    Args:
        descriptions: What settings say, by dotted key.

    Returns:
        For each the keys that differ with their values, such as `images none`; empty where nothing
        differs.
    """
    keys = sorted({key for facts in descriptions for key in facts})
    differing = [k for k in keys if len({json.dumps(f.get(k)) for f in descriptions}) > 1]
    return [
        ", ".join(f"{key.rpartition('.')[2]} {facts[key]}" for key in differing if key in facts)
        for facts in descriptions
    ]


def _list_conditions(position: Position, others: Iterable[Position]) -> list[Facts]:
    """The conditions of a position: its own, or for one without any those of its fellows."""
    if position.condition is not None:
        return [position.condition]
    fellows = [o for o in others if o.rest == position.rest]
    conditions = [o.condition for o in fellows if o.condition is not None]
    return [] if conditions else [{}]


def _fits(other: Position, position: Position, condition: Facts) -> bool:
    return other.rest == position.rest and other.condition in (None, condition)


def _choose_points(
    members: Sequence[str], positions: Mapping[str, Position], settings: Mapping[str, Setting]
) -> tuple[SeriesPoint, ...]:
    by_place: dict[float, str] = {}
    for name in sorted(members, key=lambda name: -settings[name].decoding.samples):
        by_place.setdefault(positions[name].place, name)
    return tuple(SeriesPoint(place, by_place[place]) for place in sorted(by_place))


def _describe(setting: Setting) -> Facts:
    """What a setting says but for its label, and for samples where each of them counts."""
    values = setting.model_dump(mode="json", exclude={"label"}, exclude_none=True)
    if setting.aggregate.how == "mean":
        values.pop("aggregate")
        values["decoding"].pop("samples")
    return dict(_flatten(values))


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _without(facts: Facts, key: str) -> Facts:
    return {name: value for name, value in facts.items() if name != key}
