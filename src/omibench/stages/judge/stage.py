"""The stage: one cell's responses in, what judges say of their reasoning out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import MissingInputError, ParamsError
from omibench.judges.instrument import Instrument
from omibench.judges.panel import OpenPanel, Opinion, PanelRequest, consult, open_panels
from omibench.judges.quality import Quality
from omibench.judges.taxonomies import Taxonomy, load_taxonomy
from omibench.params.stage_params import JudgeStageParams
from omibench.schemas.cell_origin import describe_origin
from omibench.schemas.tables import JudgementRow, write_parquet
from omibench.schemas.verdict import VerdictOutcome
from omibench.stages.judge.instruments import PARAMS_KEYS, find_instrument
from omibench.stages.judge.material import CellFiles, Material, read_material

Values = Mapping[str, Any]


class _Voice(NamedTuple):
    judge: str
    counts: bool
    value: Any
    key: str | None
    simulated: bool
    outcome: VerdictOutcome


def judge_cell(files: CellFiles, out: Path, study: JudgeStageParams, job: str = "") -> int:
    """Ask every judge that `judge` names about the responses of a cell.

    Reads ResponseRow and VerdictRow Parquet, Answer and Question JSONL; writes JudgementRow
    Parquet, instrument by instrument in the order of the responses, and returns how many rows
    there are. Quality is judged of every response with text, alignment where there is a reference
    besides, the type of error where the answer was scored and is not all right. Raises ParamsError
    when nobody is named, MissingInputError when the type of error is wanted without verdicts.
    """
    panels = study.judge.panels
    if not panels:
        raise ParamsError("judge: names no judge; give `quality`, `alignment` or `errors` a model")
    if "error_type" in panels and files.verdicts is None:
        raise MissingInputError(
            "judge: errors needs the cell's verdicts; give them with --verdicts"
        )
    material = read_material(files, study.judge)
    instruments = {name: find_instrument(name, study.judge) for name in panels}
    panel_requests = [
        PanelRequest(panel, instruments[name], f"judge.{PARAMS_KEYS[name]}")
        for name, panel in panels.items()
    ]
    rows: list[JudgementRow] = []
    with open_panels(study, panel_requests) as opened:
        for instrument, panel in zip(instruments.values(), opened, strict=True):
            rows += _judge_material(instrument, panel, material, study)
    write_parquet(out, rows, JudgementRow, describe_origin(out, job))
    return len(rows)


def _judge_material(
    instrument: Instrument[Any],
    panel: OpenPanel,
    material: Sequence[Material],
    study: JudgeStageParams,
) -> Iterator[JudgementRow]:
    if instrument.name == "error_type" and study.judge.errors:
        name = study.judge.errors.taxonomy
        yield from _judge_errors(instrument, panel, material, name, load_taxonomy(name))
        return
    values = _marks if instrument.name == "quality" else _alignment
    yield from _consult_panel(instrument, panel, select_material(instrument.name, material), values)


def select_material(instrument: str, material: Sequence[Material]) -> list[Material]:
    """The responses that a judge is asked about."""
    if instrument == "error_type":
        return [m for m in material if m.is_wrong]
    needs_reference = instrument == "alignment"
    return [m for m in material if m.is_readable and (m.case.reference or not needs_reference)]


def _judge_errors(
    instrument: Instrument[str],
    panel: OpenPanel,
    material: Sequence[Material],
    name: str,
    taxonomy: Taxonomy,
) -> Iterator[JudgementRow]:
    """The types of errors; those that follow from an outcome come first and ask nobody."""
    for m in material:
        error_type = taxonomy.outcomes.get(m.verdict.outcome) if m.verdict else None  # type: ignore[call-overload]
        if error_type:
            yield JudgementRow(
                id=m.row.id, index=m.row.index, key=m.row.key, instrument=instrument.name,
                version=instrument.version, outcome="scored", error_type=error_type, taxonomy=name,
                simulated=m.row.simulated,
            )  # fmt: skip

    def values(label: str | None) -> Values:
        return {"error_type": label, "taxonomy": name}

    yield from _consult_panel(instrument, panel, select_material(instrument.name, material), values)


def _consult_panel(
    instrument: Instrument[Any],
    panel: OpenPanel,
    material: Sequence[Material],
    values: Callable[[Any], Values],
) -> Iterator[JudgementRow]:
    opinions = consult([m.case for m in material], instrument, panel)
    for m, opinion in zip(material, opinions, strict=True):
        for judge, counts, value, key, simulated, outcome in _list_voices(panel, opinion):
            yield JudgementRow(
                id=m.row.id, index=m.row.index, key=m.row.key, instrument=instrument.name,
                version=instrument.version, judge=judge, counts=counts,
                outcome=outcome, judge_key=key,
                prompt_sha256=panel.prompt.sha256, simulated=m.row.simulated or simulated,
                **values(value),
            )  # fmt: skip


def _list_voices(panel: OpenPanel, opinion: Opinion[Any]) -> Iterator[_Voice]:
    """The judgement that counts, then each judge's own where several voted."""
    o = opinion
    yield _Voice(panel.name, True, o.value, o.key, o.is_simulated, o.outcome)
    if len(opinion.votes) > 1:
        for vote in opinion.votes:
            yield _Voice(vote.judge, False, vote.value, vote.key, vote.simulated, vote.outcome)


def _marks(marks: Quality | None) -> Values:
    return marks._asdict() if marks else {}


def _alignment(mark: float | None) -> Values:
    return {"alignment": mark}
