"""Manifest of a folder of exam papers: each paper with its key and solutions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import MissingInputError

_PAPERS: Final = (".pdf", ".png", ".jpg", ".jpeg")
_TABLES: Final = (".csv", ".tsv", ".txt")
"""File types of a key next to a paper (docs/reference/paper_layouts.md)."""
_ROLES: Final = re.compile(
    r"(?i)^(?P<paper>.+?)[ ._-]+(?:(?P<key>answers?[ ._-]?keys?|answers?|keys?)"
    r"|(?P<solutions>solutions?|sol))$"
)
_HEAD: Final = (
    "# Each paper with its key and worked solutions, matched by file name. Please check.\n"
    "# Paths are relative to this file. An entry can give a competition, year, country,\n"
    "# subject, language, licence, attributes, sha256 and url (docs/building.md).\n"
)


class Exam(NamedTuple):
    """One exam: the files of its paper, its key and its worked solutions."""

    paper: Path
    key: Path | None = None
    solutions: Path | None = None


class ManifestText(NamedTuple):
    """Text of a manifest, and its path to the folder of papers."""

    text: str
    papers: str


def find_papers(folder: Path) -> list[Path]:
    """Return the files of a folder that can be papers, keys or solutions, without hidden ones.

    Raises:
        MissingInputError: If the folder is missing or contains no paper.
    """
    if not folder.is_dir():
        raise MissingInputError(f"--papers {folder}: the folder does not exist")
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in (*_PAPERS, *_TABLES)
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not any(path.suffix.lower() in _PAPERS for path in files):
        raise MissingInputError(
            f"--papers {folder}: contains no paper: no file ends with {', '.join(_PAPERS)}"
        )
    return files


def pair_papers(files: Iterable[Path]) -> list[Exam]:
    """Group files into exams by name: `physics.pdf`, `physics_key.pdf`, `physics-sol.pdf`.

    A file is a key or solutions only if the paper that its name begins with is in the same folder.

    Args:
        files: Papers, keys and solutions, in the order of the exams.
    """
    files = list(files)
    papers = {path.with_suffix(""): path for path in files if path.suffix.lower() in _PAPERS}
    parts: dict[Path, dict[str, Path]] = {}
    paired: set[Path] = set()
    for path in files:
        match = _ROLES.match(path.stem)
        paper = papers.get(path.with_name(match["paper"])) if match else None
        if match is None or paper is None:
            continue
        role = "key" if match["key"] else "solutions"
        if role not in parts.setdefault(paper, {}):
            parts[paper][role] = path
            paired.add(path)
    return [
        Exam(path, parts.get(path, {}).get("key"), parts.get(path, {}).get("solutions"))
        for path in files
        if path.suffix.lower() in _PAPERS and path not in paired
    ]


def manifest_text(files: Sequence[Path], papers: Path, folder: Path) -> ManifestText:
    """Return the manifest of a study.

    Args:
        files: Output of `find_papers`.
        papers: Folder of the files.
        folder: Study folder, which will contain the manifest.
    """
    import yaml

    def relative(path: Path | None) -> str | None:
        return None if path is None else Path(os.path.relpath(path, folder)).as_posix()

    names: set[str] = set()
    sources = []
    for exam in pair_papers(files):
        name = _unused_name("-".join(exam.paper.relative_to(papers).with_suffix("").parts), names)
        names.add(name)
        sources.append(
            {
                "name": name,
                "paper": relative(exam.paper),
                "key": relative(exam.key),
                "solutions": relative(exam.solutions),
            }
        )
    body = yaml.safe_dump({"sources": sources}, sort_keys=False, allow_unicode=True, width=1000)
    return ManifestText(_HEAD + body, relative(papers) or ".")


def _unused_name(name: str, names: set[str]) -> str:
    numbered = (f"{name}-{number}" for number in range(2, len(names) + 3))
    return name if name not in names else next(text for text in numbered if text not in names)
