"""The judges of reasoning by name: what each is, whom it judges, and where its word is kept.

The stage `judge` asks them. Quality, alignment, the type of error and transcripts have columns of
their own in JudgementRow; every other judge has a scale, and the columns that go with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple, get_args

from omibench.errors import PluginError
from omibench.judges.case import JudgeCase
from omibench.judges.instrument import Instrument
from omibench.judges.scales import NumberScale
from omibench.params.panel import JudgePanel
from omibench.plugins import Registry
from omibench.plugins.registry import BY_OMIBENCH
from omibench.text.fences import Section

Columns = Mapping[str, Any]
"""Columns of JudgementRow and what a judge says in them."""
JudgedResponses = Literal["readable", "with_reference", "wrong", "transcribed"]
"""Whom a judge judges: responses with text; of these the ones to problems with a worked solution;
answers that were scored and are not all right; texts that were read from a problem's pictures
before it was answered, each once whatever samples and answers follow."""
BuildInstrument = Callable[[Any], Instrument[Any]]
"""Builds the judge for its panel, a JudgePanel as params.yaml names it."""
FillColumns = Callable[[Any, Any], Columns]
"""The columns of a value (None: the judge failed) that a panel gave."""


class ReasoningJudge(NamedTuple):
    """A judge of reasoning; `fill_columns` is None for one whose instrument has a scale."""

    name: str
    build: BuildInstrument
    responses: JudgedResponses = "readable"
    fill_columns: FillColumns | None = None


JUDGES: Final[Registry[ReasoningJudge]] = Registry("judges", "judge of reasoning")


def judge(
    name: str,
    *,
    responses: JudgedResponses = "readable",
    fill_columns: FillColumns | None = None,
) -> Callable[[BuildInstrument], BuildInstrument]:
    """A decorator that makes a function the judge of reasoning `name`.

    The function takes the panel that params.yaml names and returns an Instrument of the same name,
    such as `make_instrument` makes.

    Args:
        name: What `judge.others` calls it.
        responses: Whom it judges: `readable` responses, those `with_reference` besides, `wrong`
            answers, or texts that were `transcribed` from pictures.
        fill_columns: Of the built-in judges alone, which have columns of their own.

    Raises:
        PluginError: Another judge has this name, or `name` or `responses` is none.
    """
    JUDGES.check_name(name)
    if responses not in get_args(JudgedResponses):
        raise PluginError(
            f"judge {name!r}: responses is {responses!r}; give one of "
            f"{', '.join(get_args(JudgedResponses))}"
        )

    def register(build: BuildInstrument) -> BuildInstrument:
        JUDGES.add(name, ReasoningJudge(name, build, responses, fill_columns), build.__module__)
        return build

    return register


def build_instrument(name: str, panel: JudgePanel) -> Instrument[Any]:
    """The instrument of a judge of reasoning.

    Args:
        name: The judge.
        panel: Who is asked, as params.yaml says it.

    Raises:
        PluginError: There is no such judge, its function raised, or it returned no instrument of
            this name with a scale.
        ParamsError: The panel names a taxonomy of errors that is neither built in nor a file.
    """
    part = JUDGES.get(name)
    with JUDGES.calling(name):
        instrument = part.build(panel)
        if not isinstance(instrument, Instrument) or instrument.name != name:
            raise PluginError(f"judge {name!r}: its function must return an Instrument named so")
        if part.fill_columns is None and instrument.scale is None:
            raise PluginError(
                f"judge {name!r}: its instrument has no scale, which says what it may say"
            )
    return _guard(instrument) if JUDGES.origin(name) != BY_OMIBENCH else instrument


def columns_of(instrument: Instrument[Any], panel: JudgePanel, value: Any) -> Columns:
    """The columns of JudgementRow that hold what a judge of reasoning said.

    Args:
        instrument: The judge.
        panel: Who was asked.
        value: What they said; None where they failed.

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
    """The instrument of a plug-in: what its functions raise is one line that names theirs."""

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
