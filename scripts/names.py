"""Count unclear names in the package, and the size of its files.

Name a function by a verb and its object (`list_cells`), and a variable by its value. Counted are
functions named by a bare participle (`told`, `_asked`, `written_out`), functions whose name ends in
a preposition (`cells_of`), variables with a name for any value (`found`, `one`), classes that share
a name, and long files.

    python scripts/names.py                   # the table
    python scripts/names.py --list vague      # each such name with its file and line
    python scripts/names.py --check           # exits with 1 if a limit is exceeded

`scripts/prose.py` counts the words of docstrings, texts and pages.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IRREGULAR = _words(
    """
    been begun bent bitten blown born borne bought bound broken brought built burnt caught chosen
    dealt done drawn driven eaten fallen felt flown forbidden forgotten found frozen given gone
    gotten got grown heard held hidden kept known laid lain learnt led left lent lit lost made meant
    met mistaken overridden paid proven put risen said seen sent shaken shown shrunk shut sold
    sought spelt spent spoken spread stolen struck stuck sworn taken taught thought thrown told torn
    understood undone unknown unread unsent withheld won worn woven written redrawn rewritten
    """
)
"""Past participles that do not end in -ed; `read`, `set`, `split` and `cut` count as verbs."""

NO_PARTICIPLE = _words(
    """
    bed bleed bred breed creed deed embed exceed feed fed greed heed hundred indeed need proceed red
    seed shed shred speed steed succeed united weed wed
    """
)
"""Words in -ed that are not participles."""

PREPOSITIONS = _words(
    """
    above across after against among around at before behind below beneath beside between beyond by
    during for from in inside into like near of on onto outside past per since than till to toward
    towards under until upon via with within without
    """
)
"""Prepositions without `up`, `out`, `off` and the like, which often end a verb: `set_up`,
`time_out`."""

ADVERBS = _words("again alone apart away back down off out over through together up")
"""Words that do not turn a participle into a verb: `written_out`, `put_together`."""

VAGUE = _words(
    """
    about again all another any anything asked away back both done each either everything few found
    given gone got held here how it its itself kept known latter least left less lot made many mine
    more most much neither none nothing one ones only other others ours own put rest said same seen
    several shown so some something stuff such taken that them then there these they thing things
    this those told too wanted what whatever when where which who whole whose why
    """
)
"""Names that fit any value."""

LIMITS = {
    "participle": 2.0,
    "preposition": 2.0,
    "vague": 1.5,
    "classes": 10,
    "median": 120,
    "largest": 400,
}
TITLES = {
    "participle": "functions named by a participle, %",
    "preposition": "functions whose name ends in a preposition, %",
    "vague": "variables with a vague name, %",
    "classes": "names of classes that are used twice or more",
    "median": "lines of a file, median",
    "largest": "lines of the largest file",
}


@dataclass
class Names:
    """The names in some files, each with its file and line."""

    functions: list[tuple[str, str]] = field(default_factory=list)
    variables: list[tuple[str, str]] = field(default_factory=list)
    classes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    lines: dict[str, int] = field(default_factory=dict)


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case, without surrounding underscores."""
    return [word.lower() for word in name.strip("_").split("_") if word]


def is_participle(word: str) -> bool:
    """Return whether a word is a past participle and not a present verb."""
    regular = re.fullmatch(r"[a-z]{2,}ed", word) and word not in NO_PARTICIPLE
    return bool(regular) or word in IRREGULAR


def is_participle_name(name: str) -> bool:
    """Return whether a function's name is only a participle: `told`, `_written_out`."""
    first, *others = split_words(name) or [""]
    return is_participle(first) and all(is_participle(w) or w in ADVERBS for w in others)


def ends_in_preposition(name: str) -> bool:
    """Return whether a function's name ends in a preposition: `cells_of`, `named_in`."""
    words = split_words(name)
    return len(words) > 1 and words[-1] in PREPOSITIONS


def is_vague(name: str) -> bool:
    """Return whether a variable's name fits any value."""
    return name.strip("_").lower() in VAGUE


def bindings(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each variable bound by one node: targets of any statement, and parameters."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, node.lineno
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name, node.lineno
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, node.lineno


def collect_names(files: Iterable[Path], base: Path) -> Names:
    """Return all names of some files, with places relative to `base`."""
    names = Names()
    for file in sorted(files):
        text = file.read_text("utf-8")
        path = file.relative_to(base).as_posix()
        names.lines[path] = len(text.splitlines())
        for node in ast.walk(ast.parse(text, str(file))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names.functions.append((node.name, f"{path}:{node.lineno}"))
            elif isinstance(node, ast.ClassDef):
                names.classes[node.name].append(f"{path}:{node.lineno}")
            names.variables += [(name, f"{path}:{line}") for name, line in bindings(node)]
    return names


def find_offenders(names: Names) -> dict[str, list[tuple[str, str]]]:
    """Return the names and files of each limited kind, with their places."""
    longest = sorted(names.lines, key=lambda path: -names.lines[path])
    return {
        "participle": [entry for entry in names.functions if is_participle_name(entry[0])],
        "preposition": [entry for entry in names.functions if ends_in_preposition(entry[0])],
        "vague": [entry for entry in names.variables if is_vague(entry[0])],
        "classes": [
            (name, place)
            for name, places in sorted(names.classes.items())
            if len(places) > 1
            for place in places
        ],
        "median": [
            (str(names.lines[path]), path)
            for path in longest
            if names.lines[path] > LIMITS["median"]
        ],
        "largest": [
            (str(names.lines[path]), path)
            for path in longest
            if names.lines[path] > LIMITS["largest"]
        ],
    }


def measure(names: Names) -> dict[str, float]:
    """Return the figure of each kind; shares are in percent."""
    offenders = find_offenders(names)
    functions, variables = max(len(names.functions), 1), max(len(names.variables), 1)
    return {
        "participle": 100 * len(offenders["participle"]) / functions,
        "preposition": 100 * len(offenders["preposition"]) / functions,
        "vague": 100 * len(offenders["vague"]) / variables,
        "classes": sum(len(places) > 1 for places in names.classes.values()),
        "median": median(names.lines.values()) if names.lines else 0,
        "largest": max(names.lines.values(), default=0),
    }


def format_table(figures: dict[str, float]) -> str:
    """Print the figures with their limits."""
    rows = [f"{'kind':12} {'counted':46} {'now':>7} {'limit':>7}"]
    for kind, value in figures.items():
        rows.append(f"{kind:12} {TITLES[kind]:46} {value:>7.4g} {LIMITS[kind]:>7g}")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    """Print the requested counts; return 1 if `--check` finds a limit exceeded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--package", type=Path, default=ROOT / "src", help="only this folder")
    parser.add_argument("--list", choices=TITLES, metavar="KIND", help=", ".join(TITLES))
    parser.add_argument("--check", action="store_true", help="exit with 1 over a limit")
    options = parser.parse_args(arguments)
    folder = options.package.resolve()
    base = ROOT if folder.is_relative_to(ROOT) else folder
    names = collect_names(folder.rglob("*.py"), base)
    if options.list:
        print("\n".join(f"{place}: {name}" for name, place in find_offenders(names)[options.list]))
        return 0
    figures = measure(names)
    if not options.check:
        print(format_table(figures))
        return 0
    broken = [kind for kind, value in figures.items() if value > LIMITS[kind]]
    for kind in broken:
        print(f"{TITLES[kind]}: {figures[kind]:.4g}, but the limit is {LIMITS[kind]:g}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
