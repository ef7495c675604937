"""Options and arguments that several verbs have, each with one name and one help; and the Study
that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.errors import ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.params.cell import Cell
    from omibench.params.study import Study

Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="To listen at.")]
BehindTls = Annotated[
    str,
    typer.Option(metavar="https://NAME", help="Where a TLS terminator before it is reached."),
]
Params = Annotated[
    str, typer.Option(metavar="FILE", help="Parameter file, or JSON text that begins with {.")
]
OldParams = Annotated[
    str | None, typer.Argument(metavar="[FILE]", hidden=True, help="As --params, until 0.2.")
]
ProblemsFile = Annotated[
    Path, typer.Argument(metavar="PROBLEMS", help="problems.jsonl of the stage before.")
]
QuestionsFile = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="questions.jsonl of `omibench freeze`.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into; made if needed.")]
OutFile = Annotated[Path, typer.Option(metavar="FILE.parquet", help="Parquet file to write.")]
ModelName = Annotated[str, typer.Option("--model", help="A key of params `models`.")]
SettingName = Annotated[str, typer.Option("--setting", help="A key of params `settings`.")]
Results = Annotated[Path, typer.Option(help="Folder that holds freeze/, infer/ and score/.")]
Override = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a top-level key, such as data=DIR."),
]

PluginFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin", metavar="FILE.py", help="Python file of your own that brings parts; it is run."
    ),
]

LimitTo = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="The first N problems alone: a partial run."),
]
Ids = Annotated[
    str | None,
    typer.Option("--ids", metavar="ID,...", help="These problems alone: a partial run."),
]
Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="N", min=1, help="N problems drawn by --seed: a partial run."),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Of --sample.  [0]")]


def make_limit(
    limit: int | None, ids: str | None, sample: int | None, seed: int | None
) -> dict[str, object]:
    """What the options of a partial run say, over the block `study` of the params."""
    options = {"n": limit, "ids": ids and ids.split(","), "sample": sample, "seed": seed}
    named = {key: value for key, value in options.items() if value is not None}
    if seed is not None and sample is None:
        raise ParamsError("--seed goes with --sample")
    if len({"n", "ids", "sample"} & named.keys()) > 1:
        raise ParamsError("give one of --limit, --ids and --sample")
    return {"limit": named or None}


def choose_params(verb: str, params: str, argument: str | None) -> str:
    """The parameter file of a verb that took it as an argument before it had `--params`.

    Args:
        verb: Name of the verb, for the warning.
        params: What `--params` says.
        argument: The argument, which is read until version 0.2; None where there is none.
    """
    if argument is None:
        return params
    say(
        f"omibench: {verb} {argument}: give the file as `--params {argument}`; as an argument it "
        "is not read from version 0.2 on",
        err=True,
    )
    return argument


def read_study(params: str, override: list[str] | None, **options: dict[str, object]) -> Study:
    """The Study of `params`, with --set pairs replaced and the verb's own options laid over."""
    from omibench.params.study import load_study

    pairs = [item.partition("=") for item in override or []]
    for key, sign, _ in pairs:
        if not sign or "." in key:
            raise ParamsError(
                f"--set {key}: needs the form KEY=VALUE with a top-level key, such as data=DIR"
            )
    blocks = {
        block: {key: value for key, value in values.items() if value is not None}
        for block, values in options.items()
    }
    study = load_study(params, {key: value for key, _, value in pairs}, blocks)
    if not study.simulated:
        return study
    from omibench.plan.rehearsal import rehearse

    return rehearse(study)


def find_cell(study: Study, model: str, setting: str) -> Cell:
    from omibench.params.cell import Cell
    from omibench.schemas.validation import suggest_name

    if model not in study.models:
        raise ParamsError(f"--model {model!r} is not defined{suggest_name(model, study.models)}")
    if setting not in study.settings:
        hint = suggest_name(setting, study.settings)
        raise ParamsError(f"--setting {setting!r} is not defined{hint}")
    return Cell(model, setting)


def load_plugin_files(files: list[Path] | None) -> None:
    """Run the plug-ins of the option --plugin. Raises PluginError as `load_file` does."""
    from omibench.plugins.files import load_file

    for file in files or ():
        load_file(file.name, folder=file.parent)
