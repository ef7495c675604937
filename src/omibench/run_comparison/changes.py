"""Differences between two runs as text: parameters of jobs, models that answered, scorers.

The parameters of a job are in the `provenance.json` of the results, if `omibench record` has
written one. It is external input: its values are treated as data, masked and shortened.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.graph.provenance.provenance import NAME, Provenance
from omibench.params.cell import Cell
from omibench.run_comparison.cell_pair import BITS, CellPair
from omibench.run_comparison.report import LISTED, Component, RunChange
from omibench.run_comparison.run_files import CellRun, RunFiles, Scoring
from omibench.schemas.cells.origin import read_origin
from omibench.schemas.tables import read_json
from omibench.text.masking import mask_line, masked_values

if TYPE_CHECKING:
    import polars as pl

_SLICE_CHARS = 1_000_000
_VALUE_CHARS = 120
_JUDGING = ("models.", "score.judge", "score.grader", "score.extractor", "study.")
_DATASET = ("freeze/questions.jsonl", "freeze/answers.jsonl")
ABSENT = "(absent)"

Change = tuple[Component, str, str, str]
"""Component, field, and its values in run A and B."""


class JobRecord(NamedTuple):
    """The known facts of the job that made a file."""

    params: Mapping[str, str] | None
    """Its parameters by dotted path; None if unknown."""
    inputs: Mapping[str, str]
    """The hashes of its inputs, without results of the study."""
    code: str
    """Semantic hash of its code."""
    job: str
    """Hash of its parameters; empty if the file does not contain it."""


class ChangeCounter:
    """The changes between the cells of two runs, counted."""

    def __init__(self, a: RunFiles, b: RunFiles) -> None:
        self._runs = (a, b)
        self._provenances = {
            stage: [_read_provenance(run.folder / stage / NAME) for run in (a, b)]
            for stage in ("infer", "score")
        }
        self._counts: Counter[Change] = Counter()

    def add(self, cell: Cell, pair: CellPair) -> None:
        """Count the changes of one cell."""
        components = {part for part, bit in BITS.items() if (pair.differs & bit).any()}
        changes = {*_compare_scorings(pair, components)}
        if "responses" in components:
            changes |= {*_compare_responses(pair), *self._compare_jobs("infer", cell)}
        if components & {"judge", "extraction"} and pair.a.scoring.is_judged:
            changes |= {*self._compare_jobs("score", cell)}
        self._counts.update(changes)

    def list_changes(self) -> tuple[list[RunChange], int]:
        """Return the most frequent changes, at most `LISTED`, and the number of others."""
        order = sorted(self._counts.items(), key=lambda entry: (-entry[1], entry[0]))
        changes = [
            RunChange(component=component, field=field, a=a, b=b, cells=count)
            for (component, field, a, b), count in order[:LISTED]
        ]
        return changes, max(0, len(order) - LISTED)

    def _compare_jobs(self, stage: str, cell: Cell) -> Iterator[Change]:
        component: Component = "responses" if stage == "infer" else "judge"
        a, b = (
            _read_job(run, stage, cell, provenance)
            for run, provenance in zip(self._runs, self._provenances[stage], strict=True)
        )
        if a.params is None or b.params is None:
            if a.job != b.job:
                yield component, f"parameters of {stage} (hash)", a.job or ABSENT, b.job or ABSENT
            return
        for field in sorted(a.params.keys() | b.params.keys()):
            is_about = stage == "infer" or field.startswith(_JUDGING)
            values = a.params.get(field, ABSENT), b.params.get(field, ABSENT)
            if is_about and values[0] != values[1]:
                yield component, field, *values
        for file in sorted(a.inputs.keys() | b.inputs.keys()):
            hashes = a.inputs.get(file, ABSENT), b.inputs.get(file, ABSENT)
            if hashes[0] != hashes[1]:
                yield component, f"file {_shorten(file)}", *hashes
        if a.code != b.code:
            yield component, f"code of {stage} (hash)", a.code, b.code


def _read_provenance(path: Path) -> Provenance | None:
    """Return the records of a stage; their paths are relative to the folder in which it ran."""
    return read_json(path, Provenance) if path.is_file() else None


def _compare_scorings(pair: CellPair, components: set[Component]) -> Iterator[Change]:
    a, b = pair.a.scoring, pair.b.scoring
    for component in ("rules", "judge"):
        if component not in components:
            continue
        texts = _describe_scoring(a), _describe_scoring(b)
        if texts[0] != texts[1]:
            yield component, "scored by", *texts
        elif component == "rules":
            yield component, "code or packages", "of the same version", "give other verdicts"
        else:
            yield component, "judge", "of the same name and prompt", "gave other judgements"


def _describe_scoring(scoring: Scoring) -> str:
    text = f"{scoring.rules} {scoring.version}"
    if scoring.judge is not None:
        text += f", judge {scoring.judge}, prompt {(scoring.prompt_sha256 or '')[:8]}"
    return _shorten(text)


def _compare_responses(pair: CellPair) -> Iterator[Change]:
    """Return the differences stored with the responses."""
    facts = [_describe_responses(run) for run in (pair.a, pair.b)]
    for field in facts[0]:
        a, b = (fact[field] for fact in facts)
        if a != b:
            yield "responses", field, a, b
    if not pair.other_requests and pair.other_replies:
        yield "responses", "requests", "the same", "asked again"


def _describe_responses(run: CellRun) -> dict[str, str]:
    return {
        "served model": _list_values(run.responses["served_model"]),
        "samples of a problem": str(run.responses["index"].n_unique()),
        "simulated": _list_values(run.responses["simulated"]),
    }


def _list_values(column: pl.Series) -> str:
    return _shorten(", ".join(sorted(map(str, column.drop_nulls().unique())))) or ABSENT


def _read_job(run: RunFiles, stage: str, cell: Cell, provenance: Provenance | None) -> JobRecord:
    name = f"{stage}/{cell.model}/{cell.setting}.parquet"
    origin = read_origin(run.folder / name)
    job = origin.job if origin else ""
    records = provenance.records if provenance else {}
    record = next((entry for path, entry in records.items() if f"/{path}".endswith(f"/{name}")), {})
    params, code = None, ""
    for text in _list_texts(record.get("params")):
        values = _parse_slice(text)
        if values is None:
            code = _shorten(text)
        elif not job or job == _hash_slice(stage, values):
            params = dict(_flatten(masked_values(values)))
    checksums = record.get("input_checksums")
    inputs = {
        str(path): _shorten(str(digest))
        for path, digest in (checksums if isinstance(checksums, dict) else {}).items()
        if not str(path).endswith((*_DATASET, ".parquet"))
    }
    return JobRecord(params, inputs, code, job)


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


def _parse_slice(text: str) -> dict[str, Any] | None:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _hash_slice(stage: str, values: Mapping[str, Any]) -> str:
    """Return the hash of a job with these parameters, as stored in its file (`graph.job_hash`)."""
    text = json.dumps([stage, values], sort_keys=True, ensure_ascii=False)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _flatten(values: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(values, Mapping) and values:
        for name, value in values.items():
            yield from _flatten(value, f"{path}.{name}" if path else str(name))
    else:
        yield path, _shorten(json.dumps(values, ensure_ascii=False))


def _shorten(text: str) -> str:
    return mask_line(text, _VALUE_CHARS)
