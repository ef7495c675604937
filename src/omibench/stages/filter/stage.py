"""Stage `filter`: reads problems; writes survivors, rejects with their page, and judgements."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from glyphtex.latex import find_formulas
from omibench.errors import OmibenchError
from omibench.files.reading import open_regular
from omibench.params.stages.filter import JUDGEMENT_REASONS, FilterParams, ProblemSelection
from omibench.schemas.curation import FilterJudgement, Reject
from omibench.schemas.problem import Problem, pair_with_pictures, rebase_images
from omibench.schemas.tables import read_jsonl, read_parquet, write_jsonl, write_parquet, write_text
from omibench.stages.filter.candidate import Candidate, Case, KeptProblems
from omibench.stages.filter.checks import judge_problems
from omibench.stages.filter.photographs import say_rejected
from omibench.stages.filter.reasons.registry import REASONS
from omibench.stages.filter.selection import describe_unread_lines, join_selection
from omibench.web.formulas import FORMULAS_POLICY, write_formula_files
from omibench.web.pictures import link_picture
from omibench.web.templates import PAGE_POLICY, render_page

if TYPE_CHECKING:
    from omibench.params.study import Study


class RejectFigure(NamedTuple):
    """A picture of a problem: its mark, its address relative to the page, its caption."""

    name: str
    src: str
    caption: str


class RejectPiece(NamedTuple):
    """A run of text, and the picture after it."""

    text: str
    figure: RejectFigure | None


class RejectChoice(NamedTuple):
    """A choice: its letter, and its text with pictures."""

    label: str
    pieces: list[RejectPiece]


class RejectCard(NamedTuple):
    """A rejected problem on the page."""

    problem: Problem
    findings: list[tuple[str, str]]
    pieces: list[RejectPiece]
    choices: list[RejectChoice]
    unmarked: list[RejectFigure]
    """Pictures without a position in the text."""


class ReasonGroup(NamedTuple):
    """The problems with this first reason, and the number of all problems with it."""

    reason: str
    cards: list[RejectCard]
    in_all: int


def write_rejects(
    path: Path, rejected: Sequence[tuple[Problem, Reject]], folder: Path, summary: str
) -> None:
    """Write the page, and next to it the folder `formulas` if a problem has any.

    Args:
        path: The file of the page.
        rejected: Problems with their reasons.
        folder: The base folder of picture paths.
        summary: A sentence above them.
    """
    cards = [(reject.reason, _card(problem, reject, folder, path)) for problem, reject in rejected]
    counts = Counter(reason for _, reject in rejected for reason in reject.reasons)
    groups = [
        ReasonGroup(reason, [card for first, card in cards if first == reason], count)
        for reason, count in counts.most_common()
    ]
    has_formulas = any(_has_formulas(problem) for problem, _ in rejected)
    if has_formulas:
        write_formula_files(path.parent / "formulas")
    page = render_page(
        "omibench.stages.filter",
        "rejects.html.j2",
        csp=FORMULAS_POLICY if has_formulas else PAGE_POLICY,
        summary=summary,
        groups=groups,
        has_formulas=has_formulas,
    )
    write_text(path, page)


def _has_formulas(problem: Problem) -> bool:
    texts = [problem.question, *(problem.answer or [])]
    texts += [choice.text or "" for choice in problem.choices or []]
    return any(find_formulas(text) for text in texts)


def _card(problem: Problem, reject: Reject, folder: Path, page: Path) -> RejectCard:
    figures = [
        RejectFigure(f"IMAGE{k}", link_picture(folder, figure.file, page), figure.caption or "")
        for k, figure in enumerate(problem.images)
    ]
    pieces = _pieces(problem.question, figures)
    choices = []
    for choice in problem.choices or []:
        choice_pieces = _pieces(choice.text or "", figures)
        if choice.image is not None:
            choice_pieces.append(RejectPiece("", figures[choice.image]))
        choices.append(RejectChoice(choice.label, choice_pieces))
    placed = {piece.figure for piece in [*pieces, *(p for c in choices for p in c.pieces)]}
    return RejectCard(
        problem=problem,
        findings=list(zip(reject.reasons, reject.evidences, strict=True)),
        pieces=pieces,
        choices=choices,
        unmarked=[figure for figure in figures if figure not in placed],
    )


def _pieces(text: str, figures: Sequence[RejectFigure]) -> list[RejectPiece]:
    """Split a text at its picture marks, without trailing blanks."""
    pieces = [RejectPiece(*pair) for pair in pair_with_pictures(text, figures)]
    return pieces if pieces[-1].text.strip() else pieces[:-1]


# Stage `filter`: reads problems, writes survivors, rejects and judgements.

log = logging.getLogger(__name__)
Finding = tuple[str, str]
"""The name of a reason and its evidence."""
BUILT_IN_REASONS = tuple(dict.fromkeys([*REASONS.built_in_names, *JUDGEMENT_REASONS.values()]))
"""Every reason by name: computed ones, then those by models."""


@dataclass(frozen=True)
class FilterSummary:
    """The number of kept problems, and of rejected ones by first reason.

    `answers` is the number of problems with an answer.
    """

    survivors: int
    rejected: dict[str, int]
    answers: int

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.rejected.items() if count)
        turned_away = sum(self.rejected.values())
        problems = count_phrase(self.survivors + turned_away, "problem")
        return (
            f"{problems}, {self.answers} with an answer; {self.survivors} kept, {turned_away} "
            + (f"rejected ({reasons})" if reasons else "rejected")
        )


def filter_problems(problems: Path, out: Path, study: Study) -> FilterSummary:
    """Filter the file `problems` into `out`: problems.jsonl, rejects.parquet, judgements.parquet.

    rejects.html shows the rejected problems with their pictures. The order is kept. If an error is
    raised, nothing is written; completed replies are in the store.

    Raises:
        MissingInputError: A file or picture does not exist.
        FileFormatError: A file or picture is invalid.
        ModelError: A model in `filter` does not answer.
    """
    for judgement in study.filter.missing_judgements:
        log.warning(
            "filter.preset %s: its paper rejects by %s too: set models in filter.%s, or omit it",
            study.filter.preset, JUDGEMENT_REASONS[judgement], judgement,
        )  # fmt: skip
    folder = problems.parent
    read = read_jsonl(problems, Problem)
    if study.filter.selection:
        _warn_of_unread_lines(read, study.filter.selection)
    sound, rejects = sift(read, folder, study.filter)
    survivors, rejected, judgements = judge_problems(sound, folder, study)
    rejects += [_reject(judged.problem, [(judged.reason, judged.evidence)]) for judged in rejected]
    counts = Counter(reject.reason for reject in rejects)
    answers = sum(bool(problem.answer) for problem in read)
    summary = FilterSummary(len(survivors), _order_reasons(counts), answers)
    by_id = {problem.id: problem for problem in read}
    cards = [(by_id[reject.id], reject) for reject in rejects]
    write_jsonl(out / "problems.jsonl", (rebase_images(p, folder, out) for p in survivors))
    write_parquet(out / "rejects.parquet", rejects, Reject)
    write_parquet(out / "judgements.parquet", judgements, FilterJudgement)
    write_rejects(out / "rejects.html", cards, folder, str(summary))
    return summary


def _warn_of_unread_lines(problems: Sequence[Problem], selection: ProblemSelection) -> None:
    """Warn of every problem in the table that was not read; one line per paper."""
    for line in describe_unread_lines(problems, selection):
        log.warning(
            "filter.selection: %s: no problem was read for %s; add the paper to the sources, or "
            "write a correction",
            selection.file, line,
        )  # fmt: skip


def read_summary(folder: Path) -> FilterSummary | None:
    """Return the filter's result in a folder, or None if its files are missing or broken."""
    try:
        with open_regular(folder / "problems.jsonl") as file:
            survivors = sum(1 for _ in file)
        rejects = read_parquet(folder / "rejects.parquet", Reject)
    except (OSError, OmibenchError):
        return None
    counts = Counter(rejects["reason"].to_list())
    answers = survivors + sum(
        "answer_missing" not in reasons for reasons in rejects["reasons"].to_list()
    )
    return FilterSummary(survivors, _order_reasons(counts), answers)


def sift(
    problems: Iterable[Problem], folder: Path, params: FilterParams
) -> tuple[list[Problem], list[Reject]]:
    """Split problems into kept and rejected ones; image paths are relative to `folder`.

    Those that `params.selection` does not have are rejected first; the others get what it says of
    them. Duplicates are searched among the kept problems, so that the first valid copy survives. A
    clean picture is kept or rejected with its photograph, which comes before it.
    """
    survivors = KeptProblems()
    rejects: list[Reject] = []
    if params.selection:
        problems, others = join_selection(problems, params.selection)
        rejects += [_reject(problem, [(reason, detail)]) for problem, reason, detail in others]
    rejected_photographs: dict[str | None, Finding] = {}
    for problem in problems:
        candidate = Candidate(problem, folder)
        findings = all_reasons(Case(candidate, survivors, params))
        if problem.photograph == "clean" and problem.group in rejected_photographs:
            findings = findings or [rejected_photographs[problem.group]]
        if not findings:
            survivors.add(candidate)
            continue
        rejects.append(_reject(problem, findings))
        if problem.photograph == "real":
            rejected_photographs[problem.group] = (findings[0][0], say_rejected(problem))
    return [candidate.problem for candidate in survivors.all], rejects


def all_reasons(case: Case) -> list[Finding]:
    """Return every active reason that applies, in order, with its evidence.

    A copy is not also a near copy. If something can no longer be checked, such as a missing
    picture, no reason is added to an already rejected problem.
    """
    findings: list[Finding] = []
    for name in case.params.active_reasons:
        if name == "near_duplicate" and any(
            earlier == "exact_duplicate" for earlier, _ in findings
        ):
            continue
        with suppress(*([OmibenchError] if findings else [])):
            with REASONS.calling(name, case.problem.id):
                evidence = REASONS.get(name)(case)
            if evidence:
                findings.append((name, evidence))
    return findings


def _order_reasons(counts: Counter[str]) -> dict[str, int]:
    """Return the number of problems rejected by each reason, built-in ones first, also zeros."""
    return {name: counts[name] for name in dict.fromkeys([*BUILT_IN_REASONS, *counts])}


def count_phrase(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _reject(problem: Problem, findings: Sequence[Finding]) -> Reject:
    reason, evidence = findings[0]
    return Reject(
        id=problem.id,
        reason=reason,
        evidence=evidence,
        reasons=[name for name, _ in findings],
        evidences=[detail for _, detail in findings],
        stage="filter",
        source=problem.source,
        number=problem.number,
        question=problem.question,
    )
