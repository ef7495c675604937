"""The data of an item's page, as plain values for JSON.

`omibench explore` answers requests with them; pages that open from disk hold them inside. Pictures
are identified by SHA-256 and have an address, which is None if the file is missing.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from omibench.params.cell import Cell
from omibench.schemas.problem import Answer, Question
from omibench.stages.analyze.explorer.sent import describe_sent
from omibench.stages.analyze.explorer.steps import Link, Trail
from omibench.stages.analyze.explorer.view import (
    PARTS,
    describe_place,
    describe_verdict,
    image_words,
    shorten_response,
)
from omibench.stages.analyze.links import problem_file
from omibench.stages.analyze.words import name_outcome, name_rules

Values = dict[str, Any]
RESPONSE: Final = (
    "id", "index", "key", "outcome", "simulated", "output_tokens", "cost_usd", "text", "reasoning",
    "steps", "drawn", "error", "finish_reason", "latency_s", "input_tokens", "reasoning_tokens",
    "served_model",
)  # fmt: skip
"""The columns of ResponseRow that a page shows."""
VERDICT: Final = (
    "index", "rules", "version", "extracted", "method", "verdict", *PARTS, "outcome", "judge",
    "judge_key", "simulated",
)  # fmt: skip
"""The columns of VerdictRow that a page shows."""


def describe_study(
    title: str,
    cells: Mapping[Cell, bool],
    labels: Mapping[str, str],
    rules: Iterable[str],
    synthetic: str | None,
) -> Values:
    """Return what every page that opens from disk shows of the study.

    Args:
        title: The title.
        cells: The cells of the pages, and whether each has simulated responses.
        labels: Display names of models and settings; others are shown by their names.
        rules: The scorers.
        synthetic: How the problems were made; None for real ones.
    """
    models = dict.fromkeys(cell.model for cell in cells)
    settings = dict.fromkeys(cell.setting for cell in cells)
    return {
        "title": title,
        "models": [{"name": name, "label": labels.get(name, name)} for name in models],
        "settings": [{"name": name, "label": labels.get(name, name)} for name in settings],
        "cells": [{**cell._asdict(), "simulated": is_sim} for cell, is_sim in cells.items()],
        "rules": [{"name": name, "title": name_rules(name)} for name in rules],
        "synthetic": synthetic,
        "notes": False,
    }


def describe_item(
    question: Question, answer: Answer, link: Link, *, has_attributes: bool = False
) -> Values:
    """Return the problem with gold answer, rationale and location in its paper.

    Args:
        question: The problem.
        answer: Its gold answer.
        link: Returns the address of a picture.
        has_attributes: Whether to include topic and attributes, which may name people.
    """
    return {
        "id": question.id,
        "question": question.question,
        "choices": [
            {"label": choice.label, "text": choice.text or "", "image": choice.image}
            for choice in question.choices or []
        ],
        "pictures": [
            {
                "sha256": figure.sha256,
                "src": link(figure.sha256) if figure.sha256 else None,
                "caption": figure.caption or "",
                "page": figure.page,
                "bbox": figure.bbox,
            }
            for figure in question.images
        ],
        "gold": answer.answer,
        "solution": answer.solution or "",
        "sketch": answer.sketch or "",
        "facts": _list_facts(question, answer, has_attributes=has_attributes),
        "source": question.source or "",
        "pages": question.pages,
        "pages_drawn": [],
    }


def describe_outcomes(
    cells: Iterable[Cell], rows: Mapping[Cell, Sequence[Values]], simulated: Collection[Cell]
) -> list[Values]:
    """Return every cell's outcome on an item under a scorer.

    Args:
        cells: The cells in order.
        rows: The verdicts that count, by cell and in the order of their samples.
        simulated: The cells with simulated responses or verdicts.

    Returns:
        By cell with verdicts: model, setting, mean verdict, the extracted answers and the outcomes
        of its samples.
    """
    return [
        {
            "model": cell.model,
            "setting": cell.setting,
            "verdict": round(sum(row["verdict"] for row in samples) / len(samples), 4),
            "extracted": [row["extracted"] or "" for row in samples],
            "outcomes": [name_outcome(row["outcome"]) for row in samples],
            "simulated": cell in simulated,
        }
        for cell in cells
        if (samples := rows.get(cell))
    ]


def describe_column(
    cell: Cell,
    responses: Iterable[Values],
    verdicts: Iterable[Values],
    judgements: Mapping[int, Sequence[Values]],
    link: Link,
) -> Values:
    """Return the responses of a cell to an item, with all verdicts.

    Args:
        cell: The cell.
        responses: Rows with the columns `RESPONSE`; `left_out` states that the setting chose
            another sample.
        verdicts: Rows with the columns `VERDICT`, and optionally those of `describe_verdict`.
        judgements: Judgements of the reasoning by sample.
        link: Returns the address of a picture.
    """
    by_sample: defaultdict[int, list[Values]] = defaultdict(list)
    for row in verdicts:
        by_sample[row["index"]].append(describe_verdict(row))
    return {
        **cell._asdict(),
        "samples": [
            {
                **{name: row[name] for name in RESPONSE},
                "text": shorten_response(row["text"] or ""),
                "reasoning": shorten_response(row["reasoning"] or ""),
                "outcome": name_outcome(row["outcome"]),
                "steps": list(row["steps"] or []),
                "drawn": [{"sha256": sha, "src": link(sha)} for sha in row["drawn"] or []],
                "left_out": row.get("left_out", False),
                "verdicts": by_sample[row["index"]],
                "judgements": list(judgements.get(row["index"], [])),
            }
            for row in responses
        ],
        "saliency": None,
    }


def describe_place_among(ids: Sequence[str], name: str) -> Values:
    """Return position and neighbours of an item: `{previous, next, position, total}`."""
    place = ids.index(name) if name in ids else None
    return {
        "previous": ids[place - 1] if place else None,
        "next": ids[place + 1] if place is not None and place + 1 < len(ids) else None,
        "position": place,
        "total": len(ids),
    }


def describe_page(study: Values, place: Values, trail: Trail, link: Link) -> Values:
    """Return all data of a page that opens from disk.

    Args:
        study: As of `describe_study`, with marks of the whole study.
        place: The item with all its columns, as `omibench explore` describes it.
        trail: The requests of the store.
        link: Returns the address of a picture.
    """
    sent: dict[str, Values] = {}
    conversations: dict[str, Values] = {}
    images = [picture["sha256"] for picture in place["item"]["pictures"]]

    def add(key: str | None, steps: Sequence[str] = (), *, is_judge: bool = False) -> None:
        if not key or key in sent:
            return
        found = describe_sent(trail, key, steps, images, link)
        if found["sent"] is None:
            return
        content = json.dumps(found["sent"], sort_keys=True)
        name = hashlib.sha256(content.encode()).hexdigest()[:12]
        conversations[name] = found["sent"]
        said = {"said": {"text": found["said"]["text"]}} if is_judge and found["said"] else {}
        before = {"steps": found["steps"]} if found["steps"] else {}
        sent[key] = {"conversation": name, **said, **before}

    samples = [sample for column in place["columns"] for sample in column["samples"]]
    for sample in samples:
        add(sample["key"], sample["steps"])
        for key in sample["steps"]:
            add(key)
        for verdict in sample["verdicts"]:
            add(verdict["judge_key"], is_judge=True)
        for judgement in sample["judgements"]:
            add(judgement["key"], is_judge=True)
    near = [name for name in (place["previous"], place["next"]) if name]
    return {
        "study": {**study, "simulated": any(map(_is_simulated, place["columns"]))},
        "place": place,
        "sent": sent,
        "conversations": conversations,
        "files": {name: problem_file(name) for name in near},
    }


def _is_simulated(column: Values) -> bool:
    samples = column["samples"]
    rows = [row for s in samples for row in (s, *s["judgements"])] + [column["saliency"] or {}]
    verdicts = [verdict for sample in samples for verdict in sample["verdicts"]]
    return any(row.get("simulated") for row in rows) or any(v["judge_simulated"] for v in verdicts)


def _list_facts(question: Question, answer: Answer, *, has_attributes: bool) -> Values:
    stated: Values = {
        "subject": question.subject,
        "language": question.language,
        "images": image_words(question, answer),
        "stem": question.group,
        "licence": question.licence,
    }
    for number, figure in enumerate(question.images):
        stated[f"picture {number}"] = describe_place(question, figure)
    if has_attributes:
        stated |= {"topic": answer.topic, **answer.attributes}
    facts = {name: value for name, value in stated.items() if value}
    return {name: ", ".join(v) if isinstance(v, list) else str(v) for name, v in facts.items()}
