"""Differences between the jobs and the responses of two runs, as text.

The parameters of a job are in the `provenance.json` of the results, if `omibench record` has
written one. It is external input: its values are treated as data, masked and shortened.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from omibench.answers.judges.gptscore import GPTSCORE as INSTRUMENT
from omibench.errors import ArgumentError, UnfinishedError
from omibench.graph.job_hash import hash_slice
from omibench.graph.provenance import NAME, Provenance
from omibench.params.setting import Cell
from omibench.results.comparison.report import (
    CAUSES,
    LISTED,
    Cause,
    CauseTotal,
    CellComparison,
    ChangedVerdict,
    Contrast,
    ItemComposition,
    RunChange,
    RunComparison,
    RunSummary,
    ScoringComparison,
    ScoringSummary,
)
from omibench.results.statistics.paired import paired_difference
from omibench.results.study_files import StudyFiles, find_results_folder
from omibench.schemas.cells import read_cell, read_origin
from omibench.schemas.problem import Answer
from omibench.schemas.tables import read_typed_json
from omibench.schemas.validation import suggest_name
from omibench.text.lists import list_first
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
                    self._provenances[folder, stage] = read_typed_json(path, Provenance)

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
            elif not job or job == hash_slice(stage, values):
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


def _flatten(values: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(values, Mapping) and values:
        for name, value in values.items():
            yield from _flatten(value, f"{path}.{name}" if path else str(name))
    else:
        yield path, shorten(json.dumps(values, ensure_ascii=False))


# Comparison of two runs: each changed verdict with the first thing that differs.

GPTSCORE = INSTRUMENT.name
EQUAL = 1e-9
"""Differences of verdicts below this are zero."""
_STAGES = ("freeze", "infer", "score", "aggregate")
_SAMPLE = ["id", "index"]
"""The columns that identify a sample of a cell."""
_SEEN_BY_SCORER = ("text", "outcome", "finish_reason", "published_verdict")
"""Columns of a response that a scorer may read."""


class Run(StudyFiles):
    """A results folder whose files must not change while they are compared."""

    def __init__(self, folder: Path) -> None:
        """Note the state of every file that a comparison reads.

        Raises:
            MissingInputError: The folder has no results.
        """
        super().__init__(find_results_folder(folder))
        self._states = self._read_states()

    def check_unchanged(self) -> None:
        """Check that no file was added, changed or removed since. Raises UnfinishedError."""
        changed = sorted(name for name, _ in self._states.items() ^ self._read_states().items())
        if changed:
            raise UnfinishedError(
                f"{self.folder}: {changed[0]} changed during reading; wait until the run in this "
                "folder has ended (`omibench status`), then compare again"
            )

    def find_main_rules(self, rules: str | None) -> str:
        """Return the scorer to compare: `rules`, or the run's first one.

        Raises:
            ArgumentError: The run has no cell with verdicts, or none of this scorer.
        """
        names: dict[str, None] = {}
        for cell in self.scored_cells:
            rows = read_cell(self.locate("score", cell), ["rules"])
            names |= dict.fromkeys(rows["rules"].unique(maintain_order=True))
            if names and (rules is None or rules in names):
                return rules or next(iter(names))
        if not names:
            raise ArgumentError(f"{self.folder}: no verdicts; run `omibench score` first")
        raise ArgumentError(
            f"rules: {self.folder} has no verdict of {rules!r}{suggest_name(str(rules), names)}"
        )

    def summarise(self, simulated: bool) -> RunSummary:
        """Describe the run; `simulated` states whether the compared data are simulated."""
        return RunSummary(
            folder=str(self.folder), dataset=self.manifest.name, version=self.manifest.version,
            problems=len(self.answers),
            simulated=simulated or self.manifest.synthetic is not None,
        )  # fmt: skip

    def _read_states(self) -> dict[str, tuple[int, int]]:
        states = {}
        for stage in _STAGES:
            for path in (self.folder / stage).rglob("*"):
                if path.suffix in (".parquet", ".jsonl", ".json") and path.is_file():
                    state = path.stat()
                    name = path.relative_to(self.folder).as_posix()
                    states[name] = (state.st_size, state.st_mtime_ns)
        return states


class Scoring(NamedTuple):
    """The scorer or judge of a cell's verdicts."""

    rules: str
    version: int
    judge: str | None
    prompt_sha256: str | None

    def describe(self) -> str:
        """Return it as one line."""
        text = f"{self.rules} {self.version}"
        if self.judge is not None:
            text += f", judge {self.judge}, prompt {(self.prompt_sha256 or '')[:8]}"
        return shorten(text)


def compare_run_folders(
    a: Path,
    b: Path,
    rules: tuple[str | None, str | None] = (None, None),
    confidence: float = 0.95,
) -> RunComparison:
    """Compare two results folders, and find the first thing that differs for each changed verdict.

    Args:
        a: The first results folder; params.yaml is not needed.
        b: The second one, over the same dataset or another version of it.
        rules: The scorer, or `gptscore`, of each run; None for its first scorer. If neither is
            given and both runs have judgements, GPTScore is compared as well.
        confidence: Two-sided level of the interval of each difference, in (0, 1).

    Returns:
        The comparison; the changes by cause sum to the difference over common problems.

    Raises:
        MissingInputError: A folder is not a results folder.
        ArgumentError: The runs share no dataset or cell, or lack verdicts of the rules.
        FileFormatError: A file is broken.
        UntrustedError: A file was edited or replaced.
        UnfinishedError: A folder was written to during the comparison.
    """
    runs = Run(a), Run(b)
    if runs[0].folder.resolve() == runs[1].folder.resolve():
        raise ArgumentError(f"{a} and {b}: the same folder; pass two runs")
    composition, edited, other_gold = _compare_problems(*runs)
    names = runs[0].find_main_rules(rules[0]), runs[1].find_main_rules(rules[1])
    tables = [_Table(runs, names, confidence, edited, other_gold)]
    if rules == (None, None) and GPTSCORE not in names:
        tables.append(_Table(runs, (GPTSCORE, GPTSCORE), confidence, edited, other_gold))
    for cell in sorted({*runs[0].scored_cells} & {*runs[1].scored_cells}):
        samples = _read_samples(runs[0], cell), _read_samples(runs[1], cell)
        for table in tables:
            table.add(cell, *samples)
    if not tables[0].cells:
        scored = [f"{run.folder} has {_name_cells(run.scored_cells)}" for run in runs]
        raise ArgumentError(f"{a} and {b}: share no scored cell; {', '.join(scored)}")
    for run in runs:
        run.check_unchanged()
    filled = [table for table in tables if table.cells]
    cells = [{f"{cell.model}/{cell.setting}" for cell in run.list_cells()} for run in runs]
    return RunComparison(
        **filled[0].describe(),
        a=runs[0].summarise(any(table.simulated[0] for table in filled)),
        b=runs[1].summarise(any(table.simulated[1] for table in filled)),
        confidence=confidence,
        cells_only_a=sorted(cells[0] - cells[1])[:LISTED],
        cells_only_b=sorted(cells[1] - cells[0])[:LISTED],
        composition=composition,
        gptscore=ScoringComparison(**filled[1].describe()) if len(filled) > 1 else None,
    ).attach_items(pl.concat([table.list_changed() for table in filled]))


def _compare_problems(a: Run, b: Run) -> tuple[ItemComposition, set[str], set[str]]:
    """Count the problems; return also the edited ones, and those with another gold answer."""
    common = a.answers.keys() & b.answers.keys()
    asked = {name for name in common if _ask_view(a, name) != _ask_view(b, name)}
    names = a.manifest.name, b.manifest.name
    if not common or (names[0] != names[1] and asked == common):
        reason = "no problem" if common else "no problem's statement"
        raise ArgumentError(
            f"{a.folder} and {b.folder}: different datasets, {names[0]!r} and {names[1]!r}, which "
            f"share {reason}; compare two runs over the same problems"
        )

    def answer_form(answer: Answer) -> tuple[object, object]:
        return answer.answer_type, answer.choices

    edited = asked | {n for n in common if answer_form(a.answers[n]) != answer_form(b.answers[n])}
    gold = {name for name in common if a.answers[name].answer != b.answers[name].answer}
    only_a, only_b = a.answers.keys() - common, b.answers.keys() - common
    composition = ItemComposition(
        common=len(common), only_a=len(only_a), only_b=len(only_b), edited=len(edited),
        other_gold=len(gold), only_a_ids=sorted(only_a)[:LISTED],
        only_b_ids=sorted(only_b)[:LISTED], edited_ids=sorted(edited)[:LISTED],
        other_gold_ids=sorted(gold)[:LISTED],
    )  # fmt: skip
    return composition, edited, gold


def _ask_view(run: Run, name: str) -> object:
    """Return the model input of a problem."""
    question = run.questions.get(name)
    if question is None:
        return None
    return question.question, [figure.sha256 for figure in question.images], question.choices


def _read_samples(run: Run, cell: Cell) -> pl.DataFrame:
    """Return one row per verdict of a cell that counts, with its response."""
    responses = run.read_responses(cell).unique(_SAMPLE, keep="first", maintain_order=True)
    verdicts = run.read_verdicts(cell, responses).filter("counts")
    columns = ["rules", "version", "judge", "prompt_sha256", "verdict", "simulated"]
    seen = [*_SAMPLE, "key", *_SEEN_BY_SCORER, "served_model", "simulated"]
    samples = verdicts.select(*_SAMPLE, *columns).join(
        responses.select(seen), on=_SAMPLE, suffix="_response", maintain_order="left"
    )
    simulated = pl.col("simulated") | pl.col("simulated_response")
    return samples.with_columns(simulated=simulated).drop("simulated_response")


class _Table:
    """The comparison under one scorer of each run, filled cell by cell."""

    def __init__(
        self,
        runs: tuple[Run, Run],
        rules: tuple[str, str],
        confidence: float,
        edited: set[str],
        other_gold: set[str],
    ) -> None:
        self.cells: list[dict[str, Any]] = []
        """The fields of a CellComparison without ranks."""
        self.simulated = [False, False]
        self._runs, self._rules, self._confidence = runs, rules, confidence
        self._edited, self._other_gold = edited, other_gold
        self._jobs = JobRecords(runs[0].folder, runs[1].folder)
        self._frames: list[pl.DataFrame] = []
        self._changes: Counter[Change] = Counter()
        self._scorings: tuple[set[Scoring], set[Scoring]] = (set(), set())
        self._left_out: list[str] = []

    def add(self, cell: Cell, a: pl.DataFrame, b: pl.DataFrame) -> None:
        """Compare a cell of both runs, if both have verdicts of the rules."""
        samples = [
            frame.filter(rules=name) for frame, name in zip((a, b), self._rules, strict=True)
        ]
        for frame, name in zip(samples, self._rules, strict=True):
            if not frame.height:
                self._leave_out(cell, f"lacks verdicts of {name}")
                return
        scorings = [Scoring(*frame.select(Scoring._fields).row(0)) for frame in samples]
        frame = self._compare_samples(cell, *samples, other_scorer=scorings[0] != scorings[1])
        if not frame["cause"].count():
            self._leave_out(cell, "has no problem with a verdict in both runs")
            return
        simulated = [bool(frame["simulated"].any()) for frame in samples]
        for side in (0, 1):
            self.simulated[side] |= simulated[side]
            self._scorings[side].add(scorings[side])
        self._frames.append(frame)
        self.cells.append(
            self._contrast(frame)
            | {"model": cell.model, "setting": cell.setting, "simulated": any(simulated)}
        )
        self._changes.update(self._find_changes(cell, frame, scorings, samples))

    def _leave_out(self, cell: Cell, reason: str) -> None:
        self._left_out.append(f"{cell.model}/{cell.setting}: skipped because it {reason}")

    def _compare_samples(
        self, cell: Cell, a: pl.DataFrame, b: pl.DataFrame, *, other_scorer: bool
    ) -> pl.DataFrame:
        """Return one row per problem: mean verdicts, and cause and differences if in both runs."""
        means = [frame.group_by("id").agg(pl.col("verdict").mean()) for frame in (a, b)]
        pairs = a.join(b, on=_SAMPLE, how="full", suffix="_b", coalesce=True)
        flags = pairs.group_by("id").agg(
            sample=(pl.col("rules").is_null() | pl.col("rules_b").is_null()).any(),
            response=pl.any_horizontal(
                pl.col(name).ne_missing(pl.col(f"{name}_b")) for name in _SEEN_BY_SCORER
            ).any(),
        )
        flags = flags.with_columns(
            problem=pl.col("id").is_in(sorted(self._edited)),
            gold=pl.col("id").is_in(sorted(self._other_gold)),
            scorer=pl.lit(other_scorer),
        )
        found = [pl.when(name).then(pl.lit(name)) for name in CAUSES]
        # Nothing recorded differs: code behind the same version, or a judge asked again.
        cause = pl.coalesce(*found, pl.lit("scorer"))
        is_common = pl.col("verdict_a").is_not_null() & pl.col("verdict_b").is_not_null()
        return (
            means[0]
            .rename({"verdict": "verdict_a"})
            .join(means[1].rename({"verdict": "verdict_b"}), on="id", how="full", coalesce=True)
            .join(flags, on="id", how="left")
            .sort("id")
            .select(
                model=pl.lit(cell.model),
                setting=pl.lit(cell.setting),
                rules=pl.lit(" > ".join(dict.fromkeys(self._rules))),
                id="id",
                verdict_a="verdict_a",
                verdict_b="verdict_b",
                cause=pl.when(is_common).then(cause),
                differs=pl.concat_str(found, separator=", ", ignore_nulls=True),
            )
        )

    def _find_changes(
        self, cell: Cell, frame: pl.DataFrame, scorings: list[Scoring], samples: list[pl.DataFrame]
    ) -> set[Change]:
        """Return what differs in a cell's scorers and requests."""
        changes: set[Change] = set()
        a, b = (scoring.describe() for scoring in scorings)
        is_judged = all(scoring.judge is not None for scoring in scorings)
        is_rescored = _is_changed(frame.filter(cause="scorer"))
        if a != b:
            changes.add(("scorer", "scored by", a, b))
        elif is_rescored and is_judged:
            words = ("judge", "of the same name and prompt", "gave other judgements")
            changes.add(("scorer", *words))
        elif is_rescored:
            words = ("code or packages", "of the same version", "give other verdicts")
            changes.add(("scorer", *words))
        if is_judged and (a != b or is_rescored):
            changes |= self._jobs.compare("score", cell)
        if frame["differs"].str.contains("response|sample").any():
            changes |= list_responses(*samples) | self._jobs.compare("infer", cell)
        return changes

    def _contrast(self, frame: pl.DataFrame) -> dict[str, Any]:
        """Return the fields of a Contrast from rows of one or many cells.

        A problem counts once, with its mean over the cells.
        """
        sides = [pl.col("verdict_a"), pl.col("verdict_b")]
        every = [frame.group_by("id").agg(side.mean()).drop_nulls().to_series(1) for side in sides]
        common = frame.drop_nulls("cause").with_columns(
            weight=1 / pl.len().over("id"), change=sides[1] - sides[0]
        )
        means = common.group_by("id").agg(side.mean() for side in sides).sort("id")
        answers = self._runs[0].answers
        groups = [answers[name].group or name for name in means["id"]]
        values = [means[name].to_list() for name in ("verdict_a", "verdict_b")]
        paired = paired_difference(values[1], values[0], groups, self._confidence)
        accuracies = [_mean(column) for column in every]
        common_accuracies = [_mean(means[name]) for name in ("verdict_a", "verdict_b")]
        changed = (
            common.filter(pl.col("change").abs() > EQUAL)
            .group_by("cause")
            .agg(
                verdicts=pl.len(), change=(pl.col("change") * pl.col("weight")).sum() / means.height
            )
        )
        totals = {row["cause"]: CauseTotal(**row) for row in changed.iter_rows(named=True)}
        return {
            "accuracy_a": accuracies[0],
            "accuracy_b": accuracies[1],
            "difference": accuracies[1] - accuracies[0],
            "n_a": every[0].len(),
            "n_b": every[1].len(),
            "n_common": means.height,
            "common_a": common_accuracies[0],
            "common_b": common_accuracies[1],
            "common_difference": common_accuracies[1] - common_accuracies[0],
            "low": paired.lo,
            "high": paired.hi,
            "causes": [totals[cause] for cause in CAUSES if cause in totals],
        }

    def list_changed(self) -> pl.DataFrame:
        """Return the changed verdicts, the largest differences first."""
        distance = (pl.col("verdict_b") - pl.col("verdict_a")).abs()
        rows = pl.concat(self._frames).drop_nulls("cause").filter(distance > EQUAL)
        keys = [distance.round(9), "model", "setting", "id"]
        return rows.sort(keys, descending=[True, False, False, False])

    def describe(self) -> dict[str, Any]:
        """Return the fields of a ScoringComparison."""
        order = sorted(self._changes.items(), key=lambda entry: (-entry[1], entry[0]))
        changed = self.list_changed()
        unscored = [
            (side, sorted({*run.list_cells()} - {*run.scored_cells}))
            for side, run in zip("AB", self._runs, strict=True)
        ]
        notes = [
            f"run {side}: not scored: {_name_cells(cells)}" for side, cells in unscored if cells
        ]
        return {
            "scoring_a": _summarise_scoring(self._rules[0], self._scorings[0]),
            "scoring_b": _summarise_scoring(self._rules[1], self._scorings[1]),
            "total": Contrast(**self._contrast(pl.concat(self._frames))),
            "cells": _rank_cells(self.cells),
            "changes": [
                RunChange(cause=cause, field=field, a=a, b=b, cells=cells)
                for (cause, field, a, b), cells in order[:LISTED]
            ],
            "changes_left_out": max(0, len(order) - LISTED),
            "changed": changed.height,
            "verdicts": [ChangedVerdict(**r) for r in changed.head(LISTED).iter_rows(named=True)],
            "notes": notes + self._left_out[:LISTED],
        }


def _rank_cells(cells: Sequence[Mapping[str, Any]]) -> list[CellComparison]:
    """Return the cells with their ranks within their setting."""
    table = pl.DataFrame(
        {
            "setting": [cell["setting"] for cell in cells],
            "rank_a": [cell["common_a"] for cell in cells],
            "rank_gold": [
                cell["common_a"] + sum(t.change for t in cell["causes"] if t.cause == "gold")
                for cell in cells
            ],
            "rank_b": [cell["common_b"] for cell in cells],
        }
    )
    accuracies = pl.exclude("setting").round(9)
    ranks = table.select(accuracies.rank("min", descending=True).over("setting").cast(pl.Int64))
    return [
        CellComparison(**cell, **rank) for cell, rank in zip(cells, ranks.to_dicts(), strict=True)
    ]


def _is_changed(frame: pl.DataFrame) -> bool:
    return bool(((frame["verdict_b"] - frame["verdict_a"]).abs() > EQUAL).any())


def _mean(column: pl.Series) -> float:
    return float(column.sum() / column.len())


def _summarise_scoring(rules: str, scorings: set[Scoring]) -> ScoringSummary:
    return ScoringSummary(
        rules=rules,
        versions=sorted({scoring.version for scoring in scorings}),
        judges=sorted({scoring.judge for scoring in scorings if scoring.judge}),
    )


def _name_cells(cells: Collection[Cell]) -> str:
    return list_first([f"{cell.model}/{cell.setting}" for cell in cells], 3) or "none"
