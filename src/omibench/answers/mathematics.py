"""Sets of numbers, inequalities, solutions and vectors: a second opinion on texts that differ.

The tiers of `omibench.answers.match` compare signs and parts as they are written. Where they find
two texts different, both are read here as mathematics, and only equality decides.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from glyphtex import lazy_re as re
from glyphtex.latex.signs import COMMANDS
from omibench.answers.families import BUILDER
from omibench.answers.family_members import same_family
from omibench.answers.formulas.formula import rename_symbols, same_formula, symbols
from omibench.answers.formulas.latex import tidy
from omibench.answers.formulas.operators import Equality, same_set
from omibench.answers.multipart import by_comma, labelled_part
from omibench.answers.number_sets import DENIES, MAX_CHARS, same_inequality, same_number_set
from omibench.answers.piecewise import same_piecewise
from omibench.answers.prose import is_prose
from omibench.answers.solutions import same_solutions
from omibench.text.pieces import split_outside_brackets

_MATHEMATICAL = re.compile(
    r"[\\,;|<>=(\[{∈∪±≤≥≠⩾⩽≦≧∅∞ℝ]|\d:\d|or\b|\b(?:no|all|empty|infinity)\b", re.IGNORECASE
)


_NUMBER = re.compile(r"[\s$]*-?\d+(?:\.\d+)?[\s$]*")
_SHORT = {"sh": "sinh", "ch": "cosh", "th": "tanh"}
_CALLED = _SHORT | {
    "cth": "coth", "tgh": "tanh", "ctgh": "coth", "tg": "tan", "ctg": "cot", "cotg": "cot",
    "cosec": "csc", "cosech": "csch",
}  # fmt: skip
_HYPERBOLIC = "sinh|cosh|tanh|coth|sech|csch"
_NAME_OF_FUNCTION = (
    rf"(?:(arc|arg|ar|a)({_HYPERBOLIC}|sin|cos|tan|cot|sec|csc|{'|'.join(_CALLED)})"
    rf"|({_HYPERBOLIC}|{'|'.join(_CALLED)}))"
)
_FUNCTION = re.compile(
    rf"\\(?:operatorname\*?|mathrm|mathop|text|textrm)\s*\{{\s*{_NAME_OF_FUNCTION}\s*\}}"
    rf"|(?:(\\)|(?<![A-Za-z\\])){_NAME_OF_FUNCTION}(?![A-Za-z])(\s*\()?"
)
"""Names of functions in other traditions, with a font or without a backslash."""


def _write_function(match: re.Match[str]) -> str:
    r"""Return \operatorname{arsinh}, asinh( and \arcsh as \arcsinh; "arch" and "5th" are words."""
    arc, name = match[1] or match[5], match[2] or match[3] or match[6] or match[7]
    bare = (match[6] or match[7]) and not match[4]
    word = bare and ((name in _SHORT and arc != "arc") or (arc == "a" and not match[8]))
    written = rf"\{'arc' if arc else ''}{_CALLED.get(name, name)}"
    if word or match[0] == written:
        return match[0]
    return f"{written} {match[8] or ''}"


_LETTERS = {"ℤ": " Z ", "ℕ": " N ", "∥": r"\parallel "} | {
    sign: f"{COMMANDS[sign]} " for sign in "∪∩⊥⊂⊆∈∉∖"
}


def _write_powers(match: re.Match[str]) -> str:
    return f" {match[1].replace('two', '2')}^{{k}}"


_BASES = {"two": 2, "three": 3, "five": 5, "seven": 7, "eight": 8, "ten": 10, "sixteen": 16}


def _write_base(match: re.Match[str]) -> str:
    return f"_{{{_BASES[match[1]]}}}"


_SPELT: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\\(?:mathbb|Bbb|mathbf)\s*\{?\s*R\s*\}?|\\R(?![A-Za-z])|ℝ"), r" \\reals "),
    (re.compile(r"^[\s$]*(?:\\(?:mathbb|Bbb|mathbf)\s*\{?\s*Z\s*\}?|ℤ)"), r"\\integers "),
    (re.compile(r"^[\s$]*(?:\\(?:mathbb|Bbb|mathbf)\s*\{?\s*N\s*\}?|ℕ)"), r"\\naturals "),
    (re.compile(r">=|⩾|≧|≥"), r" \\geq "),
    (re.compile(r"(?<!<)<=(?!>)|⩽|≦|≤"), r" \\leq "),
    (re.compile(r"(?<=[\w})\]])\s+!=|\\not\s*="), r" \\neq "),
    (re.compile(r"(?<=[\d)])or(?=[A-Za-z(\d])"), " or "),
    (re.compile(r"\\(?:mathbb|Bbb)\s+([CNQZ])(?![A-Za-z])"), r" \1 "),
    (re.compile(f"[{''.join(_LETTERS)}]"), lambda m: _LETTERS[m[0]]),
    (re.compile(r"\\(?:implies|Longrightarrow)(?![A-Za-z])"), r"\\to "),
    (re.compile(r"\\vec(?=\s*\{\s*[A-Z]\s*[A-Z]\s*\})"), r"\\overrightarrow"),
    (re.compile(r"(?<![A-Za-z\\])([A-Z])\s*=\s*(?=\([^()]*,[^()]*\))"), r"\1"),
    (
        re.compile(rf"(?<=\d)_\{{\s*(?:\\text\s*\{{\s*)?({'|'.join(_BASES)})\s*\}}(?:\s*\}})?"),
        _write_base,
    ),
    (
        re.compile(
            r"(?:\\(?:operatorname|text|mathrm)\s*\{\s*cis\s*\}|\\cis)\s*(?:\\left\s*)?\(?"
            r"((?:\d|\\pi(?![A-Za-z])|\\d?frac\s*\{[^{}]*\}\s*\{[^{}]*\}|/|\^\s*\{?\s*\\circ\s*\}?|°|\s)+)"
            r"(?:\\right\s*)?\)?"
        ),
        r"(\\cos(\1) + i \\sin(\1))",
    ),
    (re.compile(r"(?:all\s+)?(?:the\s+)?powers\s+of\s+(two|\d+)"), _write_powers),
    (re.compile(r"\\(Re|Im)(?![A-Za-z])"), r"\1"),
    (re.compile(r"(?<![A-Za-z\\])(floor|ceil)\s*\(([^()]*)\)"), r"\\l\1 \2 \\r\1 "),
    (re.compile(r"(?<![A-Za-z\\])([fg])\s*(?:\\equiv(?![A-Za-z])|≡)(?!.*mod)"), r"\1(x) = "),
    (re.compile(r"(?<=\))\s*(?:\\equiv(?![A-Za-z])|≡)(?!.*mod)"), " = "),
    (re.compile(r"(?<=[\d}])\s*\^\s*\{?\s*\\prime\s*\}?"), "'"),
    (
        re.compile(
            r"(\\pi.*?)\s*(?:\\(?:text|mathrm)\s*\{\s*)?(?<![A-Za-z\\])rad(?:ians?)?(?:\s*\})?(?![A-Za-z])"
        ),
        r"\1",
    ),
    (_FUNCTION, _write_function),
    (re.compile(r"(?<![\\A-Za-z])(?:oo|[Ii]nfinity)(?![A-Za-z])"), "∞"),
    (re.compile(r"(?<![\\A-Za-z])(sqrt)(?=\s*\()"), r"\\\1"),
    (
        re.compile(r"(?<![\\A-Za-z])(alpha|beta|gamma|theta|lambda|omega|sigma|pi)(?![A-Za-z])"),
        r"\\\1",
    ),
)
"""Spellings of the real numbers and of relations; after a space, != is not a factorial."""
_QUALIFIER = re.compile(
    r"(?<=\S),?\s*(?:\\text\s*\{\s*)?\(?"
    r"(?:\\forall(?![A-Za-z])|∀|(?:for (?:all|every|any|each)|where)\b"
    r"|for\s*\}?\s*[a-z]\s*(?:[<>≥≤]|\\[lg]eq?)|i\.e\.|that is,)[^=]{0,80}$"
)
"""What only one side says of its symbols: for all n ≥ 1, where k is an integer."""
_FOR_ALL = re.compile(
    r"(?:\\forall(?![A-Za-z])|∀|for (?:all|every|any|each))\s*\}?\s*\$?([a-z])\s*\$?[\s.]*$"
)
_ANY_SPELT = re.compile("|".join(pattern.pattern for pattern, _ in _SPELT))
_UNDEFINED = re.compile(r"DNE|(?:it |the limit )?does not exist", re.IGNORECASE)
_INFINITE = re.compile(
    r"(?:there are )?(?:infinitely many|an infinite number(?: of)?|infinite|∞)"
    r"(?: (?:such )?(?:solutions?|values?|numbers?|integers?|pairs?|triples?|points?|primes?))?",
    re.IGNORECASE,
)
_PERMUTED = re.compile(
    r"(?:all\s+)?(?:the\s+)?permutations\s+of\s*(?P<first>\S.*)"
    r"|(?P<last>.+?\S),?\s+(?:and|with|or)\s+(?:all\s+)?(?:of\s+)?(?:its|their|the|any)?\s*(?:other\s+)?"
    r"permutations?(?:\s+(?:thereof|of (?:it|them|these)))?",
    re.DOTALL,
)
_INEQUALITY = re.compile(r"[<>]|\\(?:leq|geq|neq)(?![A-Za-z])")
_IN_SPACE = re.compile(
    r"\s*\(([^()]+)\)\s*(?:(?:\\in(?![A-Za-z])|∈)\s*\\reals\s*\^\s*\{(\d)\}\s*)?"
)
_SCALED = re.compile(r"([^\[\]=,]+?)\s*×?\s*(\[\[.*\]\])", re.DOTALL)
_TRANSPOSED = re.compile(
    r"(\[\s*\[[^()]*\]\s*\]|\[[^\[\]()]*,[^\[\]()]*\]|\([^\[\]()]*,[^\[\]()]*\))"
    r"\s*\^\s*\{?\s*(?:\\(?:mathsf|mathrm|text)\s*\{\s*T\s*\}|T|\\top|\\intercal)(?![A-Za-z])\s*\}?"
)
_ENTRY = re.compile(r"[^\[\],]+")
_UNIT_VECTOR = re.compile(
    r"\\(?:vec|hat|overrightarrow)\s*(?:\{\s*\\?([ijk])(?:math)?\s*\}|\\?([ijk])(?:math)?\b)"
)
_VECTOR_NAME = re.compile(r"^\s*\\?(?:vec\s*)?\{?\s*[A-Za-z]\s*\}?\s*=\s*")
_ARGUMENT = re.compile(r"(?<![A-Za-z\\])[fghFGPQpq](?:\s*_\{\d\})?\s*\(\s*([a-z])\s*\)\s*=")
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d\d))?\s*(?:([ap])\.?\s?m\.?)?", re.IGNORECASE)
_CONCENTRATION = re.compile(r"\[\s*([A-Z](?:[A-Za-z\d\s(){}_]|\^\s*\{[\d+-]*\})*)\]")
_VECTOR = re.compile(r"\[\[([^\[\],]*(?:\]\s*,\s*\[[^\[\],]*)*|[^\[\]]*)\]\]")
"""A matrix of one row or one column, as `flatten_environments` writes it."""


def same_mathematics(gold: str, pred: str, is_same: Equality) -> bool:
    """Return whether two texts are the same set, inequality, solutions or vector.

    Args:
        gold: Gold answer, not tidied.
        pred: Answer, not tidied.
        is_same: Comparison of two values in them.
    """
    both = len(gold) <= MAX_CHARS and len(pred) <= MAX_CHARS
    if (
        not both
        or (_NUMBER.fullmatch(gold) and is_prose(pred))
        or not (_MATHEMATICAL.search(gold) or _MATHEMATICAL.search(pred))
    ):
        return False
    every = _FOR_ALL.search(gold), _FOR_ALL.search(pred)
    if every[0] and every[1] and every[0][1] != every[1][1] and every[0][1] not in symbols(pred):
        renamed = rename_symbols(_drop_qualifier(pred), {every[1][1]: every[0][1]})
        if is_same(_drop_qualifier(gold), renamed):
            return True
    cut = _drop_qualifier(gold), _drop_qualifier(pred)
    one = (cut[0] != gold) != (cut[1] != pred) and all(cut) and not _limit_one(gold, pred)
    if one and is_same(*cut):
        return True
    spelt = _spell_signs(gold), _spell_signs(pred)
    if spelt != (gold, pred) and is_same(*spelt):
        return True
    gold, pred = map(tidy, spelt)
    listed = _permute(gold), _permute(pred)
    if listed != (gold, pred):
        return is_same(*listed)
    return bool(
        same_family(gold, pred, is_same)
        or _same_builders(gold, pred, is_same)
        or same_piecewise(gold, pred, is_same)
        or same_number_set(gold, pred)
        or same_inequality(gold, pred)
        or same_solutions(gold, pred, is_same)
        or _same_equations(gold, pred, is_same)
        or _same_conditions(gold, pred, is_same)
        or ("[[" in gold + pred and _same_vector(gold, pred, is_same))
        or ("[[" in gold + pred and _same_scaled(gold, pred, is_same))
        or _same_components(gold, pred, is_same)
        or _same_functions(gold, pred, is_same)
        or _same_time(gold, pred)
        or _same_concentrations(gold, pred, is_same)
        or any(all(map(words.fullmatch, (gold, pred))) for words in (_UNDEFINED, _INFINITE))
    )


def _permute(text: str) -> str:
    """Return "(1, 1, 2) and its permutations" as a list of points."""
    match = _PERMUTED.fullmatch(text) if "permutation" in text else None
    point = match and (match["first"] or match["last"])
    values = (
        re.fullmatch(r"(?:\([^()]*\)\s*=\s*)?[({]([^(){}=]+)[)}]", point.strip()) if point else None
    )
    entries = values[1].split(",") if values else []
    if not 2 <= len(entries) <= 4:
        return text
    return ", ".join(f"({','.join(order)})" for order in dict.fromkeys(permutations(entries)))


def _drop_qualifier(text: str) -> str:
    words = ("for", "where", "i.e.", "that is", "∀")
    if not any(word in text for word in words) or DENIES.match(text):
        return text
    return _QUALIFIER.sub("", text)


def _find_argument(text: str) -> str | None:
    """Return x of f(x) = x^2; None without one argument."""
    arguments = set(_ARGUMENT.findall(text))
    return arguments.pop() if len(arguments) == 1 else None


def _limit_one(gold: str, pred: str) -> bool:
    """Return whether one of two functions of other arguments is limited: f(t) = t for t > 0."""
    names = _find_argument(gold), _find_argument(pred)
    limits = [
        match and _INEQUALITY.search(match[0]) for match in map(_QUALIFIER.search, (gold, pred))
    ]
    return None not in names and names[0] != names[1] and bool(limits[0]) != bool(limits[1])


def _spell_signs(text: str) -> str:
    if _ANY_SPELT.search(text):
        for pattern, spelling in _SPELT:
            text = pattern.sub(spelling, text)
    text = _TRANSPOSED.sub(_transpose, text) if "^" in text else text
    if r"\mp" in text and r"\pm" not in text:  # the upper and the lower sign are alike
        text = text.replace(r"\mp", r"\pm")
    return text


def _transpose(match: re.Match[str]) -> str:
    """Return [[1, 2]]^T and (1, 2)^T as a column."""
    rows = [row.split(",") for row in re.findall(r"[^\[\]()]*[^\[\]()\s,][^\[\]()]*", match[1])]
    if len({len(row) for row in rows}) != 1:
        return match[0]
    columns = (f"[{', '.join(map(str.strip, column))}]" for column in zip(*rows, strict=True))
    return f"[{', '.join(columns)}]"


def _same_equations(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare curves in any order: x - y = 1 or x + y = 5. ± gives two of them."""
    if "=" not in gold or "=" not in pred:
        return False
    if any(is_prose(text) or labelled_part(text).key for text in (gold, pred)):
        return False
    curves, others = (
        [
            piece.replace("±", sign)
            for piece in split_outside_brackets(text, {"or", "and", ",", ";"})
            for sign in ("+-" if "±" in piece else "+")
        ]
        for text in (gold, pred)
    )
    both = (*curves, *others)
    listed = min(len(curves), len(others)) > 1 and all("=" in piece for piece in both)
    plane = listed and any({"x", "y"} <= symbols(piece) for piece in both)
    return plane and same_set(curves, others, is_same)


def _same_conditions(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare inequalities that all hold, in any order: x > 0, y > 0."""
    if not (_INEQUALITY.search(gold) and _INEQUALITY.search(pred)):
        return False
    conditions, others = (split_outside_brackets(text, {"and", ",", ";"}) for text in (gold, pred))
    both = (*conditions, *others)
    written = len(conditions) > 1 and all(map(_bounds_a_value, both))
    return written and not any(map(is_prose, both)) and same_set(conditions, others, is_same)


def _bounds_a_value(text: str) -> bool:
    """Return whether a text is one inequality with a number on one side."""
    sides = _INEQUALITY.split(text)
    return len(sides) == 2 and all(map(str.strip, sides)) and not all(map(symbols, sides))


def _same_vector(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare a matrix of one row or one column with a tuple."""
    rows = [_VECTOR.fullmatch(text) for text in (gold, pred)]
    if (rows[0] is None) == (rows[1] is None):
        return False
    g, p = (
        re.sub(r"\]\s*,\s*\[", ", ", row[1]) if row else text.strip().strip("()")
        for row, text in zip(rows, (gold, pred), strict=True)
    )
    values = [[part.text for part in by_comma(text)] for text in (g, p)]
    return len(values[0]) > 1 and len(values[0]) == len(values[1]) and all(map(is_same, *values))


def _same_scaled(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare a multiple of a matrix with a matrix: 3 [[1], [2]] is [[3], [6]]."""
    if not any(map(_SCALED.fullmatch, (gold, pred))):
        return False
    return is_same(*map(_multiply_entries, (gold, pred)))


def _multiply_entries(text: str) -> str:
    if (scaled := _SCALED.fullmatch(text)) is None:
        return text
    factor = f"{scaled[1]}1" if scaled[1] in "+-" else _bracket(scaled[1])
    return _ENTRY.sub(lambda m: f"{factor} × {_bracket(m[0])}" if m[0].strip() else m[0], scaled[2])


def _same_builders(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare sets of points with a condition: {(x, y) | y = x^2}."""
    sets = BUILDER.fullmatch(gold), BUILDER.fullmatch(pred)
    if not (sets[0] and sets[1]):
        return False
    points = _read_point(sets[0][1]), _read_point(sets[1][1])
    if len(points[0]) != len(points[1]):
        return False
    return all(map(is_same, *points)) and is_same(sets[0][2], sets[1][2])


def _read_point(text: str) -> list[str]:
    r"""Return x and y of `(x, y) \in \reals^{2}`; a text that is not a point of the space whole."""
    point = _IN_SPACE.fullmatch(text)
    values = [part.text for part in by_comma(point[1])] if point else []
    return values if point and values and int(point[2] or len(values)) == len(values) else [text]


def _same_functions(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare functions with arguments of another name: f(x) = x and f(n) = n."""
    ours, theirs = _find_argument(gold), _find_argument(pred)
    if ours is None or theirs is None or ours == theirs or _limit_one(gold, pred):
        return False
    return ours not in symbols(pred) and is_same(gold, rename_symbols(pred, {theirs: ours}))


def _bracket(text: str) -> str:
    """Return a factor in brackets if it is a sum; (2) alone would be a label."""
    return f"({text.strip()})" if re.search(r"[+-]", text.strip()[1:]) else text.strip()


def _same_time(gold: str, pred: str) -> bool:
    """Compare times of day: 5:30 p.m. is 17:30, and not 5:30 a.m."""
    times = [_CLOCK.fullmatch(text.strip()) for text in (gold, pred)]
    if not (times[0] and times[1] and (times[0][3] or times[1][3])):
        return False
    minutes = list[int]()
    for hour, minute, half in (time.groups() for time in times if time):
        if not half and (minute is None or int(hour) < 13):
            return False
        day_half = 12 * (half.casefold() == "p") + int(hour) % 12 if half else int(hour)
        minutes.append(60 * day_half + int(minute or 0))
    return minutes[0] == minutes[1]


def _same_concentrations(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare expressions of concentrations, each of which is one symbol: [NH_3]^2 / [N_2]."""
    if "[" not in gold or "[" not in pred:
        return False
    found = [_CONCENTRATION.findall(text) for text in (gold, pred)]
    species = [[re.sub(r"[\s_{}]", "", name) for name in names] for names in found]
    if not species[0] or set(species[0]) != set(species[1]):
        return False
    places = {name: place for place, name in enumerate(dict.fromkeys(species[0]))}

    def write(match: re.Match[str]) -> str:
        return f" Q_{{{places[re.sub(r'[_{}]|[ ]', '', match[1])]}}} "

    named = [_CONCENTRATION.sub(write, text) for text in (gold, pred)]
    return named != [gold, pred] and is_same(*named)


def _same_components(gold: str, pred: str, is_same: Equality) -> bool:
    r"""Compare 2\hat{i} - 3\hat{j} with the same in other letters, or with (2, -3)."""
    if not any(unit in gold + pred for unit in "jk"):
        return False
    bare = [_VECTOR_NAME.sub("", text) for text in (gold, pred)]
    sums = [_UNIT_VECTOR.sub(lambda m: f" {m[1] or m[2]} ", text) for text in bare]
    units = [symbols(text) for text in sums]
    if not any(len(names) > 1 and names <= {"i", "j", "k"} for names in units):
        return False
    for at, text in enumerate(bare):
        vector = _VECTOR.fullmatch(text)
        inside = re.sub(r"\]\s*,\s*\[", ", ", vector[1]) if vector else text.strip()[1:-1]
        values = [part.text for part in by_comma(inside)]
        if not units[at] and len(values) in (2, 3):
            sums[at] = " + ".join(f"({v}) {unit}" for v, unit in zip(values, "ijk", strict=False))
    return is_same(*sums) or same_formula(*sums)
