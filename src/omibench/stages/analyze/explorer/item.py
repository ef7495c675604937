"""The data of an item's page, as plain values for JSON.

`omibench explore` answers requests with them; pages that open from disk hold them inside. Pictures
are identified by SHA-256 and have an address, which is None if the file is missing.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from omibench.params.setting import Cell
from omibench.results.load import Results
from omibench.schemas.certificate import ReasoningCertificate
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import JudgementRow, read_parquet
from omibench.schemas.verdict import MARKS_BY_INSTRUMENT, RIGHT
from omibench.stages.analyze.certificates import CALIBRATED, UNCALIBRATED, find_certificate
from omibench.stages.analyze.explorer.requests import (
    PARTS,
    Link,
    Trail,
    Values,
    describe_drawn,
    describe_place,
    describe_sent,
    describe_verdict,
    image_words,
    shorten_response,
)
from omibench.stages.analyze.formatting import format_percent, name_outcome, name_rules
from omibench.stages.analyze.pages import problem_file

RESPONSE: Final = (
    "id", "index", "key", "outcome", "simulated", "output_tokens", "cost_usd", "text", "reasoning",
    "steps", "drawn", "drawn_at", "error", "finish_reason", "latency_s", "input_tokens",
    "reasoning_tokens", "served_model",
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
        "tags": False,
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
    cells: Iterable[Cell],
    rows: Mapping[Cell, Sequence[Values]],
    simulated: Collection[Cell],
    measures: Mapping[Cell, Values],
) -> list[Values]:
    """Return every cell's outcome on an item under a scorer.

    Args:
        cells: The cells in order.
        rows: The verdicts that count, by cell and in the order of their samples.
        simulated: The cells with simulated responses or verdicts.
        measures: The means of `measure_responses` by cell.

    Returns:
        By cell with verdicts: model, setting, mean verdict, the extracted answers and the outcomes
        of its samples, and the measures of its responses.
    """
    return [
        {
            "model": cell.model,
            "setting": cell.setting,
            "verdict": round(sum(row["verdict"] for row in samples) / len(samples), 4),
            "extracted": [row["extracted"] or "" for row in samples],
            "outcomes": [name_outcome(row["outcome"]) for row in samples],
            "simulated": cell in simulated,
            **measures.get(cell, {}),
        }
        for cell in cells
        if (samples := rows.get(cell))
    ]


def choose_columns(outcomes: Sequence[Values]) -> list[Values]:
    """Return two outcomes to show first: with different verdicts, in one setting if possible."""
    answered = [o for o in outcomes if "scored" in o["outcomes"]]
    right = [o for o in answered if o["verdict"] >= RIGHT]
    wrong = {o["setting"]: o for o in reversed(answered) if o["verdict"] < RIGHT}
    pair = next(([o, wrong[o["setting"]]] for o in right if o["setting"] in wrong), None)
    if pair is not None:
        return pair
    ranked = [*right[:1], *[o for o in answered if o["verdict"] < RIGHT][:1], *answered, *outcomes]
    return list({(o["model"], o["setting"]): o for o in ranked}.values())[:2]


def measure_responses(rows: Sequence[Values]) -> Values:
    """Return the means of responses: `tokens`, `cost`, `time`, `length`; None where not stated.

    Args:
        rows: Rows with the columns `RESPONSE`.
    """
    values = {
        "tokens": [row["output_tokens"] for row in rows],
        "cost": [row["cost_usd"] for row in rows],
        "time": [row["latency_s"] for row in rows],
        "length": [len(row["text"] or "") for row in rows],
    }
    stated = {name: [n for n in numbers if n is not None] for name, numbers in values.items()}
    return {name: sum(n) / len(n) if n else None for name, n in stated.items()}


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
                "drawn": describe_drawn(
                    row["text"] or "", row["drawn_at"] or [], row["drawn"] or [], link
                ),
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
        reply = {"said": {"text": found["said"]["text"]}} if is_judge and found["said"] else {}
        before = {"steps": found["steps"]} if found["steps"] else {}
        sent[key] = {"conversation": name, **reply, **before}

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


# Judgements of the reasoning in each response, for the page of its problem.


Judgements = dict[tuple[str, str, str, int], list[Values]]
"""By model, setting, problem and sample."""


def judgements(results: Results, folder: Path) -> Judgements:
    """Return every judgement of a study in `folder`, the results folder of the stage `judge`.

    Cells without a file have none: `reasoning` has already rejected missing files.
    """
    judgements_by_response: Judgements = defaultdict(list)
    for cell in results.study.judged_cells:
        path = folder / cell.model / f"{cell.setting}.parquet"
        if path.is_file():
            rows = read_parquet(path, JudgementRow)
            certificates = {
                name: find_certificate(results, rows.filter("counts", instrument=name))
                for name in rows["instrument"].unique()
            }
            for row in rows.iter_rows(named=True):
                judgement = read_judgement(row, certificates[row["instrument"]])
                judgements_by_response[cell.model, cell.setting, row["id"], row["index"]].append(
                    judgement
                )
    return judgements_by_response


def read_judgement(row: Values, certificate: ReasoningCertificate | None) -> Values:
    """Return one judge's judgement of one response, or the vote of several, for display.

    Args:
        row: A JudgementRow.
        certificate: The certificate of the judge.

    Returns:
        `{instrument, judge, words, failed, key, simulated, left_out, calibration}`: `key` is the
        judge's reply in the store, if known; `left_out` states that it is one of several judges,
        whose vote counts instead; `calibration` is the judge's agreement with human labels.
    """
    failed = row["outcome"] != "scored"
    return {
        "instrument": name_outcome(row["instrument"]),
        "judge": row["judge"] or "",
        "words": name_outcome(row["outcome"]) if failed else _words(row),
        "failed": failed,
        "key": row["judge_key"] or "",
        "simulated": row["simulated"],
        "left_out": not row["counts"],
        "calibration": _calibration(row, certificate) if row["judge"] else "",
    }


def _calibration(row: Values, certificate: ReasoningCertificate | None) -> str:
    """Describe the certificate as in the report: per mark, for the vote if there are several
    judges."""
    if certificate is None or not row["counts"]:
        return UNCALIBRATED
    marks = MARKS_BY_INSTRUMENT.get(row["instrument"], ())
    certified_marks = [name_outcome(name) for name in marks if name in certificate.marks]
    if len(certified_marks) == len(marks):
        return CALIBRATED
    return (
        f"{CALIBRATED} for {', '.join(certified_marks)} alone" if certified_marks else UNCALIBRATED
    )


def _words(row: Values) -> str:
    if row["mark"] is not None:
        return f"{row['mark']:g} of {row['lowest']:g} to {row['highest']:g}"
    if row["label"] is not None:
        return name_outcome(row["label"])
    if row["terms"] is not None:
        return (
            f"of the printed text, the transcript keeps {format_percent(row['terms'], 0)} of the "
            "key "
            f"terms and {format_percent(row['semantics'], 0)} of the meaning"
        )
    if row["instrument"] in MARKS_BY_INSTRUMENT:
        marks = {name: row[name] for name in MARKS_BY_INSTRUMENT[row["instrument"]]}
        mark_texts = [f"{name_outcome(n)} {m:g}" for n, m in marks.items() if m is not None]
        return f"{', '.join(mark_texts)} of 5"
    taxonomy = f" ({row['taxonomy']})" if row["taxonomy"] else ""
    return f"{name_outcome(row['error_type'] or 'none')}{taxonomy}"
