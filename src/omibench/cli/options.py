"""Show commands in `--help` under headings, each with its full summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

from omibench.errors import ParamsError
from omibench.params.pairs import split_pairs
from omibench.text.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omibench.params.setting import Cell
    from omibench.params.study import Study


COMMANDS = "Commands"


class FullSummaries(TyperGroup):
    """A group of commands whose help shows the whole first paragraph of each.

    Attributes:
        headings: Heading -> names of the commands under it, in order. Other commands come last,
            under `Commands`.
    """

    headings: ClassVar[Mapping[str, Sequence[str]]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the headings."""
        placed = [name for names in self.headings.values() for name in names]
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: placed.index(name) if name in placed else len(placed))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name; its first paragraph is its summary."""
        command = super().get_command(ctx, cmd_name)
        if command and not command.short_help and command.help:
            command.short_help = " ".join(command.help.split("\n\n")[0].split())
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per heading."""
        headings = {name: heading for heading, names in self.headings.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command and not command.hidden:
                row = (name, command.get_short_help_str())
                sections.setdefault(headings.get(name, COMMANDS), []).append(row)
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def make_group(name: str, summary: str) -> typer.Typer:
    """Make a group of commands, such as `omibench store`.

    Args:
        name: The name to type.
        summary: One sentence for the help.
    """
    return typer.Typer(
        name=name,
        cls=FullSummaries,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=summary,
    )


# Options and arguments that commands share, and the study, folders and cells they select.

DEFAULT_PARAMS = "params.yaml"

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen at.")]
BehindTls = Annotated[
    str,
    typer.Option(metavar="https://NAME", help="Public address of the TLS proxy in front."),
]
Params = Annotated[
    str, typer.Option(metavar="FILE", help="Parameter file, or JSON text starting with {.")
]
OptionalParams = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Parameter file, or JSON text starting with {.  [built-in defaults]",
        show_default=False,
    ),
]
ProblemsFile = Annotated[
    Path, typer.Argument(metavar="PROBLEMS", help="problems.jsonl of the previous stage.")
]
QuestionsFile = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="questions.jsonl of `omibench freeze`.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into; created if missing.")]
OutFile = Annotated[Path, typer.Option(metavar="FILE.parquet", help="Parquet file to write.")]
ModelName = Annotated[str, typer.Option("--model", help="A key of params `models`.")]
SettingName = Annotated[str, typer.Option("--setting", help="A key of params `settings`.")]
_RESULTS = "Results folder.  [study.results of the parameters]"
Results = Annotated[
    Path | None, typer.Option("--results", metavar="DIR", help=_RESULTS, show_default=False)
]
ResultsArgument = Annotated[
    Path | None, typer.Argument(metavar="RESULTS", help=_RESULTS, show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PaperFiles = Annotated[
    list[Path] | None, typer.Argument(metavar="FILE", help="PDFs or photographs.")
]
PasswordEnv = Annotated[
    str | None, typer.Option(help="Environment variable with the password of the papers.")
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="DIR",
        help="Store of responses.  [study.store of params.yaml, else store]",
        show_default=False,
    ),
]
Override = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a top-level key, such as data=DIR, or keys of a block, such as "
        "'study={budget_usd: 5}'.",
    ),
]

PluginFiles = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE.py", help="Plug-in to load, a Python file; it is run."),
]

LimitTo = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Only the first N problems: a partial run."),
]
Ids = Annotated[
    str | None,
    typer.Option("--ids", metavar="ID,...", help="Only these problems: a partial run."),
]
Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="N", min=1, help="Only N random problems: a partial run."),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="With --sample: random seed.  [0]")]


def make_limit(
    limit: int | None, ids: str | None, sample: int | None, seed: int | None
) -> dict[str, object]:
    """Return `study.limit` for the options of a partial run."""
    options = {"n": limit, "ids": ids and ids.split(","), "sample": sample, "seed": seed}
    named = {key: value for key, value in options.items() if value is not None}
    if seed is not None and sample is None:
        raise ParamsError("--seed: needs --sample")
    if len({"n", "ids", "sample"} & named.keys()) > 1:
        raise ParamsError("--limit, --ids, --sample: give only one of them")
    return {"limit": named or None}


def read_study(
    params: str, override: list[str] | None = None, **options: dict[str, object]
) -> Study:
    """Load the study of `params`, with `--set` pairs and the options of a command applied.

    This runs its plug-ins: for commands that evaluate with them.
    """
    from omibench.study.plan import study_file

    blocks = {
        block: {key: value for key, value in values.items() if value is not None}
        for block, values in options.items()
    }
    return study_file.read_study(params, options=blocks, pairs=split_pairs(override or []))


def show_study(params: str, override: list[str] | None = None) -> Study:
    """Load the study of `params` without running its plug-ins, and name those on standard error.

    For commands that only show, check or move files, which may be a stranger's.
    """
    from omibench.study.plan import study_file

    pairs = split_pairs(override or [])
    study = study_file.read_study(params, pairs=pairs, run_plugins=False)
    if study.plugins:
        files = ", ".join(plugin.file for plugin in study.plugins)
        say(f"omibench: left out, since this command runs no plug-in: {files}", err=True)
    return study


def require_file(params: str, command: str, reason: str = "") -> None:
    """Raise ParamsError for parameters as JSON text, with a reason why `command` needs a file."""
    if params.lstrip().startswith("{"):
        raise ParamsError(f"{command}: --params: give a file, not JSON text{reason}")


def find_results(results: Path | None, params: Study | str | None = None) -> Path:
    """Return the results folder of a command.

    Args:
        results: Value of the option or argument; None if not given.
        params: The study, or its parameter file; None to read params.yaml if it exists.

    Returns:
        `results`, else `study.results` of the parameters, else `results/`.
    """
    if results is not None:
        return results
    study = show_study(params) if isinstance(params, str) else params
    study = study or _read_default_study()
    return Path(study.study.results if study else "results")


def find_store(store: Path | None) -> Path:
    """Return the store: `--store`, else `study.store` of params.yaml, else `store/`."""
    if store is not None:
        return store
    study = _read_default_study()
    return Path(study.study.store if study else "store")


def _read_default_study() -> Study | None:
    """Load params.yaml; None if it does not exist."""
    return show_study(DEFAULT_PARAMS) if Path(DEFAULT_PARAMS).is_file() else None


def find_cell(study: Study, model: str, setting: str) -> Cell:
    """Return the cell of `--model` and `--setting`. Raises ParamsError as `check_names`."""
    from omibench.params.setting import Cell

    check_names(study, [model], [setting])
    return Cell(model, setting)


def check_names(study: Study, models: Iterable[str] | None, settings: Iterable[str] | None) -> None:
    """Raise ParamsError unless the study defines the values of `--model` and `--setting`."""
    from omibench.schemas.validation import suggest_name

    for option, names, defined in (
        ("--model", models, list(study.models)),
        ("--setting", settings, list(study.settings)),
    ):
        for name in names or ():
            if name not in defined:
                raise ParamsError(f"{option} {name!r} is not defined{suggest_name(name, defined)}")


def load_plugin_files(files: list[Path] | None) -> None:
    """Load the plug-ins of `--plugin`. Raises PluginError as `load_file` does."""
    from omibench.plugins.files import load_file

    for file in files or ():
        load_file(file.name, folder=file.parent)
