"""The flows of `omibench.flows` as they are started in a checkout: `python -m workflows.NAME`."""

import sys

from omibench.cli.main import main


def start(*command: str) -> None:
    """Run a command of omibench with the words of this program.

    A first word that is no option is the parameter file.
    """
    words = sys.argv[1:]
    file = ["--params"] if words and not words[0].startswith("-") else []
    sys.argv[1:] = [*command, *file, *words]
    main()
