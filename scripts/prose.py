"""Count unidiomatic words in all prose of the project.

Prose is text for readers: Markdown, docstrings, comments, page templates, and texts of three words
or more in the code (help, errors, progress lines, reports). Prompts for models are left out.

The limit of a word is twice its rate in inspect_ai 0.3.285, measured by this script with
`--folder`, and at least 0.2 in 10,000 words.

    python scripts/prose.py                      # the table
    python scripts/prose.py --list stands        # each use, with its file and line
    python scripts/prose.py --files              # words and uses of each file, the worst first
    python scripts/prose.py --check              # exits with 1 if a limit is broken
    python scripts/prose.py --folder inspect_ai  # the rates of another package
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = [
    "src", "docs", "workflows", "rules", "scripts", "benchmarks", "sample", "studies", "examples",
    "published", "prompts", "report", "profiles",
]  # fmt: skip
SUFFIXES = {".py", ".md", ".smk", ".yaml", ".yml", ".j2", ".html", ".txt", ".rst", ".js", ".css"}
NO_PROSE = re.compile(
    r"(^|/)(node_modules|vendored|site|__pycache__|booklets|\.[^/]+)/"
    r"|^scripts/prose\.py$|^src/omibench/settings/(tools/words|prompts_built_in)\.py$"
    r"|^docs/(files|licences|papers)\.md$|^schemas/|\.min\.js$|(^|/)requirements.*\.txt$"
)
"""External files, prompts, and pages generated from prose that is counted at its source."""

FEWEST_WORDS = 3


class Word(NamedTuple):
    """A counted word: its pattern, its rate in inspect_ai per 10,000 words, and alternatives."""

    pattern: str
    peer: float
    instead: str


WORDS = {
    "stands": Word(r"\b(stands?|stood|standing)\b(?!-| (up|out)\b)", 0.95, "is, appears, means"),
    "beside": Word(r"\bbesides?\b", 0.66, "next to, with, and"),
    "is no": Word(r"\b(is|are|was|were|be) no\b(?! (longer|more|less)\b)", 3.23, "is not a"),
    "no such": Word(r"\bno such\b", 0.43, "not found, does not exist"),
    "nobody": Word(r"\b(nobody|somebody|whoever|no one)\b", 0.38, "no reviewer, you, users"),
    "tells": Word(r"\b(tells?|told|telling)\b", 1.98, "says, shows, reports"),
    "anew": Word(r"\banew\b", 0.02, "again"),
    "rule book": Word(r"\brule[ -]?books?\b", 0.0, "scorer"),
    "stand-in": Word(r"\bstand-?ins?\b", 0.04, "simulated, placeholder"),
    "oracle": Word(r"\boracles?\b", 0.02, "perfect selection, reference"),
    "lane": Word(r"\blanes?\b", 0.02, "queue, slot"),
    "look": Word(r"\blook(s|ed|ing)?\b", 2.17, "the inspection page; see, check"),
    "trust": Word(r"\btrust(s|ed)?\b", 1.21, "verify, accept"),
    "record": Word(r"\brecords?\b", 15.10, "provenance, write"),
    "fill": Word(r"\bfills?\b", 0.68, "add, complete"),
    "in disguise": Word(
        r"\bin disguise\b|\bthe dear side\b|\bin good faith\b", 0.0, "say it plainly"
    ),
    "whence": Word(
        r"\b(whence|thereof|therein|whereby|hitherto|thereby|herein|lest)\b", 0.09, "from where"
    ),
}


class Text(NamedTuple):
    """A piece of prose and its line."""

    path: str
    line: int
    words: str


def read_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page without fenced code, code spans and link targets."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>", " ", line)


def read_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings, comments and texts of several words of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r"`[^`]*`", " ", token.string.lstrip("#! "))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = re.sub(r"`[^`]*`", " ", node.value)
            if len(find_words(words)) >= FEWEST_WORDS:
                yield node.lineno, words


def read_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and docstrings of YAML, Snakemake, JavaScript and CSS."""
    for number, line in enumerate(text.splitlines(), 1):
        for comment in re.findall(
            r"(?:^|\s)(?:#|//|/\*)\s+(.*)|\"{3}(.*)|[\"'`]([^\"'`]*)[\"'`]", line
        ):
            words = " ".join(comment)
            if len(find_words(words)) >= FEWEST_WORDS:
                yield number, words


def read_template(text: str) -> Iterator[tuple[int, str]]:
    """Return the text of a page template, without tags and expressions."""
    bare = re.sub(r"<[^>]*>|\{%.*?%\}|\{\{.*?\}\}", " ", text)
    yield from ((number, line) for number, line in enumerate(bare.splitlines(), 1))


READERS = {
    ".py": read_python,
    ".smk": read_comments,
    ".yaml": read_comments,
    ".yml": read_comments,
    ".js": read_comments,
    ".css": read_comments,
    ".j2": read_template,
    ".html": read_template,
}


def find_words(text: str) -> list[str]:
    """Return the words of a text, without numbers, signs and names with underscores."""
    return re.findall(r"(?<![\w`])[A-Za-z][A-Za-z'-]*(?![\w`])", text)


def list_files(root: Path = ROOT) -> Iterator[Path]:
    """Return the files of the project with prose."""
    yield from sorted(root.glob("*.md"))
    yield from (root / name for name in ("Snakefile", "Makefile", "params.yaml", "dvc.yaml"))
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in SUFFIXES and not NO_PROSE.search(path) and file.is_file():
                yield file


def collect_prose(files: Iterable[Path], base: Path) -> list[Text]:
    """Return all prose of some files, with paths relative to `base`."""
    texts = []
    for file in files:
        if not file.exists():
            continue
        read = READERS.get(file.suffix, read_markdown if file.suffix else read_comments)
        path = file.relative_to(base).as_posix()
        texts += [Text(path, line, words) for line, words in read(file.read_text("utf-8"))]
    return texts


def find_uses(texts: Iterable[Text], kind: str) -> Iterator[tuple[str, str]]:
    """Return each use of a word with its place and context."""
    pattern = re.compile(WORDS[kind].pattern, re.IGNORECASE)
    for text in texts:
        for use in pattern.finditer(text.words):
            line = text.line + text.words.count("\n", 0, use.start())
            around = text.words[max(0, use.start() - 50) : use.end() + 40]
            yield f"{text.path}:{line}", " ".join(around.split())


def count_words(texts: Iterable[Text]) -> int:
    """Return the number of words of some prose."""
    return sum(len(find_words(text.words)) for text in texts)


def measure(texts: list[Text]) -> dict[str, float]:
    """Return the uses of each word per 10,000 words."""
    total = max(count_words(texts), 1)
    return {kind: 1e4 * sum(1 for _ in find_uses(texts, kind)) / total for kind in WORDS}


def find_limit(kind: str) -> float:
    """Return the highest rate that `--check` accepts."""
    return max(2 * WORDS[kind].peer, 0.2)


def format_table(rates: dict[str, float]) -> str:
    """Print the rates with those of inspect_ai and the limits."""
    rows = [f"{'word':12} {'ours':>7} {'peer':>7} {'limit':>7}  instead"]
    for kind, rate in rates.items():
        word = WORDS[kind]
        rows.append(
            f"{kind:12} {rate:>7.2f} {word.peer:>7.2f} {find_limit(kind):>7.2f}  {word.instead}"
        )
    return "\n".join(rows)


def format_files(texts: list[Text]) -> str:
    """Print the number of words and counted uses of each file, worst first."""
    words: Counter[str] = Counter()
    uses: Counter[str] = Counter()
    for text in texts:
        words[text.path] += len(find_words(text.words))
    for kind in WORDS:
        uses.update(place.rpartition(":")[0] for place, _ in find_uses(texts, kind))
    return "\n".join(
        f"{uses[path]:5} {words[path]:7} {path}"
        for path in sorted(words, key=lambda path: -uses[path])
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the counts; return 1 if `--check` finds a limit exceeded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="only the Python and Markdown of this folder")
    parser.add_argument("--under", default="", help="only files whose path begins so")
    parser.add_argument("--list", choices=WORDS, metavar="WORD", help=", ".join(WORDS))
    parser.add_argument("--files", action="store_true", help="words and uses of each file")
    parser.add_argument("--check", action="store_true", help="exit with 1 over a limit")
    options = parser.parse_args(arguments)
    base = options.folder.resolve() if options.folder else ROOT
    files = [*base.rglob("*.py"), *base.rglob("*.md")] if options.folder else list_files()
    texts = [text for text in collect_prose(files, base) if text.path.startswith(options.under)]
    if options.list:
        print("\n".join(f"{place}: {around}" for place, around in find_uses(texts, options.list)))
        return 0
    if options.files:
        print(format_files(texts))
        return 0
    rates = measure(texts)
    broken = [kind for kind, rate in rates.items() if rate > find_limit(kind)]
    if not options.check:
        print(f"{count_words(texts)} words; uses in 10,000")
        print(format_table(rates))
        return 0
    for kind in broken:
        print(f"{kind}: {rates[kind]:.2f} in 10,000 words, but the limit is {find_limit(kind):.2f}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
