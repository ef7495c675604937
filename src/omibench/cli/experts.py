"""`omibench experts`: serve the experts that carry out tools."""

from __future__ import annotations

from typing import Annotated

import typer

from omibench.cli.options import DEFAULT_PARAMS, make_group, show_study
from omibench.errors import ParamsError
from omibench.text.terminal import say

experts_app = make_group("experts", "Serve the vision models that carry out tools.")


@experts_app.callback()
def _experts() -> None:
    """Keep the name of the one command."""


@experts_app.command()
def serve(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Key of the block, if there are several.")
    ] = None,
    params: Annotated[
        str, typer.Option("--params", metavar="FILE", help="Parameter file of the study.")
    ] = DEFAULT_PARAMS,
) -> None:
    """Load the experts of a study and answer its jobs until you stop it.

    It listens at the block's `base_url`, on this machine only.

    \b
    Example:
      omibench experts serve
    """
    from omibench.models.experts.server import load_experts
    from omibench.params.models.tools import ExpertsModel

    models = show_study(params).models
    blocks = {key: block for key, block in models.items() if isinstance(block, ExpertsModel)}
    if name not in blocks and not (name is None and len(blocks) == 1):
        known = ", ".join(blocks) or "none; add a model block with `provider: experts`"
        raise ParamsError(f"{params}: give the name of one block of experts: {known}")
    block = blocks[name] if name else next(iter(blocks.values()))
    with load_experts(block) as server:
        say(f"{', '.join(block.experts)} at {block.base_url}; stop with Ctrl-C")
        server.serve_forever()
