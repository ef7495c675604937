"""The rationale stage: missing worked solutions and topic labels, from models or not at all."""

from __future__ import annotations

from pathlib import Path

from omibench.client.ask import open_asker
from omibench.params.stage_params import RationaleStageParams
from omibench.schemas.images import rebase_images
from omibench.schemas.problem import Problem
from omibench.schemas.rationale_candidate import RationaleCandidate
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.rationale.asking import refuse_gaps
from omibench.stages.rationale.candidates import AskWithKeys, Score, Writer
from omibench.stages.rationale.degenerate import DegeneracyRule
from omibench.stages.rationale.labels.label_file import write_labels
from omibench.stages.rationale.labels.run import run_labels
from omibench.stages.rationale.solutions import write_solutions
from omibench.stages.rationale.tokenizers import open_tokenizer


def write_rationales(
    problems: Path, out: Path, study: RationaleStageParams, whole: bool = True
) -> int:
    """Complete the file `problems` into `out`/problems.jsonl and return how many it holds.

    `rationale.writer` writes solutions, all of which `out`/candidates.jsonl holds, and
    `rationale.labeller` names missing topics, both through the store; where one is left out,
    solutions or topics stay as they are. Raises ModelError where the budget is used up before all
    candidates are there, and PassingError where asking again later may go better.

    `out`/labels.jsonl says who gave which label and why, and `out`/labels.yaml holds the subfields
    for people to edit. Without `whole`, the file is a part of the problems, of which no clusters
    are made.
    """
    rows, folder = read_jsonl(problems, Problem), problems.parent
    params = study.rationale
    candidates: list[RationaleCandidate] = []
    if params.writer:
        with open_asker(study, params.writer) as asker:
            ask_writer = refuse_gaps(params.writer, asker.ask_with_keys)
            writer = make_writer(study, params.writer, ask_writer, score_by(params.rules))
            rows, candidates = write_solutions(rows, folder, writer)
    write_jsonl(out / "candidates.jsonl", candidates)
    labelled = run_labels(rows, folder, study, whole)
    write_jsonl(out / "labels.jsonl", labelled.rows)
    write_labels(out / "labels.yaml", labelled.subfields, labelled.items)
    moved = (rebase_images(row, folder, out) for row in labelled.problems)
    write_jsonl(out / "problems.jsonl", moved)
    return len(rows)


def make_writer(study: RationaleStageParams, model: str, ask: AskWithKeys, score: Score) -> Writer:
    """The writer of a study.

    Args:
        study: Its parameters.
        model: Who writes, a key of `models`.
        ask: How it is asked.
        score: What checks its final answers.

    Returns:
        The writer, its tokenizer opened.
    """
    params = study.rationale
    degeneracy = DegeneracyRule(
        open_tokenizer(params.tokenizer), params.min_tokens, params.max_overlap
    )
    return Writer(model, ask, score, degeneracy, params, study.study.name, study.study.seed)


def score_by(rules: str) -> Score:
    """What scores an item by a rule book, which is imported when it is first used."""

    def score(item: ScoredItem) -> Verdict:
        from omibench.rule_books.registry import score_item

        return score_item(item, rules)

    return score
