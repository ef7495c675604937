"""The `recorded` provider: published responses, replayed by problem and setting.

A file is Parquet or JSONL with one row per response: `pid` (or `id`), `response`, and optionally
`index` (sample, from 0), `finish_reason`, `outcome` and `published_true_false` (the printed
verdict).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from omibench.errors import FileFormatError, MissingInputError, ModelError, ParamsError
from omibench.files.parquet import read_table_rows
from omibench.files.reading import hash_file, read_json_lines
from omibench.models.provider import (
    NO_BUDGET,
    NO_FOLDERS,
    BaseProvider,
    Budget,
    Folders,
    refuse_options,
)
from omibench.models.registry import provider
from omibench.params.models.providers import RecordedModel
from omibench.schemas.request import Request, Response

_COLUMNS = ("response", "index", "finish_reason", "outcome", "published_true_false")


Place = tuple[str, str, int]
"""Setting, problem and sample of a recorded response."""


@provider("recorded", block=RecordedModel)
class RecordedProvider(BaseProvider[RecordedModel]):
    """A model with recorded responses. Nothing is ever sent."""

    def __init__(self, name: str, model: RecordedModel, folders: Folders = NO_FOLDERS) -> None:
        super().__init__(name, model, folders)
        self._responses: dict[Place, Response] = {}
        self._hashes = {
            setting: [self._load(Path(p), setting) for p in model.files(folders.data, setting)]
            for setting in model.responses
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `Provider.identity`: the content of the files."""
        return {
            "provider": self.model.provider,
            "id": self.name,
            "files": self._hashes,
            "reads_tags": True,
        }

    def holds(self, request: Request) -> bool:
        """Return whether a response to this request was recorded."""
        return _place(request) in self._responses

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "recorded responses contain only text")

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield every request with its recorded response.

        Raises ModelError, before the first one, if some were not recorded.
        """
        self.check_options(requests)
        lacking = [request for request in requests if not self.holds(request)]
        if lacking:
            raise ModelError(self.describe_missing(lacking, len(requests)))
        for request in requests:
            yield request, self._responses[_place(request)]

    def describe_missing(self, lacking: Sequence[Request], total: int) -> str:
        """Describe on one line the number of missing responses and the first of them."""
        tags = lacking[0].tags
        recorded = [problem for setting, problem, _ in self._responses if setting == tags.setting]
        if recorded and len(lacking) == total:
            return (
                f"model {self.name!r}: recorded for other problems; none of the {total} problems "
                f"of {tags.setting!r} is among its {len(recorded)} (for example {tags.problem!r} "
                f"is requested, {recorded[0]!r} was recorded)"
            )
        if not recorded:
            settings = ", ".join(sorted({setting for setting, _, _ in self._responses})) or "none"
            return (
                f"model {self.name!r}: no recorded responses for the setting {tags.setting!r} "
                f"(only for: {settings}); limit its settings with `infer.only`"
            )
        return (
            f"model {self.name!r}: {len(lacking)} of {total} responses for the setting "
            f"{tags.setting!r} are missing, the first is {tags.problem!r} (sample "
            f"{lacking[0].index}); set `partial: true` on the model to evaluate only the recorded "
            "ones"
        )

    def _load(self, path: Path, setting: str) -> str:
        if not path.is_file():
            raise MissingInputError(
                f"{path}: this file of recorded responses does not exist (model {self.name!r}, "
                f"setting {setting!r}); the path is relative to the study's `data` folder"
            )
        for row in _rows(path):
            place = setting, str(row["problem"]), int(row.get("index") or 0)
            if place in self._responses:
                raise FileFormatError(
                    f"{path}: a second response to {place[1]!r} for the setting {setting!r}; "
                    "number the samples in a column `index`"
                )
            self._responses[place] = _response(row, path)
        return hash_file(path)


def _place(request: Request) -> Place:
    return request.tags.setting, request.tags.problem, request.index


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    suffix = path.suffix.lower()
    if suffix not in (".parquet", ".jsonl"):
        raise ParamsError(f"{path}: recorded responses must be .parquet or .jsonl files")
    rows = read_table_rows(path) if suffix == ".parquet" else _lines(path)
    for number, row in enumerate(rows, 1):
        key = next((name for name in ("pid", "id") if row.get(name) is not None), None)
        if key is None or "response" not in row:
            lacking = "response" if key else "pid"
            raise FileFormatError(
                f"{path}, row {number}: the column {lacking!r} is missing; it has {list(row)}"
            )
        if not isinstance(row["response"], str | None):
            raise FileFormatError(
                f"{path}, row {number}: response is not text (got {row['response']!r})"
            )
        yield {"problem": row[key], **{name: row[name] for name in _COLUMNS if name in row}}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, row in read_json_lines(path):
        if not isinstance(row, dict):
            raise FileFormatError(f"{path}, line {number}: is not an object")
        yield row


def _response(row: Mapping[str, Any], path: Path) -> Response:
    text = row["response"] or ""
    outcome = row.get("outcome") or ("answered" if text.strip() else "empty")
    values = {
        "text": text,
        "outcome": outcome,
        "finish_reason": row.get("finish_reason"),
        "published_verdict": row.get("published_true_false"),
    }
    try:
        return Response.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise FileFormatError(
            f"{path}: {row['problem']!r}: {first['loc'][0]}: {first['msg']} "
            f"(got {first['input']!r})"
        ) from None
