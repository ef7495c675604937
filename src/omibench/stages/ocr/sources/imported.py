"""Import problems of existing benchmarks: rows with images, without OCR."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.errors import OmibenchError
from omibench.files.atomic import write_atomically
from omibench.files.intake import read_picture
from omibench.schemas.problem import Answer, Figure, Problem, Question
from omibench.schemas.tables import write_jsonl
from omibench.stages.ocr.jobs import OcrOutcome
from omibench.stages.ocr.sources.check import hash_regular_file
from omibench.stages.ocr.sources.manifest import Rows
from omibench.stages.ocr.sources.slugs import slug


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
    problems, missing = [], []
    for question, answer in zip(dataset.questions, dataset.answers, strict=True):
        try:
            figures = [
                _copy_picture(figure, dataset.folder, folder, place) for figure in question.images
            ]
        except OmibenchError as error:
            return OcrOutcome(error=("rows_unreadable", f"{question.id}: {error}"))
        if any(figure is None for figure in figures):
            missing.append(question.id)
        else:
            images = [figure for figure in figures if figure]
            problems.append(_problem(rows, digest, question, answer, images))
    write_jsonl(folder / "problems.jsonl", problems)
    write_jsonl(folder / "pages.jsonl", [])
    codes = [code for code, count in _codes(problems, missing) if count]
    return OcrOutcome(codes=codes, where={"picture_missing": _few(missing)} if missing else {})


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


def _copy_picture(figure: Figure, source: Path, folder: Path, place: str) -> Figure | None:
    """Copy the picture to the folder of papers' pictures, once per content; None if it is missing.

    Raises FileFormatError if it is not a complete picture.
    """
    path = source / figure.file
    if not figure.sha256 or not path.is_file():
        return None
    picture = read_picture(path)
    file = f"{place}/{figure.sha256}.{picture.suffix}"
    if not (folder / file).exists():
        write_atomically(folder / file, picture.data)
    return figure.model_copy(update={"file": file})


def _codes(problems: Sequence[Problem], missing: Sequence[str]) -> list[tuple[str, bool]]:
    return [("picture_missing", bool(missing)), ("no_problems", not problems)]


def _few(ids: Sequence[str]) -> str:
    remainder = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
    return f"{'row' if len(ids) == 1 else 'rows'} {', '.join(ids[:3])}{remainder}"
