"""Every kind of file that a study writes under its results folder: where it stands, what it holds.

docs/files.md is generated from `FILES` and `REVIEW_FILES`.
"""

from __future__ import annotations

import re
from functools import cache

from omibench.graph.provenance.provenance import Provenance
from omibench.graph.stage import ResultFile
from omibench.graph.stages import STAGES
from omibench.schemas.journal import Journal
from omibench.schemas.review import ReviewDecision, ReviewTask

FILES: tuple[ResultFile, ...] = (
    *(file for stage in STAGES for file in stage.outputs),
    ResultFile(
        "pictures/{recipe}/{picture}.{kind}",
        None,
        "pictures that settings made; drawn again if lost",
    ),
    ResultFile("reevaluate/journal.json", Journal, "what became of each model that a watch found"),
    ResultFile("runs/{run}.jsonl", None, "starts and ends of a run's jobs, for `omibench status`"),
    ResultFile("cache/verdicts.sqlite", None, "known verdicts; deleting them costs time alone"),
    ResultFile(
        "{stage}/provenance.json", Provenance, "what made the stage's files, and their hashes"
    ),
)

REVIEW_FILES: tuple[ResultFile, ...] = (
    ResultFile("tasks.jsonl", ReviewTask, "what people are asked"),
    ResultFile(
        "decisions.jsonl", ReviewDecision, "what they decided: append-only, an event a line"
    ),
    ResultFile("reviewers.yaml", None, "who they are: names, roles, subjects"),
    ResultFile("pictures/{sha256}.{kind}", None, "the pictures of tasks, each once"),
    ResultFile("live.sqlite", None, "the log of the application while it runs; not for git"),
)
"""The files of the folder that `review.folder` names."""


def find_file(path: str) -> ResultFile | None:
    """The kind of the file at `path` below the results folder; None for one that is not named."""
    return next((file for file in FILES if _pattern(file.path).fullmatch(path)), None)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\})", path)
    return re.compile("".join("[^/]+" if p.startswith("{") else re.escape(p) for p in parts))
