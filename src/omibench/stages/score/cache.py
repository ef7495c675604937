"""Cache of known verdicts on disk, keyed by content and code.

A verdict is a pure function of a response, its gold answer and a scorer. Its key is a hash of
everything that the scorer can read, of the scorers' source and of the packages they use. A
changed rule, gold answer or response has another key, so entries never become outdated; deleting
the file only costs time. Parallel jobs share one SQLite file; if it cannot be used, scoring
continues without it after a warning.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import ValidationError

from omibench.answers.scorers.published import NAME as PUBLISHED
from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.plugins import part_meaning
from omibench.schemas.adaptive import FOLDER as ADAPTIVE
from omibench.schemas.verdict import ScoredItem, Verdict

FILE = "verdicts.sqlite"
CHUNK = 256
_BUSY_S = 60.0
_SOURCE = Path(__file__).parents[3]
_SOURCES = (
    "omibench/answers/**/*.py", "omibench/schemas/**/*.py", "omibench/text/**/*.py",
    "glyphtex/latex/*.py", "glyphtex/lazy_re.py", "glyphtex/__init__.py",
)  # fmt: skip
_PACKAGES = ("math-verify", "latex2sympy2_extended", "sympy", "antlr4-python3-runtime", "rapidfuzz")
_LOG = logging.getLogger("omibench")


def locate_user_cache() -> Path:
    """Return the file of known verdicts in the user's cache folder (`XDG_CACHE_HOME`, on Linux)."""
    from platformdirs import user_cache_path

    return user_cache_path("omibench", appauthor=False) / FILE


def locate_cell_cache(responses: Path) -> Path:
    """Return the file of known verdicts for a cell: in its results folder, if it is in one.

    A cell of a study is `<results>/infer/<model>/<setting>.parquet`, and its part of a look
    `<results>/infer/adaptive/<look>/infer/<model>/<setting>.parquet`.
    """
    folders = responses.absolute().parents
    if len(folders) > 5 and [folders[n].name for n in (1, 3, 4)] == ["infer", ADAPTIVE, "infer"]:
        return folders[5] / "cache" / FILE
    if len(folders) > 2 and folders[1].name == "infer":
        return folders[2] / "cache" / FILE
    return locate_user_cache()


def score_items(items: Sequence[ScoredItem], rules: str, file: Path | None = None) -> list[Verdict]:
    """Return the verdicts of one scorer, in order, reusing known ones from a file.

    New ones are written in chunks, so that an interrupted run keeps its progress.

    Raises:
        OmibenchError: The scorer is unknown.
    """
    SCORERS.get(rules)
    # Scorers defined in a notebook have no source that would identify outdated verdicts.
    if file is None or rules == PUBLISHED or part_meaning("scorers", rules) is None:
        return [score_item(item, rules) for item in items]
    verdicts: list[Verdict] = []
    with _open_cache(file) as verdict_cache:
        for start in range(0, len(items), CHUNK):
            chunk = items[start : start + CHUNK]
            keys = [verdict_key(item, rules) for item in chunk]
            cached = verdict_cache.read(keys)
            fresh = {
                key: score_item(item, rules)
                for key, item in zip(keys, chunk, strict=True)
                if key not in cached
            }
            verdict_cache.write(fresh)
            verdicts += [(cached | fresh)[key] for key in keys]
    return verdicts


def verdict_key(item: ScoredItem, rules: str) -> bytes:
    """Return the hash key of a verdict: everything except the problem's id."""
    content = item.model_dump(exclude={"id"})
    plugin = part_meaning("scorers", rules)
    parts = [hash_scorer_sources(), rules, content, *([plugin] if plugin else [])]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=20).digest()


@cache
def hash_scorer_sources() -> str:
    """Return a hash of the scorers' source and dependencies, as 32 hex digits.

    It determines which known verdicts are valid, in a study or outside. Which jobs rerun is decided
    by the semantic hash of a stage's code (`graph.code_hash`), which takes a second to compute.
    """
    digest = hashlib.blake2b(digest_size=16)
    for path in list_scorer_sources():
        name = path.relative_to(_SOURCE).as_posix().encode()
        digest.update(name + b"\0" + path.read_bytes() + b"\0")
    versions = [f"{name} {_version(name)}" for name in _PACKAGES]
    digest.update(json.dumps([*versions, sys.version_info[:2]]).encode())
    return digest.hexdigest()


def list_scorer_sources() -> list[Path]:
    """Return the modules that a verdict may depend on: all files of the packages imported by
    scorers.
    """
    return sorted(path for files in _SOURCES for path in _SOURCE.glob(files))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


class _VerdictCache:
    """The open file; after its first failure it returns and stores nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None
        with self._tolerate_failure():
            file.parent.mkdir(0o700, parents=True, exist_ok=True)
            if file.exists() and not file.is_file():
                raise OSError("not a file")
            self._connection = sqlite3.connect(file, timeout=_BUSY_S)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS verdict (key BLOB PRIMARY KEY, told TEXT NOT NULL)"
                " WITHOUT ROWID"
            )

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Verdict]:
        cached: dict[bytes, Verdict] = {}
        with self._tolerate_failure():
            if self._connection is not None:
                marks = ", ".join("?" * len(keys))
                query = f"SELECT key, told FROM verdict WHERE key IN ({marks})"  # noqa: S608 (marks)
                for key, stored in self._connection.execute(query, keys):
                    verdict = _parse_verdict(stored)
                    if verdict is not None:
                        cached[key] = verdict
        return cached

    def write(self, fresh: dict[bytes, Verdict]) -> None:
        with self._tolerate_failure():
            if self._connection is not None and fresh:
                rows = [(key, json.dumps(verdict.model_dump())) for key, verdict in fresh.items()]
                with self._connection as open_file:
                    open_file.executemany("INSERT OR REPLACE INTO verdict VALUES (?, ?)", rows)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    @contextmanager
    def _tolerate_failure(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            _LOG.warning(
                "score: the cache %s is not used: %s; you can delete it at any time",
                self._file, error,
            )  # fmt: skip
            self.close()


@contextmanager
def _open_cache(file: Path) -> Iterator[_VerdictCache]:
    verdict_cache = _VerdictCache(file)
    try:
        yield verdict_cache
    finally:
        verdict_cache.close()


def _parse_verdict(stored: object) -> Verdict | None:
    try:
        return Verdict.model_validate_json(str(stored))
    except ValidationError:
        return None
