"""A manifest for a folder of exam papers: which paper goes with which key and which solutions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import MissingInputError

_PAPERS: Final = (".pdf", ".png", ".jpg", ".jpeg")
_TABLES: Final = (".csv", ".tsv", ".txt")
"""What a key may be beside a paper (docs/building.md)."""
_ROLES: Final = re.compile(
    r"(?i)^(?P<paper>.+?)[ ._-]+(?:(?P<key>answers?[ ._-]?keys?|answers?|keys?)"
    r"|(?P<solutions>solutions?|sol))$"
)
_HEAD: Final = (
    "# Which paper goes with which key and which worked solutions, by the names of the files:\n"
    "# look through it. Paths are relative to this file. An entry may name a competition, year,\n"
    "# country, subject, language, licence, attributes, sha256 and url (docs/building.md).\n"
)


class Exam(NamedTuple):
    """One exam: the files of its paper, its key and its worked solutions."""

    paper: Path
    key: Path | None = None
    solutions: Path | None = None


class ManifestText(NamedTuple):
    """The text of a manifest, and the folder of papers as it names it."""

    text: str
    papers: str


def find_papers(folder: Path) -> list[Path]:
    """The files of a folder that may be papers, keys or solutions; hidden ones are left out.

    Raises:
        MissingInputError: The folder is not there or holds no paper.
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
            f"--papers {folder}: holds no paper: none of its files ends with {', '.join(_PAPERS)}"
        )
    return files


def pair_papers(files: Iterable[Path]) -> list[Exam]:
    """Exams out of files, paired by name: `physics.pdf`, `physics_key.pdf`, `physics-sol.pdf`.

    A file is a key or solutions only where the paper that its name begins with lies beside it.

    Args:
        files: Papers, keys and solutions, in the order in which exams are to be listed.
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
    """The manifest of a study.

    Args:
        files: What `find_papers` gave.
        papers: The folder that they were found in.
        folder: The study's folder, in which the manifest will lie.
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
