"""Results of simple-evals: `<eval>_<model>_allresults.json` and the report `<eval>_<model>.html`.

Both contain an HTML page for each example: the conversation, the sampled message, and "Correct
Answer:". The plain `.json` file contains only metrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any, Final

from omibench.datasets.formats.record import (
    CAPITALS,
    NEVER_CAME,
    OUTCOME,
    Row,
    build_gold,
    extract_text,
    extract_texts,
    options_in_question,
    parse_options,
    read_option_columns,
    record,
)
from omibench.errors import FileFormatError

SIMPLE_EVALS: Final = "simple-evals"
_GOLD: Final = "Correct Answer:"
_FACTS: Final = ("Extracted Answer:", "Score:")
_MARK: Final = re.compile(
    r'<div class="message ([\w-]*)|<pre>([^<]*)</pre>|<p>([^<]*)</p>|(<hr)', re.IGNORECASE
)
"""Relevant markup of the fixed page template; texts in it are escaped and contain no tags. Python's
own HTML parser takes quadratic time on a hostile page.
"""


class ReportedExample:
    """Fields of one example in a report."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str]] = []
        self.facts: list[str] = []


def is_simple_evals_document(value: Any) -> bool:
    """Return whether a JSON value is a file of all results."""
    return isinstance(value, dict) and {"htmls", "convos"} <= value.keys()


def is_simple_evals_metrics(value: Any) -> bool:
    """Return whether a JSON value is a file of metrics only."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("score"), int | float)
        and all(isinstance(entry, int | float) for entry in value.values())
    )


def simple_evals_rows(value: Mapping[str, Any], path: Path) -> Iterator[Row]:
    """Yield the records of a file of all results; gold answers come from its pages."""
    htmls, convos = value["htmls"], value["convos"]
    if not isinstance(htmls, list) or not isinstance(convos, list) or len(htmls) != len(convos):
        raise FileFormatError(f"{path}: 'htmls' and 'convos' differ in length")
    for number, (html, convo) in enumerate(zip(htmls, convos, strict=True), 1):
        place = f"{path}, example {number}"
        page_examples = simple_evals_examples(extract_text(html) or "")
        if len(page_examples) != 1:
            raise FileFormatError(f"{place}: its page is not a page of simple-evals")
        messages = [
            (str(message.get("role")), extract_text(message.get("content")) or "")
            for message in (convo if isinstance(convo, list) else [])
            if isinstance(message, dict)
        ]
        page_examples[0].messages = messages or page_examples[0].messages
        yield _row(page_examples[0], number, place)


def simple_evals_report_rows(html: str, path: Path) -> Iterator[Row]:
    """Yield the records of a report."""
    for number, example in enumerate(simple_evals_examples(html), 1):
        yield _row(example, number, f"{path}, example {number}")


def simple_evals_examples(html: str) -> list[ReportedExample]:
    """Return the examples of a page; empty for a page of another kind."""
    collected, role = [ReportedExample()], "user"
    for match in _MARK.finditer(html):
        kind, message, fact, line = match.groups()
        if kind is not None:
            role = kind
        elif message is not None:
            collected[-1].messages.append((role, unescape(message).strip()))
        elif fact is not None:
            collected[-1].facts.append(unescape(fact).strip())
        elif line and (collected[-1].messages or collected[-1].facts):
            collected.append(ReportedExample())
    return [example for example in collected if example.facts]


def _row(example: ReportedExample, number: int, place: str) -> Row:
    gold = next((fact for fact in example.facts if fact.startswith(_GOLD)), None)
    if gold is None or not example.messages:
        raise FileFormatError(f"{place}: has no message, or no line {_GOLD!r}")
    *prompts, (_, prediction) = example.messages
    question = prompts[-1][1] if prompts else ""
    answer = gold.removeprefix(_GOLD).strip()
    choices = options_in_question(question) if answer in [*CAPITALS] else None
    failed = prediction.strip().casefold() in NEVER_CAME
    columns = {
        "id": str(number), "question": question, "choices": choices, "gold": [answer],
        "answer_type": "mcq" if choices else "open", "prediction": "" if failed else prediction,
        OUTCOME: "provider_error" if failed else None,
    }  # fmt: skip
    facts = {
        f"simple_evals_{name.partition(':')[0].split()[0].casefold()}": value
        for name in _FACTS
        if (value := _fact(example, name)) is not None
    }
    return record(columns, facts)


def _fact(example: ReportedExample, name: str) -> str | None:
    match = next((fact for fact in example.facts if fact.startswith(name)), None)
    return None if match is None else match.removeprefix(name).strip()


# Logs of lmms-eval and of lm-eval: `samples_<task>.jsonl`, written under --log_samples.
#
# A line has `doc_id`, `target`, the responses `resps` (a list per request, containing each
# sample), optionally `doc`, the dataset record without its pictures, and `input` or `arguments`.

LMMS_EVAL: Final = "lmms-eval"
_TASK: Final = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?$")
_OPTIONS: Final = ("options", "choices", "option", "choice_list", "candidates")
_TEXTS: Final = ("doc", "doc_id", "target", "arguments", "resps", "filtered_resps", "input")


def is_lmms_eval_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row is part of such a log."""
    return {"doc_id", "target"} <= row.keys() and bool({"resps", "filtered_resps"} & row.keys())


def lmms_eval_rows(raw: Iterator[Row], path: Path) -> Iterator[Row]:
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


# Predictions of VLMEvalKit: `<model>_<dataset>.xlsx`, `.tsv` or `.csv`.
#
# A row has `index`, `question`, `answer` and `prediction`, and an option in each of A, B, C, ...

VLMEVALKIT: Final = "VLMEvalKit"


def is_vlmevalkit_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row is part of such a table."""
    return {"index", "answer", "prediction"} <= row.keys()


def vlmevalkit_rows(raw: Iterator[Row]) -> Iterator[Row]:
    """Yield the records of a table. The kit's text for a failed endpoint is not a response."""
    for row in raw:
        choices = read_option_columns(row)
        prediction = extract_text(row["prediction"]) or ""
        failed = prediction.strip().casefold() in NEVER_CAME
        columns = {
            "id": extract_text(row["index"]), "question": extract_text(row.get("question")),
            "choices": choices, "prediction": "" if failed else prediction,
            OUTCOME: "provider_error" if failed else None,
            **build_gold(extract_texts(row["answer"]), choices),
        }  # fmt: skip
        used_columns = {"index", "question", "answer", "prediction", *(CAPITALS if choices else ())}
        yield record(
            columns, {name: value for name, value in row.items() if name not in used_columns}
        )


# Results of EMMA's scripts: one JSON object, with each problem and its response under its id.


def list_by_id(value: Any) -> list[Any]:
    """Return the rows of an object of rows by id; any other value is one row."""
    by_id = isinstance(value, dict) and value and all(isinstance(r, dict) for r in value.values())
    return list(value.values()) if by_id else [value]


def is_emma_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a problem of EMMA with a response."""
    return {"pid", "type", "answer", "response"} <= row.keys()


def emma_rows(raw: Iterator[Row]) -> Iterator[Row]:
    """Yield the records of a result file; a problem without a response has none yet."""
    for row in raw:
        choices = parse_options(row.get("options"))
        is_choice = str(row.get("type")).casefold() == "multiple choice"
        response = extract_text(row.get("response")) or ""
        columns = {
            "id": extract_text(row.get("pid")), "question": extract_text(row.get("question")),
            "choices": choices, "prediction": response,
            OUTCOME: None if response else "provider_error",
            **build_gold(extract_texts(row.get("answer")), choices),
            "answer_type": "mcq" if is_choice else "open",
        }  # fmt: skip
        used = {"pid", "question", "options", "answer", "response"}
        yield record(columns, {name: value for name, value in row.items() if name not in used})
