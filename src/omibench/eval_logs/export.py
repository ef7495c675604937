"""Export of cells as `.eval` files: zip files of JSON, written atomically."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from omibench.errors import FileFormatError, OutputError, reason_of
from omibench.eval_logs.attachments import Attachments, PictureSource
from omibench.eval_logs.cell_rows import CellRows, Values, read_cell_rows
from omibench.eval_logs.header import name_model, write_header, write_spec, write_start
from omibench.eval_logs.messages import Message, write_problem_message, write_sent_messages
from omibench.eval_logs.sample import SampleRows, summarise_sample, write_sample
from omibench.files.atomic import replace_atomically
from omibench.params.cell import Cell
from omibench.results.folder import find_results_folder
from omibench.results.study_files import StudyFiles
from omibench.schemas.problem import Question
from omibench.settings.pictures.derived import locate_pictures
from omibench.stages.analyze.explorer.steps import Trail

_EPOCH_OF_ZIP: Final = (1980, 1, 1, 0, 0, 0)
"""Fixed time of every member: equal results give equal bytes."""


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
                _add(log, "_journal/start.json", write_start(spec))
                summaries, unsent = self._write_samples(log, rows)
                _add(log, "_journal/summaries/1.json", summaries)
                _add(log, "summaries.json", summaries)
                _add(log, "header.json", write_header(rows, spec))
        except OSError as error:
            raise OutputError(f"--out {target}: cannot be written: {reason_of(error)}") from None
        return WrittenLog(target, len(summaries), unsent, bool(spec["tags"]))

    def _write_samples(self, log: ZipFile, rows: CellRows) -> tuple[list[Values], int]:
        summaries: list[Values] = []
        unsent = 0
        model = name_model(rows)
        for response, verdicts in rows.join_rows():
            question = self._files.questions[response["id"]]
            attachments = Attachments(self._pictures)
            sent = self._read_sent(response["key"], attachments)
            unsent += sent is None
            shown = sent if sent is not None else [write_problem_message(question, attachments)]
            answer = self._files.answers[question.id]
            parts = SampleRows(question, answer, response, verdicts, model)
            sample = write_sample(parts, shown, attachments)
            sample["metadata"]["is_as_sent"] = sent is not None
            _add(log, _name_member(question, sample["epoch"]), sample)
            summaries.append(summarise_sample(sample, question.question))
        return summaries, unsent

    def _read_sent(self, key: str, attachments: Attachments) -> list[Message] | None:
        request = self._trail.request(key)
        if request is None:
            return None
        try:
            return write_sent_messages(request, attachments)
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


def _add(log: ZipFile, name: str, value: Any) -> None:
    member = ZipInfo(name, _EPOCH_OF_ZIP)
    member.compress_type = ZIP_DEFLATED
    log.writestr(member, json.dumps(value, allow_nan=False, separators=(",", ":")))
