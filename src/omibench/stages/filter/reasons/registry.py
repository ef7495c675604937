"""Registries of the filter's reasons, by name: computed ones, and those of models."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Final, NamedTuple

from omibench.answers.judges.case import question_section, show_question_and_response
from omibench.answers.judges.instrument import Instrument
from omibench.answers.judges.scales import LabelScale
from omibench.errors import PluginError
from omibench.params.panel import JudgePanel
from omibench.params.stages.filter import JUDGEMENT_REASONS
from omibench.plugins import Registry
from omibench.plugins.built_in import built_in_parts
from omibench.stages.filter.candidate import Case

Reason = Callable[[Case], str | None]
"""Checks one problem; returns its evidence (the measured value, with the threshold) or None."""

REASONS: Final[Registry[Reason]] = Registry("reasons", "reason of the filter")


def reason(name: str) -> Callable[[Reason], Reason]:
    """Return a decorator that registers a function as the reason `name`.

    The function is pure: it takes one problem and returns its evidence, or None if there is nothing
    against the problem.

    Args:
        name: The name in rejects.parquet, `filter.reasons` and `filter.omitted_reasons`.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: Another reason has this name.
    """
    return REASONS.register(name)


class ModelReason(NamedTuple):
    """A reason of models: its judge, and the labels for which a problem is rejected."""

    build: Callable[[JudgePanel], Instrument[Any]]
    rejects: frozenset[str]


REASONS_OF_MODELS: Final[Registry[ModelReason]] = Registry("model_reasons", "reason of models")


def model_reason(
    name: str, *, rejects: Collection[str]
) -> Callable[[Callable[[JudgePanel], Instrument[Any]]], Callable[[JudgePanel], Instrument[Any]]]:
    """Return a decorator that registers a function as the reason `name`, for which models reject.

    The function takes the panel of params.yaml and returns an Instrument of the same name with a
    `LabelScale`, for example from `make_instrument`; it sees the problem with its pictures.

    Args:
        name: The name in `filter.model_reasons`, rejects.parquet and judgements.parquet.
        rejects: The labels for which a problem is rejected, if they are the panel's most frequent
            ones. A problem without a readable label is rejected, too.

    Raises:
        PluginError: Another reason has this name, or there are no labels.
    """
    REASONS_OF_MODELS.check_name(name)
    if name in {*built_in_parts("reasons"), *JUDGEMENT_REASONS, *JUDGEMENT_REASONS.values()}:
        raise PluginError(f"reason of models {name!r}: the name is taken; choose another one")
    if isinstance(rejects, str) or not rejects:
        raise PluginError(f"reason of models {name!r}: rejects is {rejects!r}; give its labels")

    def register(
        build: Callable[[JudgePanel], Instrument[Any]],
    ) -> Callable[[JudgePanel], Instrument[Any]]:
        REASONS_OF_MODELS.add(name, ModelReason(build, frozenset(rejects)), build.__module__)
        return build

    return register


def build_model_reason(name: str, panel: JudgePanel) -> Instrument[Any]:
    """Return the judge of a reason of models.

    Raises:
        PluginError: Its function raised, or returned no instrument of this name with the labels
            that reject.
    """
    part = REASONS_OF_MODELS.get(name)
    with REASONS_OF_MODELS.calling(name):
        instrument = part.build(panel)
        scale = getattr(instrument, "scale", None)
        labels = set(scale.labels) if isinstance(scale, LabelScale) else set()
        if not isinstance(instrument, Instrument) or instrument.name != name or not labels:
            raise PluginError(
                f"reason of models {name!r}: its function must return an Instrument of that name "
                "with a LabelScale"
            )
        if unknown := sorted(part.rejects - labels):
            raise PluginError(
                f"reason of models {name!r}: rejects contains {unknown[0]!r}, which is not a label "
                f"of its scale: {', '.join(sorted(labels))}"
            )
    if instrument.sections is show_question_and_response:  # the default; nothing has responded
        return replace(instrument, sections=lambda case: [question_section(case)])
    return instrument
