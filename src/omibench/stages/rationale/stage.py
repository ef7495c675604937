"""The rationale stage: missing worked solutions and topic labels, from models or not at all."""

from __future__ import annotations

from pathlib import Path

from omibench.client.ask import open_asker
from omibench.params.stage_params import RationaleStageParams
from omibench.schemas.images import rebase_images
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.schemas.verdict import ScoredItem
from omibench.stages.rationale.labels import Labeller, label_topics
from omibench.stages.rationale.solutions import Writer, write_solutions


def write_rationales(problems: Path, out: Path, study: RationaleStageParams) -> int:
    """Complete the file `problems` into `out`/problems.jsonl and return how many it holds.

    `rationale.writer` writes missing solutions and `rationale.labeller` missing topics, both
    through the store; where one is left out, solutions or topics stay as they are.
    """
    rows, folder = read_jsonl(problems, Problem), problems.parent
    params, name = study.rationale, study.study.name
    if params.writer:
        with open_asker(study, params.writer) as ask:
            writer = Writer(params.writer, ask, _is_right, params.candidates, name, params.prompts)
            rows = write_solutions(rows, folder, writer)
    if params.labeller:
        with open_asker(study, params.labeller) as ask:
            room = params.labeller_max_tokens
            labeller = Labeller(params.labeller, ask, params.topics, name, room, params.prompts)
            rows = label_topics(rows, folder, labeller)
    write_jsonl(out / "problems.jsonl", (rebase_images(row, folder, out) for row in rows))
    return len(rows)


def _is_right(item: ScoredItem) -> bool:
    from omibench.rule_books.registry import score_item

    return score_item(item, "robust").verdict == 1
