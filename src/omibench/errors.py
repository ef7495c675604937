"""Errors that omibench reports to users.

A user's error is an `OmibenchError`: the command line prints its message as one line and exits
with its `exit_code`, without a traceback. Any other exception is a bug in omibench.
"""

from __future__ import annotations

from typing import ClassVar, Final

from omibench.text.terminal import printable

EXIT_USER_ERROR = 2
EXIT_SOME_FAILED = 3


class OmibenchError(Exception):
    """An error that the user can fix: its message gives the place, the problem, the value and a
    remedy.

    One line; errors that list items pass each line as a separate argument, because a newline
    within one can be part of a file name.
    """

    exit_code: ClassVar[int] = EXIT_USER_ERROR

    @property
    def lines(self) -> list[str]:
        """Lines of the message, without terminal control characters."""
        return [printable(arg) for arg in self.args]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class ArgumentError(OmibenchError):
    """A function of the Python API was called with an invalid argument."""


class ParamsError(OmibenchError):
    """A parameter file has an invalid key, type, value or reference."""


class PluginError(OmibenchError):
    """A registered part does not exist or is defined twice, or its plug-in does not load."""


class FileFormatError(OmibenchError):
    """A file does not match its schema in `omibench.schemas.tables`."""


class MissingInputError(OmibenchError):
    """A file, folder or item required by the command is missing."""


class MissingExtraError(MissingInputError):
    """A package needed only for some results is not installed; see `omibench.extras`."""


class OutputError(OmibenchError):
    """The output of the command cannot be written to the given place."""


class ModelError(OmibenchError):
    """A model cannot be used: wrong provider, unknown capability, missing `oracle` or secret."""


class OutageError(ModelError):
    """An endpoint was unavailable for longer than the limit; responses so far are kept."""

    exit_code: ClassVar[int] = EXIT_SOME_FAILED


class PassingError(ModelError):
    """Requests failed transiently; a later retry can succeed."""


def may_pass(error: object) -> bool:
    """Whether a retry can succeed: never for a user's error, a wrong key or a bug."""
    return isinstance(error, PassingError | ConnectionError | TimeoutError)


class ImageCountError(ModelError):
    """A conversation would be sent with a different number of images than it shows."""


class StoreError(OmibenchError):
    """The store cannot be read or written."""


class UntrustedError(OmibenchError):
    """Results from elsewhere do not match their provenance, or code was not allowed here."""


class UnfinishedError(OmibenchError):
    """Results are still being written."""


class PaperError(OmibenchError):
    """One exam paper cannot be read. `code` is stable and listed in docs/errors.md."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class SomeFailedError(OmibenchError):
    """Some inputs failed and all others were processed; raised after everything was written."""

    exit_code: ClassVar[int] = EXIT_SOME_FAILED


_REASONS: Final[tuple[tuple[type[OSError], str], ...]] = (
    (FileNotFoundError, "it does not exist"),
    (FileExistsError, "a file with that name exists"),
    (IsADirectoryError, "it is a folder, not a file"),
    (NotADirectoryError, "its path leads through a file, not a folder"),
    (PermissionError, "you lack the permission"),
)


def reason_of(error: Exception, name_file: bool = False) -> str:
    """Return why a file cannot be read or written, for the end of a message with the file name.

    One line without Python's additions: the error number and the repeated path. `name_file` puts
    the path first, for messages about a folder with many files.
    """
    if isinstance(error, OSError) and name_file and error.filename:
        return f"{error.filename}: {reason_of(error)}"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (it contains the byte 0x{error.object[error.start]:02x})"
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    message = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return " ".join(message.split())
