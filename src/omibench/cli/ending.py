"""How a user's mistake ends a command: one line on standard error, and its exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

from omibench.errors import OmibenchError


def end_with(error: OmibenchError) -> NoReturn:
    """Tell the mistake and exit, here and in the Snakefile alike: nobody is shown a traceback."""
    sys.stderr.write(f"omibench: {error}\n")
    sys.exit(error.exit_code)
