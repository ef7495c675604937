"""The source of plug-ins: their files, a hash of their meaning, and the line that raised."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError
from omibench.files.code_meaning import read_source

HEX_DIGITS = 16


class PluginSource(NamedTuple):
    """The source of one plug-in: a file, or the folder of a package.

    `meaning` is a hash that comments, docstrings and layout do not change.
    """

    origin: str
    path: Path
    meaning: str
    is_installed: bool = False


SOURCES: dict[str, PluginSource] = {}
"""The loaded plug-ins of this process, by origin."""


def text_meaning(text: str) -> str:
    """Return the hash of the meaning of a Python file's text, 16 hex digits.

    Raises:
        SyntaxError: It is not valid Python.
    """
    return read_source(text).meaning[:HEX_DIGITS]


def package_meaning(path: Path) -> str:
    """Return the hash of the meaning of a module or package folder, with its data files."""
    digest = hashlib.sha256()
    for file in _package_files(path):
        content = file.read_bytes()
        name = file.relative_to(path.parent).as_posix()
        is_code = file.suffix == ".py"
        meaning = text_meaning(content.decode("utf-8")) if is_code else _hash(content)
        digest.update(f"{name}\0{meaning}\0".encode())
    return digest.hexdigest()[:HEX_DIGITS]


def describe_error(error: BaseException, origin: str) -> str:
    """Describe a plug-in's exception on one line: file, line, type and text."""
    message = " ".join(str(error).split())
    kind = type(error).__name__
    text = f"{kind}: {message}" if message else kind
    if isinstance(error, OmibenchError):
        text = message
    if isinstance(error, SyntaxError):
        file = Path(error.filename).name if error.filename else origin
        return f"{file}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    source = SOURCES.get(origin)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if source and Path(frame.filename).is_relative_to(source.path):
            inner = Path(frame.filename).relative_to(source.path).as_posix()
            place = origin if inner == "." else f"{origin}, {inner}"
            return f"{place}, line {frame.lineno}: {text}"
    return f"{origin}: {text}"


def _package_files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path]
    files = (file for file in path.rglob("*") if file.is_file())
    return sorted(f for f in files if "__pycache__" not in f.parts and f.suffix != ".pyc")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
