"""Header of a log: study, dataset, model, and the mean verdict of each scorer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import polars as pl
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalResults,
    EvalSampleSummary,
    EvalScore,
    EvalSpec,
)
from inspect_ai.model import ChatMessage
from pydantic_core import to_json

from omibench import __version__
from omibench.datasets.eval_logs.messages import (
    PictureSource,
    write_problem_message,
    write_sent_messages,
)
from omibench.datasets.eval_logs.sample import (
    CellRows,
    SampleRows,
    read_cell_rows,
    write_sample,
)
from omibench.errors import FileFormatError, OutputError, reason_of
from omibench.files.outputs import replace_atomically
from omibench.params.setting import Cell
from omibench.results.study_files import StudyFiles, find_results_folder
from omibench.schemas.problem import Question
from omibench.schemas.tables import FrozenManifest
from omibench.settings.pictures import locate_pictures
from omibench.stages.analyze.explorer.requests import Trail
from omibench.stages.analyze.sentences import SIMULATED

GOLD_IS_PARTS: Final = {"gold": "parts"}
"""Marks a target of several texts as one answer in parts; other logs mean alternatives."""


def name_model(rows: CellRows) -> str:
    """Return the model name of a cell in its log; simulated responses are marked."""
    return f"simulated/{rows.cell.model}" if rows.simulated_responses else rows.cell.model


def write_spec(rows: CellRows, manifest: FrozenManifest) -> EvalSpec:
    """Return the evaluated task as an `EvalSpec`.

    Args:
        rows: The cell.
        manifest: Dataset of the cell.

    Returns:
        JSON-compatible values; equal results have equal ids.
    """
    cell = rows.cell
    ids = rows.responses["id"].unique(maintain_order=True).to_list()
    marked = rows.simulated_responses or rows.simulated_verdicts
    return EvalSpec(
        eval_id=_make_id("eval", *cell, *rows.responses["key"]),
        run_id=_make_id("run", manifest.questions_sha256, manifest.answers_sha256),
        task_id=_make_id("task", cell.setting, manifest.questions_sha256),
        created=rows.written.isoformat(timespec="seconds"),
        task=f"{manifest.name}-{cell.setting}",
        task_version=manifest.version,
        task_args={"setting": cell.setting},
        tags=[SIMULATED] if marked else [],
        dataset=EvalDataset(name=manifest.name, samples=len(ids), sample_ids=ids, shuffled=False),
        model=name_model(rows),
        config=EvalConfig(epochs=_count_samples(rows)),
        packages={"omibench": __version__},
        metadata={
            "omibench": GOLD_IS_PARTS,
            "questions_sha256": manifest.questions_sha256,
            "answers_sha256": manifest.answers_sha256,
            "licence": manifest.licence,
            "synthetic": manifest.synthetic,
            "simulated_responses": rows.simulated_responses,
            "simulated_verdicts": rows.simulated_verdicts,
        },
    )


def _write_scores(rows: CellRows) -> list[EvalScore]:
    # A problem counts once, however many samples it has.
    scores = (
        rows.verdicts.filter("counts")
        .group_by("rules", "id", maintain_order=True)
        .agg(pl.col("verdict").mean(), scored=pl.len())
        .group_by("rules")
        .agg("verdict", pl.col("scored").sum())
        .sort("rules")
    )
    return [_write_score(rules, means, n, rows) for rules, means, n in scores.iter_rows()]


def _write_score(rules: str, verdicts: Sequence[float], scored: int, rows: CellRows) -> EvalScore:
    chosen: dict[str, Any] = {}
    if _count_samples(rows) > 1:
        # Only the chosen sample of a problem has a score, so every reducer returns it.
        reducer = "mode" if rows.aggregate == "majority" else "mean"
        chosen = {"reducer": reducer, "metadata": {"aggregate": rows.aggregate}}
    accuracy = EvalMetric(name="accuracy", value=math.fsum(verdicts) / len(verdicts))
    return EvalScore(
        name=rules,
        scorer=rules,
        scored_samples=scored,
        unscored_samples=rows.responses.height - scored,
        metrics={"accuracy": accuracy},
        **chosen,
    )


def _count_samples(rows: CellRows) -> int:
    highest = rows.responses["index"].max()
    return highest + 1 if isinstance(highest, int) else 1


def _make_id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]


# Export of cells as `.eval` files: zip files of JSON, written atomically.

_EPOCH_OF_ZIP: Final = (1980, 1, 1, 0, 0, 0)
"""Fixed time of every member: equal results give equal bytes."""
_SUMMARY_CHARACTERS: Final = 1000
"""Maximum characters of a problem in the list of samples, which is in memory and written twice."""


@dataclass(frozen=True)
class WrittenLog:
    """A written log.

    Attributes:
        path: File of the log.
        samples: Number of responses.
        unsent: Number of responses whose request is not in the store; these show the problem.
        is_simulated: Whether any response or verdict is simulated.
    """

    path: Path
    samples: int
    unsent: int
    is_simulated: bool


class LogWriter:
    """Writes the cells of a study as Inspect logs."""

    def __init__(self, results: Path, store: Path) -> None:
        """Read the frozen dataset.

        Args:
            results: Folder with `freeze/`, `infer/` and `score/`.
            store: Store of responses; can be missing.

        Raises:
            MissingInputError: If the folder has no results.
            FileFormatError: If a file has other content.
        """
        self._files = StudyFiles(find_results_folder(results))
        folder = self._files.locate("freeze")
        self._trail = Trail(store, locate_pictures(folder), folder)
        self._pictures = PictureSource(self._files, self._trail, store)

    def write_all(self, folder: Path) -> list[WrittenLog]:
        """Write every cell with responses as `<folder>/<model>/<setting>.eval`.

        Args:
            folder: Output folder.

        Raises:
            FileFormatError: If the file of a cell cannot be read.
            OutputError: If a log cannot be written.
        """
        return [
            self.write(cell, folder / cell.model / f"{cell.setting}.eval")
            for cell in self._files.list_cells()
        ]

    def write(self, cell: Cell, target: Path) -> WrittenLog:
        """Write one cell.

        Args:
            cell: The cell.
            target: Output file.

        Raises:
            MissingInputError: If the study has no such cell.
            FileFormatError: If a file of the cell cannot be read.
            OutputError: If the log cannot be written.
        """
        rows = read_cell_rows(self._files, cell)
        spec = write_spec(rows, self._files.manifest)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with replace_atomically(target) as partial, ZipFile(partial, "x") as log:
                header = EvalLog(eval=spec, plan=EvalPlan(name="omibench"), status="success")
                _add(log, "_journal/start.json", header, {"version", "eval", "plan"})
                summaries, unsent = self._write_samples(log, rows)
                _add(log, "_journal/summaries/1.json", summaries)
                _add(log, "summaries.json", summaries)
                usages = [one for summary in summaries for one in summary.model_usage.values()]
                # The start of a cell is unknown: without times no duration is shown.
                header.stats.model_usage = {spec.model: reduce(add, usages)} if usages else {}
                header.results = EvalResults(
                    total_samples=len(summaries),
                    completed_samples=len(summaries),
                    scores=_write_scores(rows),
                )
                _add(log, "header.json", header)
        except OSError as error:
            raise OutputError(f"--out {target}: cannot be written: {reason_of(error)}") from None
        return WrittenLog(target, len(summaries), unsent, bool(spec.tags))

    def _write_samples(self, log: ZipFile, rows: CellRows) -> tuple[list[EvalSampleSummary], int]:
        summaries: list[EvalSampleSummary] = []
        unsent = 0
        model = name_model(rows)
        for response, verdicts in rows.join_rows():
            question = self._files.questions[response["id"]]
            sent = self._read_sent(response["key"])
            unsent += sent is None
            messages = (
                sent if sent is not None else [write_problem_message(question, self._pictures)]
            )
            answer = self._files.answers[question.id]
            parts = SampleRows(question, answer, response, verdicts, model)
            sample = write_sample(parts, messages, self._pictures)
            sample.metadata["is_as_sent"] = sent is not None
            _add(log, _name_member(question, sample.epoch), sample)
            shown_input = {"input": question.question[:_SUMMARY_CHARACTERS]}
            summaries.append(sample.summary().model_copy(update=shown_input))
        return summaries, unsent

    def _read_sent(self, key: str) -> list[ChatMessage] | None:
        request = self._trail.request(key)
        if request is None:
            return None
        try:
            return write_sent_messages(request, self._pictures)
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
        ):  # a store can come from another source
            return None


def _name_member(question: Question, epoch: int) -> str:
    """Return the path of a sample in Inspect's layout; its id is a part of it."""
    id = question.id
    if not id.isprintable() or "\\" in id or id.startswith("/") or ".." in id.split("/"):
        raise FileFormatError(
            f"problem {id[:80]!r}: cannot be in a log of Inspect, whose files are named after "
            "ids; freeze the dataset with other ids"
        )
    return f"samples/{id}_epoch_{epoch}.json"


def _add(log: ZipFile, name: str, value: object, include: set[str] | None = None) -> None:
    member = ZipInfo(name, _EPOCH_OF_ZIP)
    member.compress_type = ZIP_DEFLATED
    log.writestr(member, to_json(value, include=include, exclude_none=True, inf_nan_mode="null"))
