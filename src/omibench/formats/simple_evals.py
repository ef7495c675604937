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

from omibench.errors import FileFormatError
from omibench.formats.content import Row
from omibench.formats.options import options_in_question
from omibench.formats.record import OUTCOME, record
from omibench.formats.values import CAPITALS, NEVER_CAME, extract_text

TOOL: Final = "simple-evals"
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


def is_document(value: Any) -> bool:
    """Return whether a JSON value is a file of all results."""
    return isinstance(value, dict) and {"htmls", "convos"} <= value.keys()


def is_metrics(value: Any) -> bool:
    """Return whether a JSON value is a file of metrics only."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("score"), int | float)
        and all(isinstance(entry, int | float) for entry in value.values())
    )


def document_rows(value: Mapping[str, Any], path: Path) -> Iterator[Row]:
    """Yield the records of a file of all results; gold answers come from its pages."""
    htmls, convos = value["htmls"], value["convos"]
    if not isinstance(htmls, list) or not isinstance(convos, list) or len(htmls) != len(convos):
        raise FileFormatError(f"{path}: 'htmls' and 'convos' differ in length")
    for number, (html, convo) in enumerate(zip(htmls, convos, strict=True), 1):
        place = f"{path}, example {number}"
        page_examples = examples(extract_text(html) or "")
        if len(page_examples) != 1:
            raise FileFormatError(f"{place}: its page is not a page of simple-evals")
        messages = [
            (str(message.get("role")), extract_text(message.get("content")) or "")
            for message in (convo if isinstance(convo, list) else [])
            if isinstance(message, dict)
        ]
        page_examples[0].messages = messages or page_examples[0].messages
        yield _row(page_examples[0], number, place)


def report_rows(html: str, path: Path) -> Iterator[Row]:
    """Yield the records of a report."""
    for number, example in enumerate(examples(html), 1):
        yield _row(example, number, f"{path}, example {number}")


def examples(html: str) -> list[ReportedExample]:
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
        elif line:
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
