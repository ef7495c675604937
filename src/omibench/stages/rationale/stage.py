"""Stage `rationale`: missing worked solutions and topic labels, from models if set."""

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
    """Complete the file `problems` into `out`/problems.jsonl and return the number of problems.

    `rationale.writer` writes solutions, all stored in `out`/candidates.jsonl, and
    `rationale.labeller` labels missing topics, both through the store; without them, solutions or
    topics stay unchanged. `out`/labels.jsonl lists the author and reason of each label, and
    `out`/labels.yaml contains the subfields for editing. Without `whole`, the file is a part of the
    problems, which is not clustered.

    Raises:
        ModelError: The budget is exhausted before all candidates are complete.
        PassingError: A retry may succeed.
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
    """Return the writer of a study.

    Args:
        study: Its parameters.
        model: The model, a key of `models`.
        ask: Sends requests.
        score: Checks final answers.

    Returns:
        The writer, with its tokenizer.
    """
    params = study.rationale
    degeneracy = DegeneracyRule(
        open_tokenizer(params.tokenizer), params.min_tokens, params.max_overlap
    )
    return Writer(model, ask, score, degeneracy, params, study.study.name, study.study.seed)


def score_by(rules: str) -> Score:
    """Return a function that scores an item; the scorer is imported on first use."""

    def score(item: ScoredItem) -> Verdict:
        from omibench.scorers.registry import score_item

        return score_item(item, rules)

    return score
