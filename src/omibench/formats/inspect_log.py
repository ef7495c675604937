"""Logs of inspect: `.eval`, a zip file with a JSON file for each sample, and `.json`.

Of a sample are read its `id`, `epoch`, `input`, `choices`, `target`, `output` and `error`. The
responses of tools and the transcript are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.files.intake import parse_json
from omibench.formats.content import Row
from omibench.formats.packed import Packed
from omibench.formats.record import ASKED, gold_of, record
from omibench.formats.values import options_of, text_of, texts_of
from omibench.schemas.request import Outcome

TOOL: Final = "inspect"
HEADER: Final = "header.json"
_STARTED: Final = "_journal/start.json"
_STOPPED: Final = {"max_tokens": "length", "model_length": "length"}


def is_packed(names: list[str]) -> bool:
    """Whether the members of a zip file are those of such a log, also of one cut short."""
    return HEADER in names or _STARTED in names


def is_document(value: Any) -> bool:
    """Whether a JSON value is such a log."""
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and "status" in value


def packed_rows(packed: Packed, path: Path) -> Iterator[Row]:
    """The records of a log in a zip file, in its order."""
    head = HEADER if HEADER in packed.names else _STARTED
    about = _about(parse_json(packed.read(head), f"{path}, {head}", lenient=True))
    for name in packed.names:
        if name.startswith("samples/") and name.endswith(".json"):
            where = f"{path}, {name[:120]}"
            yield _row(parse_json(packed.read(name), where, lenient=True), about, where)


def document_rows(value: Mapping[str, Any], path: Path) -> Iterator[Row]:
    """The records of a log that is one JSON object."""
    about = _about(value)
    samples = value.get("samples")
    if not isinstance(samples, list):
        raise FileFormatError(f"{path}: is the header of an inspect log, without its samples")
    for number, sample in enumerate(samples, 1):
        yield _row(sample, about, f"{path}, sample {number}")


def _about(header: Any) -> dict[str, Any]:
    run = header.get("eval") if isinstance(header, dict) else None
    return {name: text_of(run.get(name)) for name in ("task", "model")} if run else {}


def _row(sample: Any, about: Mapping[str, Any], where: str) -> Row:
    if not isinstance(sample, dict) or "target" not in sample:
        raise FileFormatError(f"{where}: is no sample of inspect: it has no 'target'")
    choices = options_of(sample.get("choices"))
    prediction, stopped = _answered(_object(sample, "output"))
    epoch = sample.get("epoch")
    known = {
        **about,
        "id": text_of(sample.get("id")), "index": epoch - 1 if isinstance(epoch, int) else 0,
        "question": _said(sample.get("input")), "choices": choices, "prediction": prediction,
        "finish_reason": _STOPPED.get(stopped or "", stopped),
        ASKED: _outcome(sample, prediction, stopped),
        **gold_of(texts_of(sample["target"]), choices),
    }  # fmt: skip
    values = {
        f"inspect_{name}": text_of(score.get("value"))
        for name, score in _object(sample, "scores").items()
        if isinstance(score, dict)
    }
    return record(known, values)


def _object(sample: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = sample.get(name)
    return value if isinstance(value, dict) else {}


def _outcome(sample: Mapping[str, Any], prediction: str, stopped: str | None) -> Outcome | None:
    """Why a sample has no response; None where it has one."""
    if prediction:
        return None
    if stopped == "content_filter":
        return "refused"
    return "provider_error" if sample.get("error") else None


def _answered(output: Mapping[str, Any]) -> tuple[str, str | None]:
    """The last message of the model and why it stopped."""
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        return text_of(output.get("completion")) or "", None
    said = _said(first["message"].get("content"))
    return said or text_of(output.get("completion")) or "", text_of(first.get("stop_reason"))


def _said(content: Any) -> str | None:
    """The text of a message: itself, or its parts of text; of a conversation its last question."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part for part in content if isinstance(part, dict)]
    asked = [part for part in parts if part.get("role") == "user"]
    if asked:
        return _said(asked[-1].get("content"))
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "\n".join(texts) or None
