"""What stands against a release: each finding is a line that names the items or sources."""

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
    """A release has findings against it, one line each, and is no draft."""


def list_findings(
    freeze: FrozenFolder,
    items: Sequence[ReleaseItem],
    sources: Sequence[ReleasedSource],
    without_rationale: bool,
    review: ReviewReport | None = None,
) -> list[str]:
    """Everything that keeps a freeze from being released.

    Args:
        freeze: The dataset.
        items: Its items with their sources.
        sources: The sources of the items.
        without_rationale: Whether items without a reference solution are allowed.
        review: What people decided on the items, where the folder of a review is named.

    Returns:
        One line a finding; none where the freeze may be released.
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
        findings.append(f"the problems are made up: {freeze.manifest.synthetic}")
    if freeze.manifest.simulated:
        kinds = ", ".join(f"{name} of {n}" for name, n in freeze.manifest.simulated.items())
        findings.append(f"simulated models judged the problems: {kinds}")
    return [finding for finding in findings if finding]


def _list_review_findings(frozen: ReviewCounts | None, review: ReviewReport | None) -> list[str]:
    """What the review has left open when the dataset was frozen, and since."""
    findings = []
    if frozen is not None:
        people, simulated = frozen.people, frozen.simulated_people
        if frozen.unsettled:
            findings.append(f"review tasks that were open when it was frozen: {frozen.unsettled}")
    elif review is not None:
        people, simulated = len(review.people), len(review.simulated)
    else:
        return []
    if simulated:
        findings.append(f"programs stand in for {simulated} of {people} people of the review")
    if review is not None:
        findings += [
            _list_names("review tasks with decisions on other content: ask again", review.stale),
            _list_names("review tasks that wait for a senior", review.escalations),
        ]
        if frozen is not None and frozen.head != review.head:
            findings.append(
                f"the record of the review has the head hash {review.head[:12]}, and the dataset "
                f"was frozen at {frozen.head[:12]}: freeze again"
            )
    return findings


def refuse_findings(findings: Sequence[str]) -> None:
    """Raise ReleaseRefusedError with all findings, where there are some."""
    if findings:
        raise ReleaseRefusedError(
            f"release: {len(findings)} finding{'s' * (len(findings) > 1)} against it; mend them, "
            "or mark it with --draft:",
            *(f"  {finding}" for finding in findings),
        )


def _list_names(finding: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = len(names) - MOST_NAMES
    ending = f" and {more} more" if more > 0 else ""
    return f"{len(names)} {finding}: {', '.join(names[:MOST_NAMES])}{ending}"
