"""Selection of failures to classify: all of a cell, or a draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.instrument import Instrument
from omibench.answers.judges.panel import OpenPanel, Opinion, PanelRequest, consult, open_panels
from omibench.answers.judges.registry import JUDGES, ResponseSelection, build_instrument, columns_of
from omibench.answers.judges.taxonomies import Taxonomy, load_taxonomy
from omibench.errors import MissingInputError, ParamsError
from omibench.params.stages.judge import ErrorDraw, ErrorPanel
from omibench.schemas.cells import describe_origin
from omibench.schemas.tables import JudgementRow, write_parquet
from omibench.schemas.verdict import VerdictOutcome
from omibench.stages.judge.material import CellFiles, Material, read_material

if TYPE_CHECKING:
    from omibench.params.study import Study


def select_failures(
    material: Sequence[Material], taxonomy: Taxonomy, errors: ErrorPanel
) -> list[Material]:
    """Select the failures to classify: wrong answers, and responses without any.

    Args:
        material: The responses of a cell.
        taxonomy: The outcomes that determine a type.
        errors: Whether failures are drawn.

    Returns:
        The failures in the order of the responses; without a draw, those of the problems in
        `judge.problems`.
    """
    failures = [m for m in material if m.is_wrong or type_failure(m, taxonomy)]
    if errors.draw is None:
        return [m for m in failures if m.is_sampled]
    return draw_failures(failures, errors.draw)


def type_failure(material: Material, taxonomy: Taxonomy) -> str | None:
    """Return the error type of an outcome, or None if the response must be read."""
    return taxonomy.type_outcome(material.verdict.outcome) if material.verdict else None


def draw_failures(failures: Sequence[Material], draw: ErrorDraw) -> list[Material]:
    """Draw failures of one cell, each stratum in proportion to its failures.

    Args:
        failures: All of them.
        draw: The number and the seed. Ranks are hashes of seed, problem and sample, so that models
            with the same failures get the same draws as far as possible.

    Returns:
        At most `draw.per_model` failures, in the given order.
    """
    strata: dict[str, list[Material]] = {}
    for failure in sorted(failures, key=lambda m: _rank(m, draw.seed)):
        strata.setdefault(failure.stratum, []).append(failure)
    quotas = apportion(draw.per_model, {name: len(members) for name, members in strata.items()})
    drawn = {
        (m.row.id, m.row.index) for name, members in strata.items() for m in members[: quotas[name]]
    }
    return [m for m in failures if (m.row.id, m.row.index) in drawn]


def apportion(total: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Split a number in proportion to sizes, by largest remainders (Hamilton's method).

    Args:
        total: The number to split.
        sizes: The size of each stratum, an upper bound of its part.

    Returns:
        The part of each stratum; the sum is `total`, or the sum of the sizes if smaller.
    """
    every = sum(sizes.values())
    if total >= every:
        return dict(sizes)
    parts = {name: divmod(total * size, every) for name, size in sizes.items()}
    rest = total - sum(whole for whole, _ in parts.values())
    by_remainder = sorted(parts, key=lambda name: (-parts[name][1], name))
    return {name: parts[name][0] + (name in by_remainder[:rest]) for name in parts}


def _rank(material: Material, seed: int) -> bytes:
    text = f"{seed}\0{material.row.id}\0{material.row.index}"
    return sha256(text.encode()).digest()


# Stage `judge`: reads one cell's responses, writes judgements of their reasoning.


class _Voice(NamedTuple):
    judge: str
    counts: bool
    value: Any
    key: str | None
    simulated: bool
    outcome: VerdictOutcome


def judge_cell(files: CellFiles, out: Path, study: Study, job: str = "") -> int:
    """Send the responses of a cell to every judge in `judge`.

    Reads ResponseRow and VerdictRow Parquet, Answer and Question JSONL; writes JudgementRow
    Parquet, by instrument in the order of the responses, and returns the number of rows. Quality is
    judged for every response with text; alignment if there is also a reference. The error type of
    failures follows from the outcome if there is no answer, else from the judge; without a judge it
    is left to people. The reading of the pictures is judged once per problem.

    Raises:
        ParamsError: No judge is set.
        MissingInputError: Error types require verdicts, but there are none.
    """
    panels, errors = study.judge.named_panels, study.judge.errors
    if not study.judge.is_named:
        raise ParamsError("judge: no judge is set; give `quality`, `alignment` or `errors` a model")
    needs_verdicts = next(
        (p.key for p in panels if responses_of(p.instrument) == "wrong"),
        "judge.errors" if errors else None,
    )
    if needs_verdicts and files.verdicts is None:
        raise MissingInputError(
            f"{needs_verdicts}: needs the cell's verdicts; pass them with --verdicts"
        )
    material = read_material(files, study.judge)
    panel_requests = [
        PanelRequest(panel, build_instrument(name, panel), key) for name, key, panel in panels
    ]
    rows: list[JudgementRow] = []
    with open_panels(study, panel_requests) as opened:
        for request, panel in zip(panel_requests, opened, strict=True):
            rows += _judge_material(request, panel, material, study)
    if errors and not errors.models:
        rows += _leave_to_people(material, errors)
    write_parquet(out, rows, JudgementRow, describe_origin(out, job))
    return len(rows)


def responses_of(instrument: str) -> ResponseSelection:
    """Return the model that a reasoning judge judges."""
    return JUDGES.get(instrument).responses


def _judge_material(
    request: PanelRequest[Any],
    panel: OpenPanel,
    material: Sequence[Material],
    study: Study,
) -> Iterator[JudgementRow]:
    instrument = request.instrument
    if instrument.name == "error_type" and study.judge.errors:
        yield from _type_failures(instrument, material, study.judge.errors)
    selected = select_material(instrument.name, material, study.judge.errors)
    yield from _consult_panel(request, panel, selected)


def select_material(
    instrument: str, material: Sequence[Material], errors: ErrorPanel | None
) -> list[Material]:
    """Return the responses for a judge; `errors` states which failures are classified."""
    if instrument == "error_type" and errors:
        taxonomy = load_taxonomy(errors.taxonomy)
        failures = select_failures(material, taxonomy, errors)
        return [m for m in failures if not type_failure(m, taxonomy)]
    sampled, responses = [m for m in material if m.is_sampled], responses_of(instrument)
    if responses == "transcribed":  # samples of a problem share one reading
        return list({m.row.id: m for m in reversed(sampled) if m.transcript}.values())[::-1]
    if responses == "wrong":
        return [m for m in sampled if m.is_wrong]
    needs_reference = responses == "with_reference"
    return [m for m in sampled if m.is_readable and (m.case.reference or not needs_reference)]


def list_cases(instrument: str, material: Sequence[Material]) -> list[JudgeCase]:
    """Return the judge's view of each response, or of its reading."""
    if responses_of(instrument) == "transcribed":
        return [m.transcript for m in material if m.transcript]
    return [m.case for m in material]


def _type_failures(
    instrument: Instrument[Any], material: Sequence[Material], errors: ErrorPanel
) -> Iterator[JudgementRow]:
    """Return the error types that follow from an outcome, without requests."""
    taxonomy = load_taxonomy(errors.taxonomy)
    for m in select_failures(material, taxonomy, errors):
        if error_type := type_failure(m, taxonomy):
            row = _make_row(instrument, m, errors)
            yield row.model_copy(update={"outcome": "scored", "error_type": error_type})


def _leave_to_people(material: Sequence[Material], errors: ErrorPanel) -> Iterator[JudgementRow]:
    """Return the failures without a judge; those without a type are for people to label."""
    instrument = build_instrument("error_type", errors)
    yield from _type_failures(instrument, material, errors)
    for m in select_material(instrument.name, material, errors):
        yield _make_row(instrument, m, errors)


def _make_row(instrument: Instrument[Any], m: Material, errors: ErrorPanel) -> JudgementRow:
    return JudgementRow(
        id=m.row.id, index=m.row.index, key=m.row.key, instrument=instrument.name,
        version=instrument.version, outcome="unjudged", taxonomy=errors.taxonomy,
        simulated=m.row.simulated,
    )  # fmt: skip


def _consult_panel(
    request: PanelRequest[Any], panel: OpenPanel, material: Sequence[Material]
) -> Iterator[JudgementRow]:
    instrument = request.instrument
    opinions = consult(list_cases(instrument.name, material), instrument, panel)
    for m, opinion in zip(material, opinions, strict=True):
        for judge, counts, value, key, simulated, outcome in _list_voices(panel, opinion):
            yield JudgementRow(
                id=m.row.id, index=m.row.index, key=m.row.key, instrument=instrument.name,
                version=instrument.version, judge=judge, counts=counts,
                outcome=outcome, judge_key=key,
                prompt_sha256=panel.prompt.sha256, simulated=m.row.simulated or simulated,
                literal=panel.prompt.literal or None,
                **columns_of(instrument, request.params, value),
            )  # fmt: skip


def _list_voices(panel: OpenPanel, opinion: Opinion[Any]) -> Iterator[_Voice]:
    """Return the judgement that counts, then each judge's own if several voted."""
    o = opinion
    yield _Voice(panel.name, True, o.value, o.key, o.is_simulated, o.outcome)
    if len(opinion.votes) > 1:
        for vote in opinion.votes:
            yield _Voice(vote.judge, False, vote.value, vote.key, vote.simulated, vote.outcome)
