"""Journal of a study's re-evaluations, so that an interrupted run can continue."""

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
    """Return the journal of a results folder; empty if missing."""
    path = results / JOURNAL
    return read_json(path, Journal) if path.is_file() else Journal()


def note(
    results: Path,
    candidates: Iterable[ModelCandidate],
    state: State,
    moment: str,
    reason: str | None = None,
) -> None:
    """Write the state of candidates, replacing their earlier entries."""
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
    """Write that a budget interrupted a candidate, and the study's cap at that time."""
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
    """Return the study's models whose evaluation was started but not finished, as candidates.

    A model interrupted by a budget is included if the cap, `cap_usd`, is higher now.
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
    # Ledger sums that differ in the last digits are the same budget.
    return cap_usd is None or before is None or cap_usd > before + 1e-6


def is_already_waiting(journal: Journal, priced: Priced) -> bool:
    """Return whether a model is already waiting for the same reason."""
    name, reason = priced.candidate.name, priced.refused
    return any(s.model == name and s.state == "waiting" and s.why == reason for s in journal.models)


@contextmanager
def lock_results(results: Path) -> Iterator[None]:
    """Lock a results folder against other re-evaluations; the lock ends with the process.

    Raises:
        OutputError: Another re-evaluation is running, or locks are not supported.
    """
    lock = results / "reevaluate" / ".lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        try:
            is_ours = try_lock(file.fileno())
        except LockError as error:
            raise OutputError(f"{results}: cannot be locked: {error.strerror}") from None
        if not is_ours:
            raise OutputError(f"{results}: another re-evaluation is running; this one is skipped")
        yield
