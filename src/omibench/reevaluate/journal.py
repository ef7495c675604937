"""The journal of a study's re-evaluations: what was begun, so that a killed run is gone on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from omibench.errors import OutputError
from omibench.files.locks import LockError, try_lock
from omibench.params.study import Study
from omibench.reevaluate.budget import Priced
from omibench.reevaluate.candidates import ModelCandidate
from omibench.schemas.journal import Journal, Sighting, State
from omibench.schemas.tables import read_json, write_json

JOURNAL = Path("reevaluate/journal.json")


def read_journal(results: Path) -> Journal:
    """The journal of a results folder; an empty one where there is none."""
    path = results / JOURNAL
    return read_json(path, Journal) if path.is_file() else Journal()


def note(
    results: Path,
    candidates: Iterable[ModelCandidate],
    state: State,
    moment: str,
    reason: str | None = None,
) -> None:
    """Note what became of candidates, each in place of what was noted of it before."""
    _keep(
        results,
        [
            Sighting(model=c.name, id=c.id, watch=c.watch, state=state, when=moment, why=reason)
            for c in candidates
        ],
    )


def note_cut_off(
    results: Path, candidate: ModelCandidate, moment: str, reason: str, cap_usd: float | None
) -> None:
    """Note that a budget cut a candidate off, and what the study might commit then."""
    name, model_id, watch, *_ = candidate
    sighting = Sighting(
        model=name,
        id=model_id,
        watch=watch,
        state="waiting",
        when=moment,
        why=reason,
        cap_usd=cap_usd,
    )
    _keep(results, [sighting])


def _keep(results: Path, new: Iterable[Sighting]) -> None:
    sightings = {sighting.model: sighting for sighting in read_journal(results).models}
    rows = list((sightings | {sighting.model: sighting for sighting in new}).values())
    write_json(results / JOURNAL, Journal(models=rows).model_dump(mode="json"))


def find_unfinished(study: Study, journal: Journal, cap_usd: float | None) -> list[ModelCandidate]:
    """The study's models whose evaluation was begun and not ended, as candidates once more.

    One that a budget cut off is among them when the study may commit more, `cap_usd`, than then.
    """
    full = study.model_dump(mode="json", exclude_defaults=True).get("models", {})
    return [
        ModelCandidate(
            s.model, s.id, s.watch, full[s.model], tuple(study.infer.only.get(s.model, ()))
        )
        for s in journal.models
        if s.model in full and s.model in study.infer.models
        if s.state == "begun" or (s.state == "waiting" and _is_more(cap_usd, s.cap_usd))
    ]


def _is_more(cap_usd: float | None, before: float | None) -> bool:
    # Sums of the ledger that differ in their last digits are the same budget.
    return cap_usd is None or before is None or cap_usd > before + 1e-6


def is_already_waiting(journal: Journal, priced: Priced) -> bool:
    """Whether a model is waiting already, for the same reason."""
    name, reason = priced.candidate.name, priced.refused
    return any(s.model == name and s.state == "waiting" and s.why == reason for s in journal.models)


@contextmanager
def lock_results(results: Path) -> Iterator[None]:
    """Hold a results folder against another re-evaluation; a killed one holds it no longer.

    Raises OutputError when another one is at work, and where that cannot be known.
    """
    lock = results / "reevaluate" / ".lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        try:
            is_ours = try_lock(file.fileno())
        except LockError as error:
            raise OutputError(f"{results}: cannot be locked: {error.strerror}") from None
        if not is_ours:
            raise OutputError(
                f"{results}: another re-evaluation is at work here; this one is left out"
            )
        yield
