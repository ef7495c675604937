"""What a release was made from and with; nothing in it depends on the time."""

from __future__ import annotations

import platform
import subprocess
import uuid
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from omibench.datasets.releases.schema import DrawnSplit, ReleasedSource, ReleaseProvenance
from omibench.files.hashes import hash_file
from omibench.release.frozen_items import FrozenFolder
from omibench.release.options import ReleaseOptions
from omibench.review.read import DECISIONS
from omibench.review.report import ReviewReport
from omibench.schemas.review import ReviewCounts

_PACKAGES: Final = ("omibench", "numpy", "pillow", "pyarrow", "pydantic")
"""Those that make the bytes of a release."""
_NAMESPACE: Final = uuid.UUID("6f0f3a43-7a2b-5d0e-9d5c-3e0a8a7c2b11")


def collect_provenance(
    freeze: FrozenFolder,
    sources: Sequence[ReleasedSource],
    findings: Sequence[str],
    review: ReviewReport | None,
    options: ReleaseOptions,
) -> ReleaseProvenance:
    """What `provenance.json` says, read from the freeze and the repository of its study.

    That is the repository that the freeze lies in, wherever the command is given; where it lies in
    none, that of the current folder.

    Args:
        freeze: The dataset.
        sources: The sources of its items.
        findings: What stands against it; a release with findings is a draft.
        review: What people decided, where the folder of a review is named.
        options: What is said of it.
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
    """The head hash at which the dataset was frozen, else that of the folder of the review."""
    if frozen is not None:
        return frozen.head
    return review.head if review else None


def _hash_decisions(review: Path | None) -> str | None:
    """The hash of a file of decisions, or of that of a folder; before anybody decided, none."""
    if review is None:
        return None
    path = review / DECISIONS if review.is_dir() else review
    return hash_file(path) if path.is_file() else None


def make_canary(name: str) -> str:
    """The text to search training data for: the same in every release of a dataset."""
    return f"{name} canary {uuid.uuid5(_NAMESPACE, name)}"


def _find_study(freeze: Path) -> Path:
    """The top of the repository of a freeze, else of the current folder, else that folder."""
    for folder in (freeze, Path()):
        if top := _ask_git(folder, "rev-parse", "--show-toplevel"):
            return Path(top)
    return Path()


def _read_commit(study: Path) -> str | None:
    commit = _ask_git(study, "rev-parse", "HEAD")
    if not commit:
        return None
    # Files that git does not know may be the releases before this one.
    has_changes = _ask_git(study, "status", "--porcelain", "--untracked-files=no")
    return commit + ("+changed" if has_changes else "")


def _ask_git(folder: Path, *words: str) -> str:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
