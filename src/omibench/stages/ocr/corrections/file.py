"""Find conflicting corrections of one place, which are an error."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import read_text, resolve_within
from omibench.files.yaml_file import YAML_BYTES, list_item_lines, locate_key, read_yaml
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.validation import explain, suggest_name
from omibench.stages.ocr.corrections.entry import Correction, CorrectionEntry, covers
from omibench.stages.ocr.sources.manifest import Source, read_manifest


def find_conflict(
    entries: Sequence[CorrectionEntry],
) -> tuple[CorrectionEntry, CorrectionEntry] | None:
    """Return the first two conflicting entries of one source, in file order.

    Boxes of one page conflict if they share more than half of the smaller one. Entries of one
    problem conflict if they set the same part; a dropped or merged problem allows no other
    correction.

    Args:
        entries: Entries of one source.

    Returns:
        The two entries; None if there is no conflict.
    """
    conflicts = [*_list_box_conflicts(entries), *_list_problem_conflicts(entries)]
    return min(conflicts, key=lambda pair: (pair[1].number, pair[0].number), default=None)


def _list_box_conflicts(
    entries: Sequence[CorrectionEntry],
) -> Iterator[tuple[CorrectionEntry, CorrectionEntry]]:
    by_page: defaultdict[tuple[str, int | None], list[CorrectionEntry]] = defaultdict(list)
    for entry in entries:
        if entry.correction.box is None:
            continue
        on_page = by_page[entry.file, entry.correction.page]
        twin = next((other for other in on_page if covers(other.box, entry.box)), None)
        if twin is not None:
            yield twin, entry
        on_page.append(entry)


def _list_problem_conflicts(
    entries: Sequence[CorrectionEntry],
) -> Iterator[tuple[CorrectionEntry, CorrectionEntry]]:
    by_part: dict[tuple[str, str], CorrectionEntry] = {}
    of_problem: defaultdict[str, list[CorrectionEntry]] = defaultdict(list)
    removed: dict[str, CorrectionEntry] = {}
    for entry in entries:
        correction = entry.correction
        if correction.problem is None:
            continue
        number = correction.problem
        parts, excluded = _list_parts(correction)
        twins = (by_part.get((number, part)) for part in (*parts[:1], *excluded))
        yield from ((twin, entry) for twin in twins if twin is not None)
        for part in parts:
            by_part.setdefault((number, part), entry)
        of_problem[number].append(entry)
        leaving = number if correction.drop else correction.merge
        if leaving is not None:
            if leaving in removed:
                yield removed[leaving], entry
            removed[leaving] = entry
    for number, entry in removed.items():
        for other in of_problem[number]:
            if other is not entry:
                first, second = sorted((entry, other), key=lambda e: e.number)
                yield first, second


def _list_parts(correction: Correction) -> tuple[list[str], list[str]]:
    """Return the part of its problem that a correction sets, followed by other parts it excludes:
    all choices at once are against each single one."""
    if correction.choice is not None:
        return [f"choice {correction.choice.label}", "a choice"], ["choices"]
    if correction.choices is not None:
        return ["choices"], ["a choice"]
    if correction.figure is not None:
        return [f"figure {correction.figure.image}"], []
    return [correction.kind], []


# Find and read `corrections.yaml`, and match its entries with sources.

NAME: Final = "corrections.yaml"
"""The default name of the file, next to the manifest or the paper."""
log = logging.getLogger("omibench.stages.ocr")


def _fill_empty(value: object) -> object:
    """Read a key `corrections:` without entries."""
    return [] if value is None else value


class CorrectionsFile(BaseModel):
    """The model of `corrections.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corrections: Annotated[
        list[Correction], BeforeValidator(_fill_empty), Field(max_length=20_000)
    ] = []


def find_corrections(
    stated: str | None, manifest: Path | None, papers: Sequence[Path] = ()
) -> Path | None:
    """Return the file of corrections of a run.

    Args:
        stated: Parameter `ocr.corrections`.
        manifest: Manifest of the sources, if any.
        papers: Papers read without a manifest.

    Returns:
        The given file, otherwise the one next to the manifest, or next to the papers if they share
        a folder; None if absent.

    Raises:
        MissingInputError: The given file is missing.
    """
    if stated is not None:
        if not Path(stated).is_file():
            raise MissingInputError(f"ocr.corrections: {stated}: file not found")
        return Path(stated)
    folders = {manifest.parent} if manifest else {paper.parent for paper in papers}
    path = next(iter(folders)) / NAME if len(folders) == 1 else None
    return path if path is not None and path.is_file() else None


def read_corrections(path: Path) -> list[CorrectionEntry]:
    """Return the entries of a file of corrections, each with its line.

    Raises:
        FileFormatError: An entry is invalid or its picture is missing; the message gives the line.
    """
    values = read_yaml(path)
    try:
        file = CorrectionsFile.model_validate({} if values is None else values)
    except ValidationError as error:
        wrong = explain(error, CorrectionsFile)
        raise FileFormatError(f"{locate_key(wrong, [path]) or path}: {wrong}") from None
    lines = list_item_lines(read_text(path, YAML_BYTES), "corrections")
    entries = [
        CorrectionEntry(number=k, line=line, correction=correction)
        for k, (line, correction) in enumerate(zip(lines, file.corrections, strict=True))
    ]
    for entry in entries:
        _check_picture(entry, path)
    return entries


def format_corrections(corrections: Sequence[Correction]) -> str:
    """Return corrections as YAML text."""
    import yaml

    rows = [c.model_dump(mode="json", exclude_defaults=True) for c in corrections]
    return yaml.safe_dump({"corrections": rows}, sort_keys=False, allow_unicode=True, width=100)


def assign_entries(
    entries: Sequence[CorrectionEntry],
    sources: Sequence[Source],
    path: Path,
    other_names: Collection[str] | None = None,
) -> dict[str, list[CorrectionEntry]]:
    """Return the entries of each source to be read, by its name.

    Args:
        entries: Entries of the file.
        sources: Sources to be read.
        path: Path of the file, for errors; papers are given relative to its folder, or by name.
        other_names: Names of papers of the manifest that this run does not read. None without a
            manifest: then entries for other papers are ignored with a warning.

    Returns:
        Entries in file order, each with its file of the source.

    Raises:
        FileFormatError: An entry matches no paper or several, or corrects a problem of a key; or
            two entries conflict.
    """
    places = _list_names(sources, path.parent)
    by_source: dict[str, list[CorrectionEntry]] = defaultdict(list)
    for entry in entries:
        name = entry.correction.paper
        named = places.get(name, {})
        if not named:
            if other_names is not None and name not in other_names:
                raise FileFormatError(
                    f"{path}, line {entry.line}: paper {name!r} is not a source of the manifest"
                    f"{suggest_name(name, sorted({*places, *other_names}))}"
                )
            if other_names is None:
                log.warning("%s, line %s: paper %r is not read", path, entry.line, name)
            continue
        if len(named) > 1:
            listing = " and ".join(sorted(source for source, _ in named))
            raise FileFormatError(
                f"{path}, line {entry.line}: paper {name!r} is a file of {listing}: give the name "
                "of the source, or the path of the file"
            )
        ((source, file),) = named
        if entry.correction.problem is not None and named[source, file] != 0:
            raise FileFormatError(
                f"{path}, line {entry.line}: {name} is the key or the solutions of {source}: "
                "correct a problem under the name of its paper, or a place by page and box"
            )
        by_source[source].append(entry.model_copy(update={"file": file}))
    for source, of_source in by_source.items():
        if conflict := find_conflict(of_source):
            first, second = conflict
            raise FileFormatError(
                f"{path}, line {second.line}: corrects the same place as line {first.line} "
                f"({source}, {first.correction.place}): keep one of the two"
            )
    return dict(by_source)


def list_names(sources: Sequence[Source], folder: Path) -> list[str]:
    """Return all names of a source or its files that corrections can use."""
    return list(_list_names(sources, folder))


def list_pictures(entries: Sequence[CorrectionEntry], folder: Path) -> list[str]:
    """Return the picture files of corrections, relative to the working directory."""
    figures = (entry.correction.figure for entry in entries)
    return sorted({str(folder / figure.file) for figure in figures if figure and figure.file})


def _check_picture(entry: CorrectionEntry, path: Path) -> None:
    """Raise FileFormatError if the picture of a correction is missing."""
    figure = entry.correction.figure
    if figure is None or figure.file is None:
        return
    try:
        is_there = resolve_within(path.parent, figure.file).is_file()
    except FileFormatError as error:
        raise FileFormatError(f"{path}, line {entry.line}: figure.file: {error}") from None
    if not is_there:
        raise FileFormatError(
            f"{path}, line {entry.line}: figure.file: {figure.file!r} is not in {path.parent}"
        )


def _list_names(
    sources: Sequence[Source], folder: Path
) -> Mapping[str, dict[tuple[str, str], int]]:
    """Return source and path of each file by name, with the index of the file (paper: 0)."""
    names: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for source in sources:
        for place, file in enumerate(source.files):
            for name in {file, PurePath(file).name, _relate(file, folder)}:
                names[name][source.name, file] = place
    for source in sources:  # the name of a source counts before that of a file
        names[source.name] = {(source.name, source.paper): 0}
    return names


def _relate(file: str, folder: Path) -> str:
    path = Path(file)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else file


# Find and read the corrections of a run, and assign them to sources.


class RunCorrections(NamedTuple):
    """The corrections by source, and the folder of their pictures."""

    by_source: dict[str, list[CorrectionEntry]]
    folder: Path


def collect_corrections(
    stated: str | None, manifest: Path | None, papers: Sequence[Path], sources: Sequence[Source]
) -> RunCorrections:
    """Read the corrections of a run.

    Args:
        stated: Parameter `ocr.corrections`.
        manifest: Manifest of the sources, if any.
        papers: Files to read; empty for all of the manifest.
        sources: Sources to read.

    Raises:
        MissingInputError: The given file is missing.
        FileFormatError: An entry is invalid, is for an unknown paper, or conflicts with another
            entry.
    """
    path = find_corrections(stated, manifest, papers)
    if path is None:
        return RunCorrections({}, Path())
    entries, names = read_corrections(path), None
    if manifest is not None:
        whole = read_manifest(manifest)
        names = list_names(whole.sources, path.parent)
        _refuse_benchmarks(entries, {rows.name for rows in whole.benchmarks} - {*names}, path)
    return RunCorrections(assign_entries(entries, sources, path, names), path.parent)


def _refuse_benchmarks(
    entries: Sequence[CorrectionEntry], benchmarks: Collection[str], path: Path
) -> None:
    for entry in entries:
        if entry.correction.paper in benchmarks:
            raise FileFormatError(
                f"{path}, line {entry.line}: {entry.correction.paper} is a benchmark and has no "
                "reading: correct its problems in the file `review.decisions`"
            )


def list_correction_inputs(params: OcrParams) -> list[str]:
    """Return the file of corrections and its pictures; `ocr` runs again when they change.

    Args:
        params: Parameters with the manifest, and the file if it is elsewhere.

    Raises:
        MissingInputError: The given file is missing.
        FileFormatError: An entry is invalid.
    """
    path = find_corrections(params.corrections, Path(params.sources) if params.sources else None)
    if path is None:
        return []
    return [str(path), *list_pictures(read_corrections(path), path.parent)]
