"""Stage `rationale`: missing worked solutions and topic labels, from models if set.

The selected candidate depends on all earlier ones, so one that a later run would get must not be
skipped. Completed replies are in the store, so that the next run requests only the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.models.client.ask import open_asker, refuse_unanswered
from omibench.schemas.curation import RationaleCandidate
from omibench.schemas.problem import Problem, rebase_images
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.rationale.candidates import AskWithKeys, Score, Writer, write_solutions
from omibench.stages.rationale.degenerate import DegeneracyRule, open_tokenizer
from omibench.stages.rationale.labels.label_file import write_labels
from omibench.stages.rationale.labels.run import run_labels

if TYPE_CHECKING:
    from omibench.params.study import Study


def refuse_gaps(model: str, ask: AskWithKeys) -> AskWithKeys:
    """Wrap `ask` so that it raises if a later run could get more replies.

    Permanent errors are outcomes like others.

    Args:
        model: The model, for messages.
        ask: Returns the key and the response of each request.

    Returns:
        A function like `ask` that raises ModelError if the budget is exhausted and PassingError if
        requests failed temporarily.
    """

    def ask_all(requests: Sequence[Request]) -> Sequence[tuple[str, Response]]:
        replies = ask(requests)
        pairs = zip(requests, replies, strict=True)
        gaps = [(request, reply) for request, (_, reply) in pairs if _is_gap(reply)]
        refuse_unanswered("rationale", model, len(requests), gaps)
        return replies

    return ask_all


def _is_gap(response: Response) -> bool:
    return response.outcome == "budget_stop" or response.passing


def write_rationales(problems: Path, out: Path, study: Study, whole: bool = True) -> int:
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
            writer = make_writer(study, params.writer, ask_writer, score_by(params.scorer))
            rows, candidates = write_solutions(rows, folder, writer)
    write_jsonl(out / "candidates.jsonl", candidates)
    labelled = run_labels(rows, folder, study, whole)
    write_jsonl(out / "labels.jsonl", labelled.rows)
    write_labels(out / "labels.yaml", labelled.subfields, labelled.items)
    moved = (rebase_images(row, folder, out) for row in labelled.problems)
    write_jsonl(out / "problems.jsonl", moved)
    return len(rows)


def make_writer(study: Study, model: str, ask: AskWithKeys, score: Score) -> Writer:
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
        from omibench.answers.scorers.registry import score_item

        return score_item(item, rules)

    return score
