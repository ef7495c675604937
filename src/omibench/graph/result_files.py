"""Every kind of file that a study writes under its results folder: its path and contents.

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
        "pictures made by settings; made again if lost",
    ),
    ResultFile("reevaluate/journal.json", Journal, "state of each model found by a watch"),
    ResultFile("runs/{run}.jsonl", None, "starts and ends of a run's jobs, for `omibench status`"),
    ResultFile("cache/verdicts.sqlite", None, "known verdicts; can be deleted at the cost of time"),
    ResultFile(
        "{stage}/provenance.json", Provenance, "origin and hash of each of the stage's files"
    ),
)

REVIEW_FILES: tuple[ResultFile, ...] = (
    ResultFile("tasks.jsonl", ReviewTask, "the review tasks"),
    ResultFile("decisions.jsonl", ReviewDecision, "the decisions: append-only, one event per line"),
    ResultFile("reviewers.yaml", None, "the reviewers: names, roles, subjects"),
    ResultFile("pictures/{sha256}.{kind}", None, "the pictures of tasks, each once"),
    ResultFile(
        "live.sqlite", None, "passwords, drafts and journal of the application; not for git"
    ),
)
"""Files of the folder `review.folder`."""


def find_file(path: str) -> ResultFile | None:
    """Return the kind of the file at `path` below the results folder; None if unknown."""
    return next((file for file in FILES if _pattern(file.path).fullmatch(path)), None)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\})", path)
    return re.compile("".join("[^/]+" if p.startswith("{") else re.escape(p) for p in parts))
