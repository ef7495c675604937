"""The command `omibench ocr`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import OptionalParams, Out, read_study
from omibench.errors import MissingInputError, SomeFailedError
from omibench.text.terminal import say


def ocr(
    out: Out,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="PDFs or photographs.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="sources.yaml, which pairs papers with keys and solutions.")
    ] = None,
    corrections: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Manual corrections.  [corrections.yaml next to the manifest]"
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Engine for scans: rapidocr, tesseract, mathpix, vision; textlayer for none."
        ),
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option(help="Reject papers with more pages.  [300]")
    ] = None,
    password_env: Annotated[
        str | None, typer.Option(help="Environment variable with the password of the papers.")
    ] = None,
    look: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write an inspection page per paper: its pages with boxes, texts and formulas.",
        ),
    ] = None,
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
    from omibench.files.outputs import output_folder, spare_store
    from omibench.ocr_view import make_look_writer
    from omibench.schemas.problem import Problem
    from omibench.schemas.tables import read_jsonl
    from omibench.stages.ocr import read_papers
    from omibench.stages.ocr.paper_pages import write_page_pictures
    from omibench.stages.ocr.read_ahead import asking_ahead
    from omibench.stages.ocr.sources.manifest import select_sources

    stated = str(corrections) if corrections else None
    study = read_study(
        params, None, ocr={"engine": engine, "max_pages": max_pages, "corrections": stated}
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
        pages = f"{file.pages} page{'' if file.pages == 1 else 's'}"
        say(f"{file.status:<7} {file.source}  {pages}{codes}", err=True)
    if rows := [row for file in report.files for row in file.corrections]:
        counts = Counter(row.status for row in rows)
        listing = ", ".join(
            f"{counts[s]} {s}" for s in ("applied", "agrees", "misfit") if counts[s]
        )
        say(f"{len(rows):,} correction{'' if len(rows) == 1 else 's'}: {listing}", err=True)
    problems = read_jsonl(out / "problems.jsonl", Problem)
    answers = sum(problem.answer is not None for problem in problems)
    count = f"{len(problems):,} problem{'' if len(problems) == 1 else 's'}"
    say(f"{count}, {answers:,} with an answer: {out / 'problems.jsonl'}", err=True)
    if failed:
        names = ", ".join(f"{f.source} ({', '.join(f.codes)})" for f in failed)
        raise SomeFailedError(f"ocr: {len(failed)} of {len(report.files)} files failed: {names}")
