"""Inspect logs: `.eval`, a zip file with a JSON file for each sample, and `.json`.

Of each sample, `id`, `epoch`, `input`, `choices`, `target`, `output` and `error` are read;
responses of tools and the transcript are not. A log written by omibench is marked in its header;
its targets are answers in parts, and its samples can contain the group and the labels of their
choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.files.intake import parse_json
from omibench.formats.content import Row
from omibench.formats.packed import Packed
from omibench.formats.record import ANY_OF, OUTCOME, build_gold, record
from omibench.formats.values import extract_text, extract_texts, parse_options
from omibench.schemas.request import Outcome

TOOL: Final = "inspect"
HEADER: Final = "header.json"
_STARTED: Final = "_journal/start.json"
_STOPPED: Final = {"max_tokens": "length", "model_length": "length"}


def is_packed(names: list[str]) -> bool:
    """Return whether the members of a zip file are those of such a log, even a truncated one."""
    return HEADER in names or _STARTED in names


def is_document(value: Any) -> bool:
    """Return whether a JSON value is such a log."""
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and "status" in value


def packed_rows(packed: Packed, path: Path) -> Iterator[Row]:
    """Yield the records of a log in a zip file, in its order."""
    head = HEADER if HEADER in packed.names else _STARTED
    header = parse_json(packed.read(head), f"{path}, {head}", lenient=True)
    run_details, is_ours = _read_header(header), _is_written_by_omibench(header)
    for name in packed.names:
        if name.startswith("samples/") and name.endswith(".json"):
            place = f"{path}, {name[:120]}"
            sample = parse_json(packed.read(name), place, lenient=True)
            yield _row(sample, run_details, place, is_ours=is_ours)


def document_rows(value: Mapping[str, Any], path: Path) -> Iterator[Row]:
    """Yield the records of a log that is one JSON object."""
    run_details, is_ours = _read_header(value), _is_written_by_omibench(value)
    samples = value.get("samples")
    if not isinstance(samples, list):
        raise FileFormatError(f"{path}: is the header of an inspect log, without its samples")
    for number, sample in enumerate(samples, 1):
        yield _row(sample, run_details, f"{path}, sample {number}", is_ours=is_ours)


def _read_header(header: Any) -> dict[str, Any]:
    run = header.get("eval") if isinstance(header, dict) else None
    return {name: extract_text(run.get(name)) for name in ("task", "model")} if run else {}


def _is_written_by_omibench(header: Any) -> bool:
    run = header.get("eval") if isinstance(header, dict) else None
    return isinstance(run, dict) and "omibench" in _object(run, "metadata")


def _row(sample: Any, run_details: Mapping[str, Any], place: str, *, is_ours: bool) -> Row:
    if not isinstance(sample, dict) or "target" not in sample:
        raise FileFormatError(f"{place}: is not a sample of inspect; it has no 'target'")
    facts = _object(sample, "metadata") if is_ours else {}
    choices = _name_choices(parse_options(sample.get("choices")), facts.get("choice_labels"))
    prediction, stopped = _read_answer(_object(sample, "output"))
    epoch = sample.get("epoch")
    columns = {
        **run_details,
        "id": extract_text(sample.get("id")), "index": epoch - 1 if isinstance(epoch, int) else 0,
        "question": _extract_message(sample.get("input")), "choices": choices,
        "prediction": prediction,
        "finish_reason": _STOPPED.get(stopped or "", stopped),
        OUTCOME: _outcome(sample, prediction, stopped),
        **build_gold(extract_texts(sample["target"]), choices),
        **({ANY_OF: None, "group": extract_text(facts.get("group"))} if is_ours else {}),
    }  # fmt: skip
    values = {
        f"inspect_{name}": extract_text(score.get("value"))
        for name, score in _object(sample, "scores").items()
        if isinstance(score, dict)
    }
    return record(columns, values)


def _name_choices(choices: dict[str, str] | None, labels: Any) -> dict[str, str] | None:
    """Return choices with their labels, if these differ from A, B, ..."""
    if choices is None or not isinstance(labels, list) or len(labels) != len(choices):
        return choices
    return dict(zip(map(str, labels), choices.values(), strict=True))


def _object(sample: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = sample.get(name)
    return value if isinstance(value, dict) else {}


def _outcome(sample: Mapping[str, Any], prediction: str, stopped: str | None) -> Outcome | None:
    """Return why a sample has no response; None if it has one."""
    if prediction:
        return None
    if stopped == "content_filter":
        return "refused"
    return "provider_error" if sample.get("error") else None


def _read_answer(output: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the last message of the model and its stop reason."""
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        return extract_text(output.get("completion")) or "", None
    message = _extract_message(first["message"].get("content"))
    return message or extract_text(output.get("completion")) or "", extract_text(
        first.get("stop_reason")
    )


def _extract_message(content: Any) -> str | None:
    """Return the text of a message or of its text parts; of a conversation, the last question."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part for part in content if isinstance(part, dict)]
    questions = [part for part in parts if part.get("role") == "user"]
    if questions:
        return _extract_message(questions[-1].get("content"))
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "\n".join(texts) or None
