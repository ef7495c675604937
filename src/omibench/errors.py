"""Every way in which omibench tells a user that something is wrong.

A user's mistake is an `OmibenchError`: the command line prints its one line and exits with its
`exit_code`, never a traceback. Whatever else is raised is a defect of omibench.
"""

from __future__ import annotations

from typing import ClassVar, Final

from omibench.text.terminal import printable

EXIT_USER_ERROR = 2
EXIT_SOME_FAILED = 3


class OmibenchError(Exception):
    """A mistake that the user can mend: says what, where, which value and what to do.

    One line; the few that list things give each line as an argument of its own, since a newline
    within one may be that of a file's name.
    """

    exit_code: ClassVar[int] = EXIT_USER_ERROR

    @property
    def lines(self) -> list[str]:
        """What it says, line by line, without what would command a terminal."""
        return [printable(arg) for arg in self.args]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class ArgumentError(OmibenchError):
    """A function of the Python API was called with a wrong argument."""


class ParamsError(OmibenchError):
    """A parameter file has a wrong key, type, value or reference."""


class PluginError(OmibenchError):
    """A part that is known by name is not there, defined twice, or its plug-in does not load."""


class FileFormatError(OmibenchError):
    """A file does not hold what its schema in `omibench.schemas.tables` says."""


class MissingInputError(OmibenchError):
    """A file, folder or item that the command needs is not there."""


class MissingExtraError(MissingInputError):
    """A package that only some results need is not installed; see `omibench.extras`."""


class OutputError(OmibenchError):
    """What the command would write cannot be written where it was told to."""


class ModelError(OmibenchError):
    """A model cannot be asked: wrong provider, unknown capability, missing oracle or secret."""


class OutageError(ModelError):
    """An endpoint was away for longer than it is waited for; what was answered is kept."""

    exit_code: ClassVar[int] = EXIT_SOME_FAILED


class PassingError(ModelError):
    """Asking failed in a way that may pass by itself: trying again later may go better."""


def may_pass(error: object) -> bool:
    """Whether what failed may succeed by itself: never a user's mistake, a wrong key, a defect."""
    return isinstance(error, PassingError | ConnectionError | TimeoutError)


class ImageCountError(ModelError):
    """A conversation would be sent with another number of images than it shows."""


class StoreError(OmibenchError):
    """The store cannot be read or written."""


class UntrustedError(OmibenchError):
    """Results that were made elsewhere are not what they are said to be."""


class UnfinishedError(OmibenchError):
    """Results are still being written."""


class PaperError(OmibenchError):
    """One exam paper cannot be read. `code` is stable and listed in docs/errors.md."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class SomeFailedError(OmibenchError):
    """Some inputs failed and all the others were done; raised after everything was written."""

    exit_code: ClassVar[int] = EXIT_SOME_FAILED


_REASONS: Final[tuple[tuple[type[OSError], str], ...]] = (
    (FileNotFoundError, "it does not exist"),
    (FileExistsError, "a file of that name is there"),
    (IsADirectoryError, "it is a folder, not a file"),
    (NotADirectoryError, "its path leads through a file, not a folder"),
    (PermissionError, "you lack the permission"),
)


def reason_of(error: Exception, name_file: bool = False) -> str:
    """Why a file cannot be read or written, for the end of a message that names the file.

    One line without what Python puts around it: the error's number, and the path once more.
    `name_file` puts the path first, where the message is about a folder of many files.
    """
    if isinstance(error, OSError) and name_file and error.filename:
        return f"{error.filename}: {reason_of(error)}"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (it holds the byte 0x{error.object[error.start]:02x})"
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    said = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return " ".join(said.split())
