"""The commands `omibench look` and `omibench ocr-quality`: what papers were read as."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import (
    BehindTls,
    Host,
    OptionalParams,
    PaperFiles,
    PasswordEnv,
    Port,
    read_study,
)
from omibench.errors import MissingInputError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.explore.ocr_view.files import LookFiles
    from omibench.params.study import Study

PORT = 8767


def look(
    files: PaperFiles = None,
    manifest: Annotated[
        Path | None, typer.Option(help="sources.yaml, which lists the papers.  [ocr.sources]")
    ] = None,
    corrections: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Manual corrections.  [ocr.corrections, or corrections.yaml next to the manifest]",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the pages.")] = Path(
        "looks"
    ),
    again: Annotated[
        bool, typer.Option("--again", help="Read papers again that have a page in the folder.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the pages, and save corrections made on them.")
    ] = False,
    password_env: PasswordEnv = None,
    params: OptionalParams = "params.yaml",
    port: Port = PORT,
    host: Host = "127.0.0.1",
    behind_tls: BehindTls = "",
    secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File with the secret to log in with; required with --behind-tls."
        ),
    ] = None,
) -> None:
    """Inspect what was read from papers: each page with its boxes, texts and figures.

    Writes an inspection page for each paper that has none in the folder. With --serve, a local
    server shows the pages to anyone with the printed address, and saves what you edit in
    corrections.yaml. Results of the study are not changed: the next `omibench ocr` or `omibench
    run` applies the corrections, and --again shows them.

    \b
    Example:
      omibench look --serve
      omibench look paper.pdf --out looks
    """
    from omibench.web.address import ServedAddress, check_listening, read_secret

    check_listening(host, secret_file is not None, behind_tls)
    secret = read_secret(secret_file) if secret_file is not None else None
    has_params = params.lstrip().startswith("{") or Path(params).is_file()
    stated = str(corrections) if corrections else None
    study = read_study(params if has_params else "{}", ocr={"corrections": stated})
    chosen = _find_files(study, files or [], manifest, out)
    if serve:
        _check_place(study, chosen)
    _write_pages(study, chosen, again, password_env)
    if not serve:
        for name in chosen.list_pages():
            say(out / name)
        return
    from omibench.extras import require_extra

    require_extra("web", "look --serve")
    from omibench.explore.ocr_view.serve import run_look

    address = ServedAddress(host=host, port=port, origin=behind_tls)
    run_look(chosen, address, secret, lambda at: say(f"{out}: {at} (Ctrl-C stops it)"))


def _find_files(study: Study, papers: list[Path], manifest: Path | None, out: Path) -> LookFiles:
    """Find papers, manifest and corrections; a missing file of corrections is next to them."""
    from omibench.explore.ocr_view.files import LookFiles
    from omibench.files.outputs import made_folder, spare_store
    from omibench.stages.ocr.corrections.entry import NAME, find_corrections
    from omibench.stages.ocr.sources.manifest import select_sources

    named = manifest or (Path(study.ocr.sources) if study.ocr.sources and not papers else None)
    if not papers and named is None:
        raise MissingInputError("look: no input; give a FILE or --manifest FILE")
    path = find_corrections(study.ocr.corrections, named, papers)
    beside = (named or papers[0]).parent / NAME
    out = made_folder(spare_store(out, study.study.store), "--out")
    return LookFiles(out, path or beside, named, papers, select_sources(papers, named))


def _check_place(study: Study, chosen: LookFiles) -> None:
    """Raise MissingInputError if a run would not read the file that corrections are saved in."""
    folders = {paper.parent for paper in chosen.papers}
    if study.ocr.corrections is None and chosen.manifest is None and len(folders) > 1:
        listing = " and ".join(sorted(map(str, folders)))
        raise MissingInputError(
            f"look: the papers are in {listing}, and `omibench ocr` of papers in several folders "
            "reads no corrections.yaml next to them; give --corrections FILE here and there (the "
            "file must exist; it may be empty)"
        )


def _write_pages(study: Study, chosen: LookFiles, again: bool, password_env: str | None) -> None:
    """Read the papers without a page, or all of them, and write their pages."""
    from omibench.explore.ocr_view import make_look_writer
    from omibench.stages.ocr import read_papers
    from omibench.stages.ocr.read_ahead import asking_ahead

    present = set(chosen.list_pages())
    missing = [s for s in chosen.sources if again or f"{s.slug}.html" not in present]
    if not missing:
        return
    say(f"reading {', '.join(source.name for source in missing)}", err=True)
    with TemporaryDirectory(prefix="omibench-look-") as folder, asking_ahead(study) as ahead:
        read_papers(
            [Path(source.paper) for source in missing],
            Path(folder),
            study.ocr,
            manifest=chosen.manifest,
            password_env=password_env,
            ahead=ahead,
            look=make_look_writer(chosen.pages),
        )


# The command `omibench ocr-quality`.


def ocr_quality(
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS", help="JSONL file with id, text (as read) and reference (as printed)."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.jsonl", help="JSONL file to write.")],
    judge: Annotated[
        list[str] | None,
        typer.Option(help="Judge of key terms and meaning: a key of params `models`; repeatable."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="N,T,S,F,L",
            help="Weights of numbers, terms, semantics, structure, lexical.  [1,1,1,1,1]",
        ),
    ] = None,
    params: OptionalParams = "{}",
) -> None:
    """Measure OCR accuracy against reference texts.

    Uses the five measures of MathReal: numbers, key terms, semantics, structure and Levenshtein
    distance. Key terms, semantics and the mean of all five need a judge.

    \b
    Example:
      omibench ocr-quality pairs.jsonl --out scores.jsonl
      omibench ocr-quality pairs.jsonl --judge gpt-4.1-nano --params params.yaml --out scores.jsonl
    """
    from omibench.errors import ParamsError
    from omibench.explore.ocr_quality import Weights, score_transcripts, summarise_scores
    from omibench.files.outputs import output_file, spare_inputs

    study = read_study(params)
    spare_inputs(output_file(out, study.study.store), pairs)
    chosen_weights = Weights()
    if weights is not None:
        try:
            values = [float(value) for value in weights.split(",")]
            chosen_weights = Weights(**dict(zip(Weights.model_fields, values, strict=True)))
        except ValueError:
            raise ParamsError(
                f"--weights {weights}: is not five numbers of at least 0; write, for "
                "example, 3,2,2,1,2"
            ) from None
    scores = score_transcripts(pairs, out, study, judge or [], chosen_weights)
    say_lines(summarise_scores(scores), err=True)
