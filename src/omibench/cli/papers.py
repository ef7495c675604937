"""The commands before inference: ocr, filter, rationale, freeze."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import (
    OptionalParams,
    Out,
    Override,
    PaperFiles,
    Params,
    PasswordEnv,
    ProblemsFile,
    read_study,
)
from omibench.errors import MissingInputError, SomeFailedError
from omibench.text.terminal import count_noun, say, say_lines

Manifest = Annotated[
    Path | None, typer.Option(help="sources.yaml, which pairs papers with keys and solutions.")
]
CorrectionsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Manual corrections.  [corrections.yaml next to the manifest]"
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Engine for scans: rapidocr, tesseract, mathpix, vision; textlayer for none."
    ),
]
MaxPages = Annotated[int | None, typer.Option(help="Reject papers with more pages.  [300]")]
LookFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Write an inspection page per paper: its pages with boxes, texts and formulas.",
    ),
]


def ocr(
    out: Out,
    files: PaperFiles = None,
    manifest: Manifest = None,
    corrections: CorrectionsFile = None,
    engine: Engine = None,
    max_pages: MaxPages = None,
    password_env: PasswordEnv = None,
    look: LookFolder = None,
    params: OptionalParams = "{}",
) -> None:
    """Extract problems, choices, figures, answers and solutions from exam papers.

    Answers and solutions come from the papers and from the keys listed in the manifest. Writes
    problems.jsonl, pages.jsonl, report.json, images/ and pictures of the pages with problems.
    Exits with 3 if some files failed; the others are complete.

    \b
    Example:
      omibench ocr paper.pdf --out results/ocr
      omibench ocr --manifest sample/sources.yaml --out results/ocr --look looks
    """
    from omibench.explore.ocr_view import make_look_writer
    from omibench.files.outputs import output_folder, spare_store
    from omibench.schemas.problem import Problem
    from omibench.schemas.tables import read_jsonl
    from omibench.stages.ocr import read_papers
    from omibench.stages.ocr.page_pictures import write_page_pictures
    from omibench.stages.ocr.read_ahead import asking_ahead
    from omibench.stages.ocr.sources.manifest import select_sources

    stated = str(corrections) if corrections else None
    study = read_study(
        params, ocr={"engine": engine, "max_pages": max_pages, "corrections": stated}
    )
    out = output_folder(out, study.study.store)
    if look:
        spare_store(look, study.study.store, "--look")
    block = study.ocr
    sources = manifest or (Path(block.sources) if block.sources and not files else None)
    if not files and not sources:
        raise MissingInputError("ocr: no input; give a FILE or --manifest FILE")
    with asking_ahead(study) as ahead:
        report = read_papers(
            files or [],
            out,
            block,
            manifest=sources,
            password_env=password_env,
            ahead=ahead,
            look=make_look_writer(look) if look else None,
        )
    write_page_pictures(out, select_sources(files or [], sources), block, password_env)
    failed = [f for f in report.files if f.status == "error"]
    for file in report.files:
        codes = f"  {', '.join(file.codes)}" if file.codes else ""
        pages = count_noun(file.pages, "page")
        say(f"{file.status:<7} {file.source}  {pages}{codes}", err=True)
    if rows := [row for file in report.files for row in file.corrections]:
        counts = Counter(row.status for row in rows)
        listing = ", ".join(
            f"{counts[s]} {s}" for s in ("applied", "agrees", "misfit") if counts[s]
        )
        say(f"{count_noun(len(rows), 'correction')}: {listing}", err=True)
    problems = read_jsonl(out / "problems.jsonl", Problem)
    answers = sum(problem.answer is not None for problem in problems)
    count = count_noun(len(problems), "problem")
    say(f"{count}, {answers:,} with an answer: {out / 'problems.jsonl'}", err=True)
    if failed:
        names = ", ".join(f"{f.source} ({', '.join(f.codes)})" for f in failed)
        raise SomeFailedError(f"ocr: {len(failed)} of {len(report.files)} files failed: {names}")


# The command `omibench filter`.


def filter_(problems: ProblemsFile, out: Out, params: Params = "params.yaml") -> None:
    """Reject unusable problems, with reasons.

    Writes problems.jsonl, rejects.parquet, rejects.html (rejected problems with pictures) and, if
    the parameters list models that judge problems, judgements.parquet. Prints the number of
    problems, answers, and rejections by reason.

    \b
    Example:
      omibench filter results/ocr/problems.jsonl --out results/filter
    """
    from omibench.files.outputs import output_folder, spare_inputs
    from omibench.graph.provenance import check_inputs
    from omibench.stages.filter import filter_problems

    study = read_study(params)
    out = output_folder(out, study.study.store)
    spare_inputs(out / "problems.jsonl", problems)
    check_inputs(problems)
    say_lines(filter_problems(problems, out, study), err=True)
    say(f"Kept: {out / 'problems.jsonl'}; rejected: {out / 'rejects.html'}", err=True)


# The command `omibench rationale`.


def rationale(problems: ProblemsFile, out: Out, params: Params = "params.yaml") -> None:
    """Write missing rationales and label topics.

    Uses the models under `rationale` in the parameters; without models, problems stay unchanged.

    \b
    Example:
      omibench rationale results/filter/problems.jsonl --out results/rationale
    """
    from omibench.files.outputs import output_folder, spare_inputs
    from omibench.graph.provenance import check_inputs
    from omibench.stages.rationale import write_rationales

    study = read_study(params)
    out = output_folder(out, study.study.store)
    spare_inputs(out / "problems.jsonl", problems)
    taxonomy = study.rationale.taxonomy
    edited = Path(taxonomy.file) if taxonomy and taxonomy.file else None
    spare_inputs(out / "labels.yaml", edited)
    check_inputs(problems)
    count = write_rationales(problems, out, study)
    say(f"{count} problems written to {out}", err=True)


# The command `omibench freeze`.


def freeze(
    out: Out,
    problems: Annotated[
        Path | None,
        typer.Argument(
            metavar="PROBLEMS",
            help="problems.jsonl of the previous stage; none for a published benchmark.",
        ),
    ] = None,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Freeze the dataset: questions, answers and images, with the decisions of the review.

    \b
    Example:
      omibench freeze results/rationale/problems.jsonl --out results/freeze
    """
    from omibench.files.outputs import output_folder
    from omibench.graph.provenance import check_inputs
    from omibench.stages.freeze import freeze_dataset

    study = read_study(params, override)
    out = output_folder(out, study.study.store)
    check_inputs(problems)
    manifest = freeze_dataset(problems, out, study)
    say(
        f"{manifest.name} {manifest.version}: {manifest.problems} problems, "
        f"{manifest.images} images",
        err=True,
    )
    if manifest.without_rationale and not manifest.without_rationale_allowed and problems:
        say(
            f"{manifest.without_rationale} of {manifest.problems} problems have no rationale; a "
            "release needs one for each, or `freeze: {allow_without_rationale: true}`",
            err=True,
        )
