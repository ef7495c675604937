"""Description of the study for the first page: its contents and filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from omibench.explore.app.live import Snapshot
from omibench.explore.filters import READY_FILTERS
from omibench.explore.items import Items
from omibench.explore.query import ORDERS
from omibench.explore.run import Run
from omibench.explore.search import FIELDS
from omibench.params.study import Study as StudyParams
from omibench.results.attributes import list_attributes, list_values
from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.words import name_rules

MOST_VALUES: Final = 60
"""The maximum number of values in a facet; attributes with more are searched."""
Values = dict[str, Any]


def describe_study(snapshot: Snapshot, can_note: bool) -> Values:
    """Return the contents of the study as plain values for JSON.

    Args:
        snapshot: The study.
        can_note: Whether notes are enabled.
    """
    study, sources = snapshot.study, snapshot.sources
    run, manifest = study.run, study.items.manifest
    return {
        "title": sources.title,
        "dataset": {"name": manifest.name, "version": manifest.version, "items": manifest.problems},
        "simulated": run.is_simulated if run else False,
        "synthetic": manifest.synthetic,
        "models": _describe_models(run, sources.study) if run else [],
        "settings": _describe_settings(run) if run else [],
        "cells": _describe_cells(run) if run else [],
        "responses": run.responses.height if run else 0,
        "rules": [{"name": r, "title": name_rules(r)} for r in run.rules] if run else [],
        "main_rules": run.main_rules if run else None,
        "other": study.other.name if study.other else None,
        "facets": describe_facets(study.items),
        "ready": _describe_ready(snapshot) if run else [],
        "fields": list(FIELDS) if run else ["question", "rationale"],
        "orders": list(ORDERS) if run and run.rules else ["dataset"],
        "unreadable": list(snapshot.warnings),
        "notes": can_note,
    }


def describe_facets(items: Items) -> list[Values]:
    """Return item attributes with the number of items per value, the most frequent first.

    Attributes with a single value or with more than `MOST_VALUES` are omitted.
    """
    facets = []
    for name in list_attributes(items.attributes):
        rows = list_values(items.attributes, "id", name)
        counts = rows.group_by(name).len().sort(["len", name], descending=[True, False])
        if 1 < counts.height <= MOST_VALUES:
            values = [{"value": value, "count": count} for value, count in counts.rows()]
            if name == "n_images":
                values.sort(key=lambda entry: str(entry["value"]))
            facets.append({"name": name, "title": _name_attribute(name), "values": values})
    return facets


def _name_attribute(name: str) -> str:
    return {"n_images": "Number of images", "answer_type": "Answer type"}.get(
        name, name.replace("_", " ").capitalize()
    )


def _describe_models(run: Run, params: StudyParams | None) -> list[Values]:
    blocks: Mapping[str, Any] = params.models if params else {}
    return [
        {
            "name": name,
            "label": run.label(name),
            "group": getattr(blocks.get(name), "group", None),
            "weights": getattr(blocks.get(name), "weights", None),
            "size": getattr(blocks.get(name), "parameters_b", None),
        }
        for name in dict.fromkeys(cell.model for cell in run.cells)
    ]


def _describe_settings(run: Run) -> list[Values]:
    names = dict.fromkeys(cell.setting for cell in run.cells)
    return [{"name": name, "label": run.label(name)} for name in names]


def _describe_cells(run: Run) -> list[Values]:
    simulated = run.simulated_cells
    return [{**cell._asdict(), "simulated": cell in simulated} for cell in run.cells]


def _describe_ready(snapshot: Snapshot) -> list[Values]:
    """Return the ready filters; `needs` states what is missing, empty if the filter works."""
    run, other = snapshot.study.run, snapshot.study.other
    lacks = {
        "judge-differs": "" if run and JUDGE_RULES in run.rules else "verdicts of a judge",
        "changed": "" if other else "another run (--other)",
        "suspicious-gold": ""
        if run and len({cell.model for cell in run.cells}) > 1
        else "two models or more",
    }
    scored = "" if run and run.rules else "verdicts"
    return [
        {"name": ready.name, "title": ready.title, "needs": scored or lacks.get(ready.name, "")}
        for ready in READY_FILTERS.values()
    ]
