"""What people decide about models, and what happens to them: approval, cancelling, retirement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from omibench.errors import ParamsError
from omibench.params.reevaluate import EndpointWatch, parse_template
from omibench.params.study import Study
from omibench.schemas.certificate import Journal, Sighting
from omibench.study.reevaluate.candidates import (
    ModelCandidate,
    add_to_params,
    remove_from_params,
)
from omibench.study.reevaluate.changes import change_journal, note, read_journal


def find_approved(study: Study, journal: Journal) -> set[tuple[str, str]] | None:
    """Return the watches and ids of approved models; None if the study needs no approval."""
    if not study.reevaluate.approve:
        return None
    return {(s.watch, s.id) for s in journal.models if s.approved}


def list_asked(results: Path) -> list[Sighting]:
    """Return the models that wait for `approve`: pending and cancelled ones."""
    return [
        s
        for s in read_journal(results).models
        if s.state == "cancelled" or (s.state == "pending" and not s.approved)
    ]


def approve(study: Study, params: Path, names: Iterable[str], moment: str) -> list[str]:
    """Let pending and cancelled models be evaluated by the next run; return their names.

    Args:
        study: The study.
        params: Its parameter file, to which cancelled models are added again.
        names: Their names in the journal; `all` for every one.
        moment: The time, for the journal.

    Raises:
        ParamsError: A model is neither pending nor cancelled. Nothing is changed.
    """
    results = Path(study.study.results)
    asked = {s.model: s for s in list_asked(results)}
    chosen = list(asked) if list(names) == ["all"] else list(dict.fromkeys(names))
    if unknown := [name for name in chosen if name not in asked]:
        raise ParamsError(
            f"reevaluate: --approve {unknown[0]}: no such model waits for approval; "
            + (f"those that do: {', '.join(asked)}" if asked else "none does")
        )
    for sighting in (asked[name] for name in chosen):
        if sighting.state == "cancelled":
            block = study.model_dump(mode="json", exclude_defaults=True)["models"][sighting.model]
            watch = study.reevaluate.watch.get(sighting.watch)
            settings = tuple(watch.settings) if watch else ()
            candidate = ModelCandidate(sighting.model, sighting.id, sighting.watch, block, settings)
            add_to_params(params, [candidate])
            note(results, [candidate], "begun", moment)
    with change_journal(results) as journal:
        journal.models[:] = [
            s.model_copy(update={"approved": True}) if s.model in chosen else s
            for s in journal.models
        ]
    return chosen


def cancel(study: Study, params: Path, runs: Collection[str], moment: str) -> list[str]:
    """Take the models that cancelled runs were evaluating out of the study's cells.

    Their blocks and responses stay. Returns their names.
    """
    results = Path(study.study.results)
    begun = [s for s in read_journal(results).models if s.state == "begun" and s.run in runs]
    remove_from_params(params, [s.model for s in begun])
    for s in begun:
        candidate = ModelCandidate(s.model, s.id, s.watch, {})
        why = f"cancelled; to continue: omibench reevaluate --approve {s.model}"
        note(results, [candidate], "cancelled", moment, why)
    return [s.model for s in begun]


def find_retired(study: Study, listings: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the models of the study that their watched endpoint does not list.

    Only models at the endpoint of a watch are known; an empty list says nothing, and a hub's list
    is only its newest part.
    """
    retired = set()
    for name, ids in listings.items():
        watch = study.reevaluate.watch[name]
        if not isinstance(watch, EndpointWatch) or not ids:
            continue
        new = parse_template(watch.model)
        place = (new.provider, getattr(new, "base_url", None))
        retired |= {
            key
            for key, model in study.models.items()
            if (model.provider, getattr(model, "base_url", None)) == place
            and getattr(model, "id", key) not in ids
        }
    return retired


def note_retired(
    study: Study, listings: Mapping[str, Sequence[str]], moment: str
) -> tuple[list[str], list[str]]:
    """Write which models are retired; return those that are newly, and those that came back."""
    retired = find_retired(study, listings)
    listed = {model_id for ids in listings.values() for model_id in ids}
    with change_journal(Path(study.study.results)) as journal:
        before = dict(journal.retired)
        new = sorted(retired - before.keys())
        known = before.keys() & study.models.keys()
        back = sorted(n for n in known if getattr(study.models[n], "id", n) in listed)
        journal.retired.update(dict.fromkeys(new, moment))
        for name in back:
            del journal.retired[name]
    return new, back
