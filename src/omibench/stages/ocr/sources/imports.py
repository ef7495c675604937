"""Problems that are not read: rows of existing benchmarks, generated ones, and photographs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from omibench.datasets.generators.make import hash_recipe, make_problems
from omibench.datasets.generators.registry import GENERATORS
from omibench.errors import OmibenchError
from omibench.files.outputs import write_atomically
from omibench.files.pictures import read_picture
from omibench.schemas.pages import PageText
from omibench.schemas.problem import (
    FRESH,
    GENERATOR,
    TEMPLATE,
    Answer,
    Figure,
    Problem,
    Question,
    write_image_mark,
)
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.ocr.jobs import OcrOutcome
from omibench.stages.ocr.layout.reading_order import without_marks
from omibench.stages.ocr.sources.files import hash_regular_file
from omibench.stages.ocr.sources.manifest import (
    CLEAN,
    Generated,
    Manifest,
    Photographs,
    Rows,
    Source,
    reject_twins,
    slug,
)
from omibench.stages.ocr.structure.numbering import detect_language
from omibench.text.lists import list_first


def import_rows(rows: Rows, folder: Path) -> OcrOutcome:
    """Write the problems of a benchmark into `folder`: problems.jsonl, pages.jsonl and images/.

    It uses the adapters for evaluating benchmarks; topics, attributes and subsets are kept for the
    answers of the stage `freeze`. Rows with missing pictures are left out, with the code
    `picture_missing`; an unreadable table fails the benchmark.
    """
    from omibench.datasets.registry import load_benchmark
    from omibench.params.benchmark import BenchmarkParams

    try:
        dataset = load_benchmark(BenchmarkParams(name=rows.format), rows.folder, folder)
    except OmibenchError as error:
        return OcrOutcome(error=("rows_unreadable", str(error)))
    digest = hash_regular_file(Path(rows.tables[0])) if len(rows.tables) == 1 else ""
    place = f"images/{rows.slug}"
    problems: list[Problem] = []
    missing: list[str] = []
    for question, answer in zip(dataset.questions, dataset.answers, strict=True):
        pictures = [dataset.folder / figure.file for figure in question.images]
        is_known = all(figure.sha256 for figure in question.images)
        if not (is_known and all(path.is_file() for path in pictures)):
            missing.append(question.id)
            continue
        try:
            copies = [_copy_picture(path, folder, place).file for path in pictures]
        except OmibenchError as error:
            return OcrOutcome(error=("rows_unreadable", f"{question.id}: {error}"))
        images = [
            figure.model_copy(update={"file": file})
            for figure, file in zip(question.images, copies, strict=True)
        ]
        problems.append(_problem(rows, digest, question, answer, images))
    write_jsonl(folder / "problems.jsonl", problems)
    write_jsonl(folder / "pages.jsonl", [])
    codes = ["picture_missing"] * bool(missing) + ["no_problems"] * (not problems)
    places = f"{'row' if len(missing) == 1 else 'rows'} {list_first(missing, 3)}"
    return OcrOutcome(codes=codes, where={"picture_missing": places} if missing else {})


def _problem(
    rows: Rows, digest: str, question: Question, answer: Answer, images: list[Figure]
) -> Problem:
    identity = f"{rows.slug}-{slug(question.id)}"
    stated = question.model_fields_set
    return Problem(
        id=identity,
        source=rows.name,
        source_sha256=digest,
        number=question.id,
        pages=[],
        question=question.question,
        images=images,
        choices=question.choices,
        answer=answer.answer,
        solution=answer.solution,
        subject=question.subject if question.subject != "other" else rows.subject or "other",
        language=question.language if "language" in stated else rows.language or "en",
        group=f"{rows.slug}-{question.group}" if question.group else identity,
        competition=rows.competition,
        licence=question.licence or rows.licence,
        year=rows.year,
        topic=answer.topic,
        subset=question.subset,
        attributes=rows.attributes | answer.attributes,
    )


def make_rows(entry: Generated, folder: Path, taken: set[str]) -> OcrOutcome:
    """Write the problems of a generator into `folder`: problems.jsonl, pages.jsonl and images/.

    Args:
        entry: Entry of the manifest.
        folder: Folder to write to.
        taken: Identities of problems of earlier entries, which are not made again.
    """
    try:
        problems = list(_make_problems(entry, folder, taken))
    except OmibenchError as error:
        return OcrOutcome(error=("problems_not_made", f"{entry.name}: {error}"))
    write_jsonl(folder / "problems.jsonl", problems)
    write_jsonl(folder / "pages.jsonl", [])
    return OcrOutcome()


def _make_problems(entry: Generated, folder: Path, taken: set[str]) -> Iterator[Problem]:
    generator = GENERATORS.get(entry.generator)
    recipe = entry.model_dump(include={"generator", "seed", "counts", "difficulty"})
    digest = hash_recipe(recipe | {"version": generator.version})
    with GENERATORS.calling(entry.generator, entry.name):
        for made in make_problems(
            generator,
            seed=entry.seed,
            counts=entry.counts,
            difficulty=entry.difficulty,
            taken=taken,
        ):
            place = f"images/{entry.slug}"
            pictures = (drawing.draw() for drawing in made.pictures)
            yield Problem(
                id=f"{entry.slug}-{made.name}",
                source=entry.name,
                source_sha256=digest,
                number=made.name,
                pages=[],
                question=made.draft.question,
                images=[_keep_picture(data, made.name, folder, place) for data in pictures],
                choices=made.choices,
                answer=made.answer,
                solution=made.draft.solution,
                subject=entry.subject or generator.subject,
                group=f"{entry.slug}-{made.name}",
                licence=entry.licence,
                competition=entry.competition,
                year=entry.year,
                attributes={
                    **entry.attributes,
                    **made.draft.attributes,
                    FRESH: "yes" if entry.fresh else "no",
                    TEMPLATE: f"{generator.name} {made.template} {entry.difficulty}",
                    GENERATOR: f"{generator.name} {generator.version}",
                },
            )


# Problems from photographs: the photograph is kept whole, and its text is read.
#
# A photograph shows question and figure in one picture, the only input of models (MathReal, section
# 3). The text is a draft for reviewers.

REAL = "real"
PAIR = "pair"
"""The attribute with the picture of an item, if its problem has two."""
_EXPECTED = frozenset({"no_problems", "page_needs_ocr"})
"""Codes of papers that do not apply to photographs, which are always one problem."""


class Photographed(NamedTuple):
    """One photograph of a manifest, with its reading parameters and group."""

    source: Source
    photographs: Photographs
    clean: Path | None


def list_photographed(manifest: Manifest, path: Path) -> list[Photographed]:
    """Return every photograph of a manifest, in order of folders and files.

    Raises:
        MissingInputError: A folder is missing, contains no pictures, or two with the same name.
        FileFormatError: Two photographs, or a photograph and a paper, would share one folder.
    """
    photographed = [
        Photographed(_name_source(photographs, real), photographs, clean)
        for photographs in manifest.photographs
        for real, clean in photographs.list_pairs()
    ]
    reject_twins([*manifest.entries, *(p.source for p in photographed)], path)
    return photographed


def _name_source(photographs: Photographs, real: Path) -> Source:
    return Source(
        name=f"{photographs.name}/{real.stem}",
        paper=str(real),
        subject=photographs.subject,
        language=photographs.language,
    )


def keep_whole(photographed: Photographed, folder: Path, outcome: OcrOutcome) -> OcrOutcome:
    """Replace the reading as a paper by the photograph and its text, in `folder`.

    A photograph without readable text is kept too, with the code `photograph_unread`; its text is a
    draft.

    Args:
        photographed: Photograph.
        folder: Folder with problems.jsonl, pages.jsonl and cropped figures.
        outcome: Outcome of the reading.

    Returns:
        The outcome; with `pictures: both` there are two problems of one group.
    """
    source, photographs = photographed.source, photographed.photographs
    rmtree(folder / "images", ignore_errors=True)
    place = f"images/{source.slug}"
    codes = [code for code in outcome.codes if code not in _EXPECTED]
    where = dict(outcome.where)
    try:
        real = _copy_picture(Path(source.paper), folder, place)
    except OmibenchError as error:
        return OcrOutcome(error=("pdf_damaged", str(error)))
    try:
        clean = _copy_picture(photographed.clean, folder, place) if photographed.clean else None
    except OmibenchError as error:
        clean = None
        codes.append("clean_picture_unread")
        where["clean_picture_unread"] = str(error)
    if outcome.error:
        codes.append("photograph_unread")
        where["photograph_unread"] = ": ".join(outcome.error)
    pages = folder / "pages.jsonl"
    if outcome.error or not pages.is_file():
        write_jsonl(pages, [])
    rows: Iterable[PageText] = read_jsonl(pages, PageText)
    text = without_marks("\n\n".join(page.text for page in rows if page.text)).strip()
    pair: dict[str, str | list[str]] = {PAIR: REAL} if clean else {}
    problem = Problem(
        id=source.slug,
        source=photographs.name,
        source_sha256=real.sha256,
        number=Path(source.paper).stem,
        pages=[],
        question=f"{write_image_mark(0)}\n{text}".strip(),
        images=[real],
        photograph="real",
        subject=photographs.subject or "other",
        language=photographs.language or detect_language(text),
        group=source.slug,
        licence=photographs.licence,
        competition=photographs.competition,
        year=photographs.year,
        attributes=photographs.attributes | pair,
    )
    twin = [_make_twin(problem, clean)] if clean and photographs.pictures == "both" else []
    write_jsonl(folder / "problems.jsonl", [problem, *twin])
    changes = {"codes": codes, "where": where, "error": None, "unread": {}}
    return outcome.model_copy(update=changes)


def _make_twin(problem: Problem, clean: Figure) -> Problem:
    """Return the same problem with its clean picture, in the photograph's group."""
    changes = {
        "id": f"{problem.id}-{CLEAN}",
        "images": [clean],
        "photograph": CLEAN,
        "attributes": problem.attributes | {PAIR: CLEAN},
    }
    return problem.model_copy(update=changes)


def _copy_picture(path: Path, folder: Path, place: str) -> Figure:
    """Return the picture as a figure, with an exact copy of its file.

    Raises FileFormatError if it is not a complete picture.
    """
    return _keep_picture(path, str(path), folder, place)


def _keep_picture(source: Path | bytes, name: str, folder: Path, place: str) -> Figure:
    picture = read_picture(source, name)
    digest = sha256(picture.data).hexdigest()
    file = f"{place}/{digest}.{picture.suffix}"
    if not (folder / file).exists():
        write_atomically(folder / file, picture.data)
    return Figure(file=file, sha256=digest)
