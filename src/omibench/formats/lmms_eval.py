"""Logs of lmms-eval and of lm-eval: `samples_<task>.jsonl`, written under --log_samples.

A line has `doc_id`, `target`, the responses `resps` (a list for each request, with each sample in
it), perhaps `doc`, the record of the dataset without its pictures, and `input` or `arguments`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.formats.content import Row
from omibench.formats.record import gold_of, record
from omibench.formats.values import options_in, options_of, text_of, texts_of

TOOL: Final = "lmms-eval"
_TASK: Final = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?$")
_OPTIONS: Final = ("options", "choices", "option", "choice_list", "candidates")
_TEXTS: Final = ("doc", "doc_id", "target", "arguments", "resps", "filtered_resps", "input")


def is_row(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of such a log."""
    return {"doc_id", "target"} <= row.keys() and bool({"resps", "filtered_resps"} & row.keys())


def rows(raw: Iterator[Row], path: Path) -> Iterator[Row]:
    """The records of a log: one for each sample of a response."""
    named = _TASK.search(path.name.removesuffix(".gz").removesuffix(".jsonl"))
    for number, row in enumerate(raw, 1):
        doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
        choices = next((o for name in _OPTIONS if (o := options_of(doc.get(name)))), None)
        choices = choices or options_in(doc)
        known = {
            "id": text_of(row["doc_id"]), "task": named and named[1], "choices": choices,
            "question": text_of(row.get("input")) or text_of(row.get("arguments"))
            or text_of(doc.get("question")),
            **gold_of(texts_of(row["target"]), choices),
        }  # fmt: skip
        rest = {name: value for name, value in row.items() if name not in _TEXTS}
        for index, prediction in enumerate(_samples(row, f"{path}, row {number}")):
            yield record({**known, "index": index, "prediction": prediction}, rest)


def _samples(row: Row, where: str) -> list[str]:
    """The samples of the response: `resps` as the model wrote them, else what a filter left."""
    given = row.get("resps") or row.get("filtered_resps")
    first = given[0] if isinstance(given, list) and given else given
    samples = first if isinstance(first, list) else [first]
    texts = [sample for sample in samples if isinstance(sample, str)]
    if len(texts) != len(samples):
        raise FileFormatError(
            f"{where}: 'resps' holds no text (likelihoods of options?): only responses that a "
            "model wrote are scored"
        )
    return texts
