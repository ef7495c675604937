"""Findings that prevent a release, one line each with the items or sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from omibench.datasets.releases.schema import ReleasedSource
from omibench.errors import OmibenchError
from omibench.release.frozen_items import FrozenFolder
from omibench.release.rows import ReleaseItem
from omibench.release.terms import find_licence
from omibench.review.report import ReviewReport
from omibench.schemas.review import ReviewCounts
from omibench.stages.freeze.rows import is_simulated

MOST_NAMES: Final = 50


class ReleaseRefusedError(OmibenchError):
    """Raised if there are findings against a release that is not a draft."""


def list_findings(
    freeze: FrozenFolder,
    items: Sequence[ReleaseItem],
    sources: Sequence[ReleasedSource],
    without_rationale: bool,
    review: ReviewReport | None = None,
) -> list[str]:
    """Return all findings that prevent releasing a freeze.

    Args:
        freeze: The dataset.
        items: Its items with their sources.
        sources: The sources of the items.
        without_rationale: Whether items without a reference solution are allowed.
        review: The review of the items, if a folder is given.

    Returns:
        One line per finding; empty if the freeze can be released.
    """
    unsaid = [source.name or "(no name)" for source in sources if source.redistribute is None]
    unlicensed = [i.item.question.id for i in items if not find_licence(i.item, i.source)]
    unsolved = [i.item.question.id for i in items if not i.item.answer.solution]
    simulated = [i.item.question.id for i in items if is_simulated(i.item.answer)]
    findings = [
        _list_names("sources without `redistribute: true` or `false` in sources.yaml", unsaid),
        _list_names("items without a licence, their own or their source's", unlicensed),
        _list_names("items whose rationale a simulated model wrote", simulated),
    ]
    findings += _list_review_findings(freeze.manifest.review, review)
    if not without_rationale:
        findings.append(_list_names("items without a rationale", unsolved))
    if freeze.manifest.synthetic:
        findings.append(f"the problems are synthetic: {freeze.manifest.synthetic}")
    if freeze.manifest.simulated:
        kinds = ", ".join(f"{name} of {n}" for name, n in freeze.manifest.simulated.items())
        findings.append(f"simulated models judged the problems: {kinds}")
    return [finding for finding in findings if finding]


def _list_review_findings(frozen: ReviewCounts | None, review: ReviewReport | None) -> list[str]:
    """Return the findings about the review, at the freeze and since."""
    findings = []
    if frozen is not None:
        people, simulated = frozen.people, frozen.simulated_people
        if frozen.unsettled:
            findings.append(f"review tasks that were open at the freeze: {frozen.unsettled}")
    elif review is not None:
        people, simulated = len(review.people), len(review.simulated)
    else:
        return []
    if simulated:
        findings.append(f"{simulated} of {people} people of the review are simulated")
    if review is not None:
        findings += [
            _list_names(
                "review tasks with decisions on other content; decide them again", review.stale
            ),
            _list_names("review tasks that wait for a senior", review.escalations),
        ]
        if frozen is not None and frozen.head != review.head:
            findings.append(
                f"the head hash of the review is {review.head[:12]}, but the dataset was frozen at "
                f"{frozen.head[:12]}; freeze again"
            )
    return findings


def refuse_findings(findings: Sequence[str]) -> None:
    """Raise ReleaseRefusedError with all findings, if any."""
    if findings:
        raise ReleaseRefusedError(
            f"release: {len(findings)} finding{'s' * (len(findings) > 1)} against it; fix them, or "
            "pass --draft:",
            *(f"  {finding}" for finding in findings),
        )


def _list_names(finding: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = len(names) - MOST_NAMES
    ending = f" and {more} more" if more > 0 else ""
    return f"{len(names)} {finding}: {', '.join(names[:MOST_NAMES])}{ending}"
