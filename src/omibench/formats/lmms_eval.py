"""Logs of lmms-eval and of lm-eval: `samples_<task>.jsonl`, written under --log_samples.

A line has `doc_id`, `target`, the responses `resps` (a list per request, containing each
sample), optionally `doc`, the dataset record without its pictures, and `input` or `arguments`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.formats.content import Row
from omibench.formats.record import build_gold, record
from omibench.formats.values import extract_text, extract_texts, parse_options, read_option_columns

TOOL: Final = "lmms-eval"
_TASK: Final = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?$")
_OPTIONS: Final = ("options", "choices", "option", "choice_list", "candidates")
_TEXTS: Final = ("doc", "doc_id", "target", "arguments", "resps", "filtered_resps", "input")


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row is part of such a log."""
    return {"doc_id", "target"} <= row.keys() and bool({"resps", "filtered_resps"} & row.keys())


def rows(raw: Iterator[Row], path: Path) -> Iterator[Row]:
    """Yield the records of a log: one for each sample of a response."""
    named = _TASK.search(path.name.removesuffix(".gz").removesuffix(".jsonl"))
    for number, row in enumerate(raw, 1):
        doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
        choices = next((o for name in _OPTIONS if (o := parse_options(doc.get(name)))), None)
        choices = choices or read_option_columns(doc)
        columns = {
            "id": extract_text(row["doc_id"]), "task": named and named[1], "choices": choices,
            "question": extract_text(row.get("input")) or extract_text(row.get("arguments"))
            or extract_text(doc.get("question")),
            **build_gold(extract_texts(row["target"]), choices),
        }  # fmt: skip
        extras = {name: value for name, value in row.items() if name not in _TEXTS}
        for index, prediction in enumerate(_samples(row, f"{path}, row {number}")):
            yield record({**columns, "index": index, "prediction": prediction}, extras)


def _samples(row: Row, place: str) -> list[str]:
    """Return the samples of the response: `resps`, otherwise the output of a filter."""
    responses = row.get("resps") or row.get("filtered_resps")
    first = responses[0] if isinstance(responses, list) and responses else responses
    samples = first if isinstance(first, list) else [first]
    texts = [sample for sample in samples if isinstance(sample, str)]
    if len(texts) != len(samples):
        raise FileFormatError(
            f"{place}: 'resps' contains no text (likelihoods of options?); only generated "
            "responses are scored"
        )
    return texts
