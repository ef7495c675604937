"""Differences between the jobs and the responses of two runs, as text.

The parameters of a job are in the `provenance.json` of the results, if `omibench record` has
written one. It is external input: its values are treated as data, masked and shortened.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from omibench.graph.provenance.provenance import NAME, Provenance
from omibench.params.cell import Cell
from omibench.run_comparison.report import Cause
from omibench.schemas.cells.origin import read_origin
from omibench.schemas.tables import read_json
from omibench.text.masking import mask_line, masked_values

Change = tuple[Cause, str, str, str]
"""Cause, field, and its values in run A and B."""
ABSENT = "(absent)"
_SLICE_CHARS = 1_000_000
_VALUE_CHARS = 120
_JUDGING = ("models.", "score.judge", "score.grader", "score.extractor", "study.")
_DATASET = ("freeze/questions.jsonl", "freeze/answers.jsonl")


def shorten(text: str) -> str:
    """Return text of others as one short line without secrets."""
    return mask_line(text, _VALUE_CHARS)


def list_responses(a: pl.DataFrame, b: pl.DataFrame) -> set[Change]:
    """Return the differences stored with the responses of a cell: one row per sample."""
    changes: set[Change] = set()
    for name in ("served_model", "simulated"):
        values = [", ".join(sorted(map(str, side[name].drop_nulls().unique()))) for side in (a, b)]
        if values[0] != values[1]:
            texts = [shorten(value) or ABSENT for value in values]
            changes.add(("response", name.replace("_", " "), texts[0], texts[1]))
    counts = [str(frame["index"].n_unique()) for frame in (a, b)]
    if counts[0] != counts[1]:
        changes.add(("sample", "samples of a problem", counts[0], counts[1]))
    keys = [frame.select("id", "index", "key").sort("id", "index") for frame in (a, b)]
    if keys[0].equals(keys[1]):
        changes.add(("response", "requests", "the same", "asked again"))
    return changes


class _Job(NamedTuple):
    """What is known about the job that made a file."""

    params: Mapping[str, str] | None
    """Its parameters by dotted path; None if unknown."""
    inputs: Mapping[str, str]
    """The hashes of its inputs, without results of the study."""
    code: str
    job: str
    """Hash of its parameters; empty if the file does not contain it."""


class JobRecords:
    """The records of the jobs of two runs."""

    def __init__(self, a: Path, b: Path) -> None:
        """Read the provenance of two results folders. Raises FileFormatError if it is broken."""
        self._folders = (a, b)
        self._provenances: dict[tuple[Path, str], Provenance] = {}
        for folder in (a, b):
            for stage in ("infer", "score"):
                path = folder / stage / NAME
                if path.is_file():
                    self._provenances[folder, stage] = read_json(path, Provenance)

    def compare(self, stage: str, cell: Cell) -> set[Change]:
        """Return the differences between the jobs that made a cell in a stage."""
        a, b = (self._read_job(folder, stage, cell) for folder in self._folders)
        cause: Cause = "response" if stage == "infer" else "scorer"
        if a.params is None or b.params is None:
            if a.job == b.job:
                return set()
            return {(cause, f"parameters of {stage} (hash)", a.job or ABSENT, b.job or ABSENT)}
        fields = [
            (field, a.params.get(field, ABSENT), b.params.get(field, ABSENT))
            for field in a.params.keys() | b.params.keys()
            if stage == "infer" or field.startswith(_JUDGING)
        ]
        fields += [
            (f"file {shorten(file)}", a.inputs.get(file, ABSENT), b.inputs.get(file, ABSENT))
            for file in a.inputs.keys() | b.inputs.keys()
        ]
        fields.append((f"code of {stage} (hash)", a.code, b.code))
        return {(cause, field, old, new) for field, old, new in fields if old != new}

    def _read_job(self, folder: Path, stage: str, cell: Cell) -> _Job:
        name = f"{stage}/{cell.model}/{cell.setting}.parquet"
        origin = read_origin(folder / name)
        job = origin.job if origin else ""
        # The paths of a record are relative to the folder in which the run was made.
        provenance = self._provenances.get((folder, stage))
        records = provenance.records if provenance else {}
        entries = (entry for path, entry in records.items() if f"/{path}".endswith(f"/{name}"))
        record = next(entries, {})
        params, code = None, ""
        for text in _list_texts(record.get("params")):
            try:
                values = json.loads(text)
            except (ValueError, RecursionError):
                values = None
            if not isinstance(values, dict):
                code = shorten(text)
            elif not job or job == _hash_slice(stage, values):
                params = dict(_flatten(masked_values(values)))
        checksums = record.get("input_checksums")
        inputs = {
            str(path): shorten(str(digest))
            for path, digest in (checksums if isinstance(checksums, dict) else {}).items()
            if not str(path).endswith((*_DATASET, ".parquet"))
        }
        return _Job(params, inputs, code, job)


def _list_texts(values: object) -> Iterator[str]:
    """Parse the parameters of a Snakemake record, which stores each as Python text."""
    for value in values if isinstance(values, list) else []:
        if isinstance(value, str) and len(value) <= _SLICE_CHARS:
            try:
                text = ast.literal_eval(value)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(text, str):
                yield text


def _hash_slice(stage: str, values: Mapping[str, Any]) -> str:
    """Return the hash of a job with these parameters, as stored in its file (`graph.job_hash`)."""
    text = json.dumps([stage, values], sort_keys=True, ensure_ascii=False)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _flatten(values: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(values, Mapping) and values:
        for name, value in values.items():
            yield from _flatten(value, f"{path}.{name}" if path else str(name))
    else:
        yield path, shorten(json.dumps(values, ensure_ascii=False))
