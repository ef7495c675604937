"""Options and arguments that several verbs have, each with one name and one help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Params = Annotated[
    str, typer.Option(metavar="FILE", help="Parameter file, or JSON text that begins with {.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into; made if needed.")]
OutFile = Annotated[Path, typer.Option(metavar="FILE.parquet", help="Parquet file to write.")]
ModelName = Annotated[str, typer.Option("--model", help="A key of params `models`.")]
SettingName = Annotated[str, typer.Option("--setting", help="A key of params `settings`.")]
Results = Annotated[Path, typer.Option(help="Folder that holds freeze/, infer/ and score/.")]
