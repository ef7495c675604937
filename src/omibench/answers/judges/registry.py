"""The judges of reasoning by name: the instrument, its responses, and its columns.

The stage `judge` runs them. Quality, alignment, the type of error and transcripts have separate
columns in JudgementRow; every other judge has a scale, and shares its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple, get_args

from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.instrument import Instrument
from omibench.answers.judges.scales import NumberScale
from omibench.errors import PluginError
from omibench.params.panel import JudgePanel
from omibench.plugins import Registry
from omibench.plugins.registry import BY_OMIBENCH
from omibench.text.fences import Section

Columns = Mapping[str, Any]
"""Columns of JudgementRow with a judge's values."""
ResponseSelection = Literal["readable", "with_reference", "wrong", "transcribed"]
"""The input of a judge: responses with text; those of them with a worked solution; scored
answers that are not all right; transcripts of a problem's pictures, each once whatever samples
and answers follow."""
BuildInstrument = Callable[[Any], Instrument[Any]]
"""Builds the judge for its panel, a JudgePanel of params.yaml."""
FillColumns = Callable[[Any, Any], Columns]
"""The columns of a panel's value (None: the judge failed)."""


class ReasoningJudge(NamedTuple):
    """A judge of reasoning; `fill_columns` is None if its instrument has a scale."""

    name: str
    build: BuildInstrument
    responses: ResponseSelection = "readable"
    fill_columns: FillColumns | None = None


JUDGES: Final[Registry[ReasoningJudge]] = Registry("judges", "judge of reasoning")


def judge(
    name: str,
    *,
    responses: ResponseSelection = "readable",
    fill_columns: FillColumns | None = None,
) -> Callable[[BuildInstrument], BuildInstrument]:
    """Return a decorator that registers a function as the judge of reasoning `name`.

    The function takes the panel of params.yaml and returns an Instrument of the same name, for
    example from `make_instrument`.

    Args:
        name: Its name in `judge.others`.
        responses: Its input: `readable` responses, those `with_reference`, `wrong` answers, or
            texts `transcribed` from pictures.
        fill_columns: Only for built-in judges with separate columns.

    Raises:
        PluginError: Another judge has this name, or `name` or `responses` is not valid.
    """
    JUDGES.check_name(name)
    if responses not in get_args(ResponseSelection):
        raise PluginError(
            f"judge {name!r}: responses is {responses!r}; use one of "
            f"{', '.join(get_args(ResponseSelection))}"
        )

    def register(build: BuildInstrument) -> BuildInstrument:
        JUDGES.add(name, ReasoningJudge(name, build, responses, fill_columns), build.__module__)
        return build

    return register


def build_instrument(name: str, panel: JudgePanel) -> Instrument[Any]:
    """Return the instrument of a judge of reasoning.

    Args:
        name: The judge.
        panel: The panel in params.yaml.

    Raises:
        PluginError: The judge does not exist, its function raised, or returned no instrument of
            this name with a scale.
        ParamsError: The panel's taxonomy of errors is neither built in nor a file.
    """
    part = JUDGES.get(name)
    with JUDGES.calling(name):
        instrument = part.build(panel)
        if not isinstance(instrument, Instrument) or instrument.name != name:
            raise PluginError(
                f"judge {name!r}: its function must return an Instrument of that name"
            )
        if part.fill_columns is None and instrument.scale is None:
            raise PluginError(
                f"judge {name!r}: its instrument has no scale; set its possible values"
            )
    return _guard(instrument) if JUDGES.origin(name) != BY_OMIBENCH else instrument


def columns_of(instrument: Instrument[Any], panel: JudgePanel, value: Any) -> Columns:
    """Return the columns of JudgementRow for the value of a judge of reasoning.

    Args:
        instrument: The judge.
        panel: Its panel.
        value: Its value; None if it failed.

    Raises:
        PluginError: A value of a plug-in's judge does not fit its scale.
    """
    part, scale = JUDGES.get(instrument.name), instrument.scale
    if part.fill_columns:
        return part.fill_columns(value, panel)
    if scale is None or value is None:
        return {}
    if not scale.allows(value):
        raise PluginError(f"judge {instrument.name!r}: {value!r} is not on its scale")
    if isinstance(scale, NumberScale):
        bounds = {"lowest": float(scale.lowest), "highest": float(scale.highest)}
        return {"mark": float(value), **bounds}
    return {"label": value}


def _guard(instrument: Instrument[Any]) -> Instrument[Any]:
    """Wrap a plug-in's instrument: its functions' exceptions become one line each."""

    def show(case: JudgeCase) -> Sequence[Section]:
        with JUDGES.calling(instrument.name, case.id):
            return instrument.sections(case)

    def read(reply: str, case: JudgeCase) -> Any:
        with JUDGES.calling(instrument.name, case.id):
            return instrument.read(reply, case)

    def vote(votes: Sequence[Any]) -> Any:
        with JUDGES.calling(instrument.name):
            return instrument.vote(votes)

    return replace(instrument, sections=show, read=read, vote=vote)
