"""End a command early: one line on standard error, and the exit code."""

from __future__ import annotations

import sys
import traceback
from typing import NoReturn

from omibench.errors import OmibenchError
from omibench.models.traffic.stop import STOPPED, StopSignal, stop_requested
from omibench.models.traffic.stop import say as say_of_stop
from omibench.text.terminal import say_lines

STOPPED_BY_USER = 130


def tell(error: OmibenchError) -> None:
    """Print the error on standard error."""
    say_lines(f"omibench: {error}", err=True)


def exit_with_error(error: OmibenchError) -> NoReturn:
    """Print the error without a traceback and exit; the Snakefile uses it too."""
    tell(error)
    sys.exit(error.exit_code)


def end_with_defect() -> NoReturn:
    """Print the traceback of a bug and exit with 1, as Python does."""
    say_lines(traceback.format_exc(), err=True)
    sys.exit(1)


def end_stopped() -> NoReturn:
    """Report that a signal stopped the command and exit: 130, or 143 for SIGTERM."""
    number = stop_requested()
    say_of_stop(STOPPED)
    sys.exit(STOPPED_BY_USER if number is None else StopSignal(number).code)
