"""The command line: one function a verb, each calling the function of the same stage.

Heavy imports live inside the verbs, so that `omibench --help` stays quick.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli_aggregate import aggregate
from omibench.cli_certify import certify
from omibench.cli_graph import record, trust
from omibench.cli_judge import judge
from omibench.cli_ocr_quality import ocr_quality
from omibench.cli_options import ModelName, Out, OutFile, Params, SettingName
from omibench.cli_saliency import saliency
from omibench.cli_score import score
from omibench.cli_status import status
from omibench.cli_store import store_app
from omibench.errors import MissingInputError, OmibenchError, ParamsError, SomeFailedError

if TYPE_CHECKING:
    from omibench.study import Cell, Study

app = typer.Typer(
    name="omibench",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="From raw exam papers to a report on how well models reason over several images.",
)

STOPPED_BY_USER = 130

app.add_typer(store_app, name="store")
app.command()(status)
app.command()(record)
app.command()(trust)
app.command()(judge)
app.command()(saliency)
app.command(name="ocr-quality")(ocr_quality)

Override = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a top-level key, such as data=DIR."),
]


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and an exit code."""
    try:
        app()
    except OmibenchError as error:
        sys.stderr.write(f"omibench: {error}\n")
        sys.exit(error.exit_code)
    except SystemExit as stop:
        if stop.code == STOPPED_BY_USER:
            sys.stderr.write("omibench: stopped; run the same command again to go on\n")
        raise


def _version(asked: bool) -> None:
    if asked:
        from omibench import __version__

        typer.echo(f"omibench {__version__}")
        raise typer.Exit


@app.callback()
def omibench(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which it is.")
    ] = False,
) -> None:
    """From raw exam papers to a report on how well models reason over several images."""


@app.command()
def ocr(
    out: Out,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="PDFs or photographs.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="sources.yaml: pairs papers with keys and solutions.")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="Of scans: rapidocr, tesseract, mathpix, vision; textlayer: none."),
    ] = None,
    max_pages: Annotated[int | None, typer.Option(help="Refuse longer papers.  [300]")] = None,
    password_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the papers' password.")
    ] = None,
    look: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write one HTML page a paper, with boxes on its pages."
        ),
    ] = None,
    params: Params = "{}",
) -> None:
    """Read problems and figures out of exam papers.

    Choices, answers and solutions too, from the papers and from the keys that a manifest names.

    Writes problems.jsonl, pages.jsonl, report.json and images/ under --out. Exits with 3 when
    some files failed and the others were done.

    \b
    Example:
      omibench ocr paper.pdf --out results/ocr
      omibench ocr --manifest sample/sources.yaml --out results/ocr --look looks
    """
    from omibench.ahead import asking_ahead
    from omibench.look import looking
    from omibench.ocr import read_papers
    from omibench.tables import output_folder

    out = output_folder(out)
    study = _study(params, None, ocr={"engine": engine, "max_pages": max_pages})
    block = study.ocr
    sources = manifest or (Path(block.sources) if block.sources and not files else None)
    if not files and not sources:
        raise MissingInputError("ocr: no FILE given and no --manifest: name at least one")
    with asking_ahead(study) as ahead:
        report = read_papers(
            files or [],
            out,
            block,
            manifest=sources,
            password_env=password_env,
            ahead=ahead,
            look=looking(look) if look else None,
        )
    failed = [f for f in report.files if f.status == "error"]
    for file in report.files:
        codes = f"  {', '.join(file.codes)}" if file.codes else ""
        pages = f"{file.pages} page{'' if file.pages == 1 else 's'}"
        typer.echo(f"{file.status:<7} {file.source}  {pages}{codes}", err=True)
    if failed:
        names = ", ".join(f"{f.source} ({', '.join(f.codes)})" for f in failed)
        raise SomeFailedError(f"ocr: {len(failed)} of {len(report.files)} files failed: {names}")


@app.command(name="filter")
def filter_(problems: Path, out: Out, params: Params = "params.yaml") -> None:
    """Keep sound problems, and say why the others are not.

    Writes problems.jsonl, rejects.parquet and, of the models that the params name to judge
    problems, judgements.parquet under --out.

    \b
    Example:
      omibench filter results/ocr/problems.jsonl --out results/filter
    """
    from omibench.filter import filter_problems
    from omibench.tables import output_folder

    out = output_folder(out)
    typer.echo(filter_problems(problems, out, _study(params, None)), err=True)


@app.command()
def rationale(problems: Path, out: Out, params: Params = "params.yaml") -> None:
    """Write missing solutions and label topics.

    With the models that the params name; without any, problems stay as they are.

    \b
    Example:
      omibench rationale results/filter/problems.jsonl --out results/rationale
    """
    from omibench.rationale import write_rationales
    from omibench.tables import output_folder

    out = output_folder(out)
    done = write_rationales(problems, out, _study(params, None))
    typer.echo(f"{done} problems written to {out}", err=True)


@app.command()
def freeze(
    out: Out,
    problems: Annotated[
        Path | None, typer.Argument(help="Left out for benchmarks that are not made from papers.")
    ] = None,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Freeze questions, answers and images, as reviewed.

    \b
    Example:
      omibench freeze results/rationale/problems.jsonl --out results/freeze
    """
    from omibench.freeze import freeze_dataset
    from omibench.tables import output_folder

    out = output_folder(out)
    manifest = freeze_dataset(out, _study(params, override), problems)
    typer.echo(
        f"{manifest.name} {manifest.version}: {manifest.problems} problems, "
        f"{manifest.images} images",
        err=True,
    )


@app.command()
def infer(
    questions: Path,
    out: OutFile,
    model: ModelName,
    setting: SettingName,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Ask one model all questions under one setting.

    What the store of responses holds is not asked again.

    \b
    Example:
      omibench infer results/freeze/questions.jsonl --model sim-apex --setting cot \\
          --out results/infer/sim-apex/cot.parquet
    """
    from omibench.infer import infer_cell
    from omibench.tables import output_parquet

    out = output_parquet(out)
    study = _study(params, override)
    rows = infer_cell(questions, out, study, _cell(study, model, setting))
    typer.echo(f"{rows} responses written to {out}", err=True)


@app.command()
def fill(
    questions: Path,
    model: ModelName,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Note here what was filled.")
    ] = None,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Ask one model under all its settings at once.

    Keeps the responses in the store, from which `omibench infer` writes the cells: a local model
    is loaded once for all of them.

    \b
    Example:
      omibench fill results/freeze/questions.jsonl --model my-local-model
    """
    from omibench.infer.fill import fill_model
    from omibench.tables import write_text

    study = _study(params, override)
    settings = [c.setting for c in study.cells if c.model == model] or list(study.settings)
    cell = _cell(study, model, settings[0] if settings else "")
    count = fill_model(questions, study, cell.model, settings)
    note = f"{count} responses of {model} under {', '.join(settings)} are in the store\n"
    if out:
        write_text(out, note)
    typer.echo(note, nl=False, err=True)


app.command()(score)
app.command()(aggregate)
app.command()(certify)


@app.command()
def analyze(
    results: Annotated[Path, typer.Argument(help="Folder that holds freeze/, infer/ and score/.")],
    out: Out,
    params: Params = "params.yaml",
) -> None:
    """Summarise scores in tables and a report.

    \b
    Example:
      omibench analyze results --out results/analyze
    """
    from omibench.analyze import analyze_study
    from omibench.tables import output_folder

    out = output_folder(out)
    headline = analyze_study(results, out, _study(params, None))
    typer.echo(headline)


@app.command()
def plan(
    questions: Annotated[Path | None, typer.Argument(help="Frozen questions.")] = None,
    after: Annotated[
        bool, typer.Option("--after", help="Compare what was expected with what it took.")
    ] = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Of its rehearsal, as with --set simulated=true.")
    ] = False,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Over made-up questions, where none are frozen yet."),
    ] = False,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Say what a study will ask, cost and take, and what it could detect. Sends nothing.

    \b
    Example:
      omibench plan --params params.yaml
      omibench plan --params studies/omibench.yaml --synthetic
      omibench plan --params params.yaml --after
    """
    from omibench.plan import compare_study, plan_study, render, render_comparison

    study = _study(params, [*(override or []), *(["simulated=true"] if simulated else [])])
    if synthetic:
        from omibench.rehearsal import made_up_questions

        with made_up_questions(study) as (like, made):
            typer.echo(f"Planned over made-up questions like those of {like}, with small pictures")
            typer.echo(render(plan_study(study, made)))
        return
    frozen = questions or Path(study.study.results) / "freeze" / "questions.jsonl"
    if after:
        typer.echo(render_comparison(compare_study(study, frozen)))
    else:
        typer.echo(render(plan_study(study, frozen)))


@app.command()
def schema() -> None:
    """Print the JSON schema of parameter files.

    \b
    Example:
      omibench schema > schemas/params.schema.json
    """
    from omibench.describe import params_schema

    typer.echo(params_schema(), nl=False)


@app.command()
def files() -> None:
    """Print a table of every file that is written.

    \b
    Example:
      omibench files > docs/files.md
    """
    from omibench.describe import files_table

    typer.echo(files_table(), nl=False)


def _study(params: str, override: list[str] | None, **options: dict[str, object]) -> Study:
    """The Study of `params`, with --set pairs replaced and the verb's own options laid over."""
    from omibench.study import load_study

    pairs = [item.partition("=") for item in override or []]
    for key, sign, _ in pairs:
        if not sign or "." in key:
            raise ParamsError(
                f"--set {key}: needs the form KEY=VALUE with a top-level key, such as data=DIR"
            )
    given = {
        block: {key: value for key, value in values.items() if value is not None}
        for block, values in options.items()
    }
    study = load_study(params, {key: value for key, _, value in pairs}, given)
    if not study.simulated:
        return study
    from omibench.rehearsal import rehearsed

    return rehearsed(study)


def _cell(study: Study, model: str, setting: str) -> Cell:
    from omibench.explain import did_you_mean
    from omibench.study import Cell

    if model not in study.models:
        raise ParamsError(f"--model {model!r} is not defined{did_you_mean(model, study.models)}")
    if setting not in study.settings:
        hint = did_you_mean(setting, study.settings)
        raise ParamsError(f"--setting {setting!r} is not defined{hint}")
    return Cell(model, setting)
