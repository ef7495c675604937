"""How a command ends before its end: one line on standard error, and its exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

from omibench.errors import OmibenchError
from omibench.stop import STOPPED, StopSignal, say, stop_requested

STOPPED_BY_USER = 130


def end_with(error: OmibenchError) -> NoReturn:
    """Tell the mistake and exit, here and in the Snakefile alike: nobody is shown a traceback."""
    sys.stderr.write(f"omibench: {error}\n")
    sys.exit(error.exit_code)


def end_stopped() -> NoReturn:
    """Tell that a signal stopped the command and exit with its code: 130, or 143 for SIGTERM."""
    number = stop_requested()
    say(STOPPED)
    sys.exit(STOPPED_BY_USER if number is None else StopSignal(number).code)
