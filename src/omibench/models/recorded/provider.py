"""The `recorded` provider: published responses, replayed by problem and setting.

A file is Parquet or JSONL with one row a response: `pid` (or `id`), `response`, and if it has
them `index` (sample, from 0), `finish_reason`, `outcome` and `published_true_false` (the printed
verdict).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from omibench.errors import FileFormatError, MissingInputError, ModelError, ParamsError
from omibench.files.hashes import hash_file
from omibench.files.intake import read_frame, read_json_lines
from omibench.models.options import refuse_options
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.params.models.recorded import RecordedModel
from omibench.schemas.request import Request, Response

_COLUMNS = ("response", "index", "finish_reason", "outcome", "published_true_false")


class SampleKey(NamedTuple):
    """Which recorded response: of which setting, problem and sample."""

    setting: str
    problem: str
    sample: int


class RecordedProvider(BaseProvider[RecordedModel]):
    """A model whose responses were recorded. Nothing is ever sent."""

    def __init__(self, name: str, model: RecordedModel, data: str | None = None) -> None:
        super().__init__(name, model)
        self._responses: dict[SampleKey, Response] = {}
        self._hashes = {
            setting: [self._load(Path(file), setting) for file in model.files(data, setting)]
            for setting in model.responses
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        """As `Provider.identity`: by the files' content."""
        return {
            "provider": self.model.provider,
            "id": self.name,
            "files": self._hashes,
            "reads_tags": True,
        }

    def holds(self, request: Request) -> bool:
        """Whether a response to this request was recorded."""
        return _place(request) in self._responses

    def check_options(self, requests: Sequence[Request]) -> None:
        """As `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "recorded responses hold words alone")

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield every request with its recorded response.

        Raises ModelError, before the first, when some of them were not recorded.
        """
        self.check_options(requests)
        lacking = [request for request in requests if not self.holds(request)]
        if lacking:
            raise ModelError(self.describe_missing(lacking, len(requests)))
        for request in requests:
            yield request, self._responses[_place(request)]

    def describe_missing(self, lacking: Sequence[Request], total: int) -> str:
        """The one line that says how many responses are missing and which comes first."""
        tags = lacking[0].tags
        recorded = [place.problem for place in self._responses if place.setting == tags.setting]
        if recorded and len(lacking) == total:
            return (
                f"model {self.name!r} was recorded on other problems: none of the {total} "
                f"asked for {tags.setting!r} is among its {len(recorded)}; {tags.problem!r} is "
                f"asked, {recorded[0]!r} was recorded"
            )
        if not recorded:
            settings = ", ".join(sorted({place.setting for place in self._responses})) or "none"
            return (
                f"model {self.name!r} has no recorded responses for the setting {tags.setting!r} "
                f"(only for: {settings}); narrow its settings with `infer.only`"
            )
        return (
            f"model {self.name!r} lacks {len(lacking)} of {total} responses for the setting "
            f"{tags.setting!r}, the first is {tags.problem!r} (sample {lacking[0].index}); set "
            "`partial: true` on the model to evaluate only what was recorded"
        )

    def _load(self, path: Path, setting: str) -> str:
        if not path.is_file():
            raise MissingInputError(
                f"{path}: this file of recorded responses does not exist (model {self.name!r}, "
                f"setting {setting!r}); its folder is the study's `data`"
            )
        for row in _rows(path):
            place = SampleKey(setting, str(row["problem"]), int(row.get("index") or 0))
            if place in self._responses:
                raise FileFormatError(
                    f"{path}: holds a second response to {place.problem!r} for the setting "
                    f"{setting!r}; number the samples in a column `index`"
                )
            self._responses[place] = _response(row, path)
        return hash_file(path)


def _place(request: Request) -> SampleKey:
    return SampleKey(request.tags.setting, request.tags.problem, request.index)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    suffix = path.suffix.lower()
    if suffix not in (".parquet", ".jsonl"):
        raise ParamsError(f"{path}: recorded responses are .parquet or .jsonl files")
    for number, row in enumerate(_parquet(path) if suffix == ".parquet" else _lines(path), 1):
        key = next((name for name in ("pid", "id") if row.get(name) is not None), None)
        if key is None or "response" not in row:
            lacking = "response" if key else "pid"
            raise FileFormatError(
                f"{path}, row {number}: lacks the column {lacking!r}; it has {list(row)}"
            )
        if not isinstance(row["response"], str | None):
            raise FileFormatError(
                f"{path}, row {number}: response is no text (got {row['response']!r})"
            )
        yield {"problem": row[key], **{name: row[name] for name in _COLUMNS if name in row}}


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    return read_frame(path).iter_rows(named=True)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, row in read_json_lines(path):
        if not isinstance(row, dict):
            raise FileFormatError(f"{path}, line {number}: holds no object")
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
