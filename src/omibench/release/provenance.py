"""Provenance of a release, independent of the time."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from omibench.datasets.releases.schema import DrawnSplit, ReleasedSource, ReleaseProvenance
from omibench.files.git import ask_git
from omibench.files.hashes import hash_file
from omibench.release.frozen_items import FrozenFolder
from omibench.release.options import ReleaseOptions
from omibench.review.folder import DECISIONS
from omibench.review.report import ReviewReport
from omibench.schemas.review import ReviewCounts

_PACKAGES: Final = ("omibench", "numpy", "pillow", "pyarrow", "pydantic")
"""The packages that determine the bytes of a release."""
_NAMESPACE: Final = uuid.UUID("6f0f3a43-7a2b-5d0e-9d5c-3e0a8a7c2b11")


def collect_provenance(
    freeze: FrozenFolder,
    sources: Sequence[ReleasedSource],
    findings: Sequence[str],
    review: ReviewReport | None,
    options: ReleaseOptions,
) -> ReleaseProvenance:
    """Return the contents of `provenance.json`, from the freeze and the repository of its study.

    The repository is that of the freeze folder, else that of the current folder.

    Args:
        freeze: The dataset.
        sources: The sources of its items.
        findings: Findings against the release, which make it a draft.
        review: The review of the items, if a folder is given.
        options: Options of the release.
    """
    version_text = options.version or freeze.manifest.version
    study = _find_study(freeze.folder)
    lock = study / "dvc.lock"
    return ReleaseProvenance(
        name=freeze.manifest.name,
        version=version_text + ("-draft" if findings else ""),
        draft=bool(findings),
        findings=list(findings),
        commit=_read_commit(study),
        dvc_lock_sha256=hash_file(lock) if lock.is_file() else None,
        frozen=freeze.manifest,
        review_sha256=_hash_decisions(options.review),
        review_head=_find_head(freeze.manifest.review, review),
        packages={"python": platform.python_version(), **{n: version(n) for n in _PACKAGES}},
        sources=list(sources),
        canary=make_canary(freeze.manifest.name),
        seed=options.seed,
        split=DrawnSplit(
            name=options.split.name,
            items=options.split.items,
            attributes=list(options.split.attributes),
        )
        if options.split
        else None,
    )


def _find_head(frozen: ReviewCounts | None, review: ReviewReport | None) -> str | None:
    """Return the head hash at the freeze, else that of the review folder."""
    if frozen is not None:
        return frozen.head
    return review.head if review else None


def _hash_decisions(review: Path | None) -> str | None:
    """Return the hash of a decisions file, given directly or by its folder; empty if missing."""
    if review is None:
        return None
    path = review / DECISIONS if review.is_dir() else review
    return hash_file(path) if path.is_file() else None


def make_canary(name: str) -> str:
    """Return the text to search training data for, the same in every release of a dataset."""
    return f"{name} canary {uuid.uuid5(_NAMESPACE, name)}"


def _find_study(freeze: Path) -> Path:
    """Return the repository root of a freeze, else of the current folder, else that folder."""
    for folder in (freeze, Path()):
        if top := ask_git(folder, "rev-parse", "--show-toplevel"):
            return Path(top)
    return Path()


def _read_commit(study: Path) -> str | None:
    commit = ask_git(study, "rev-parse", "HEAD")
    if not commit:
        return None
    # Untracked files can be earlier releases. A submodule has a configuration of its own.
    options = ("--untracked-files=no", "--ignore-submodules=all")
    has_changes = ask_git(study, "status", "--porcelain", *options)
    return commit + ("+changed" if has_changes else "")
