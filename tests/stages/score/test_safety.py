"""Text from a model is never run, and whatever it is there is a verdict, soon."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.scorers.registry import SCORERS, score_item

SCORING = [
    Path("src/omibench") / name for name in ("answers", "formats", "scorers", "stages/score")
]
RUNS_TEXT = frozenset((
    "eval", "exec", "compile", "__import__", "sympify", "parse_expr", "parse_latex", "literal_eval",
    "lambdify", "lambdastr", "S", "import_module", "pickle",
    "nsimplify", "srepr", "autowrap", "ufuncify", "run_path", "run_module",
))  # fmt: skip
"""What runs a text, or reads one by running it, in Python and in SymPy."""
WITH_CARE = {"compile": "re", "loads": "json"}
"""Names that are harmless on these modules."""
SYMPY = frozenset(("sympy", "latex2sympy2_extended", "math_verify", "mpmath", "antlr4"))
ALLOWED = {
    "worker.py": {
        "math_verify.verify", "latex2sympy2_extended.latex2sympy",
        "latex2sympy2_extended.latex2sympy2.ConversionConfig", "sympy.Derivative", "sympy.Expr",
        "sympy.Limit",
    },
}  # fmt: skip


def modules(root: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(path for folder in SCORING for path in (root / folder).rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_nothing_that_runs_text_is_called_or_named(root: Path) -> None:
    found = []
    for path, tree in modules(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in RUNS_TEXT:
                found.append(f"{path.name}:{node.lineno} {node.id}")
            if isinstance(node, ast.Attribute) and node.attr in RUNS_TEXT:
                owner = node.value.id if isinstance(node.value, ast.Name) else "?"
                if WITH_CARE.get(node.attr) != owner:
                    found.append(f"{path.name}:{node.lineno} {owner}.{node.attr}")
        found += [
            f"{path.name} {name}" for name in imported(tree) if {*name.split(".")} & RUNS_TEXT
        ]
    assert found == []


def test_the_symbolic_packages_are_reached_by_these_names_only(root: Path) -> None:
    reached = {
        path.name: {name for name in imported(tree) if name.split(".")[0] in SYMPY}
        for path, tree in modules(root)
    }
    assert {name: names for name, names in reached.items() if names} == ALLOWED


PROBE = r"""
import builtins, json, sys
import sympy.parsing.sympy_parser as parser
import sympy.core.sympify as sympifying
import omibench.answers.formulas.worker as worker

worker.equal("x+1", "1+x")  # whatever the packages run when they are loaded, they have run
touched = []

def watched(name, function):
    def call(*args, **kwargs):
        if any(isinstance(arg, str) and "MARK" in arg for arg in args[:1]):
            touched.append(name)
        return function(*args, **kwargs)
    return call

builtins.eval = watched("eval", builtins.eval)
builtins.exec = watched("exec", builtins.exec)
builtins.compile = watched("compile", builtins.compile)
parser.parse_expr = watched("parse_expr", parser.parse_expr)
parser.eval_expr = watched("eval_expr", parser.eval_expr)
for text in json.load(sys.stdin):
    for job in (lambda: worker.equal(text, text + "+0"), lambda: worker.value(text)):
        try:
            job()
        except Exception:
            pass
print(json.dumps(touched))
"""


def test_the_parser_never_hands_a_text_to_python(root: Path) -> None:
    attacks = [
        "MARK", r"\text{MARK}", r"\operatorname{MARK}(1)", "__import__('os').system('MARK')",
        r"\mathrm{MARK}+1", r"MARK_{__class__}", r"\begin{cases} MARK \end{cases}", "=MARK",
        r"\frac{MARK}{2}", "MARK < 3", r"\{MARK, 2\}", "(1, MARK)", r"MARK\%", "lambda MARK: 1",
        r"\left(MARK\right)^{2}", r"\sqrt[MARK]{2}", '"MARK"', r"x_{MARK}", "$MARK$",
        "y=MARK", "[MARK for x in y]",
    ]  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-c", PROBE], input=json.dumps(attacks), cwd=root, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert json.loads(run.stdout) == []


MARKS = (
    "1", "x", "=", "<", "±", "%", "kg", "$", "A", "T", "(1)", "(2)", "->", "H2O", "!", "|", "&",
    "\n", "(", ")", "[", "]", "{", "}", r"\{", r"\}", ",", ";", "or", "and", "^", "_", "10^{",
    "²", "·", r"\boxed{", r"\frac", r"\sqrt", r"\text{", r"\pi", r"\begin{cases}", r"\\",
    "answer is", "A, ", "a) b; ", "x=1, ", "1,000 ", "- ", "1:", "[A]", "TF", "```", " and ",
)  # fmt: skip
answers = st.text(max_size=300) | st.lists(st.sampled_from(MARKS), max_size=60).map(" ".join)
golds = st.sampled_from(
    ("5", r"\frac{x}{2}", "(1) 3 (2) 4", "x = 2, y = 3", "[0, 1)", "H2O", "TRUE")
)


@pytest.mark.parametrize("rules", sorted(set(SCORERS) - {"published"}))
@settings(deadline=None)  # a worker may start
@given(answer=answers, gold=golds)
def test_every_answer_gets_a_verdict(rules: str, answer: str, gold: str) -> None:
    verdict = score_item(make_item(answer, gold), rules)
    assert 0 <= verdict.verdict <= 1


@settings(deadline=None)
@given(answer=answers)
def test_so_does_every_choice(answer: str) -> None:
    verdict = score_item(make_item(answer, "B", ["1 kg", "2 kg", "x or y"]), "robust")
    assert verdict.verdict in (0, 1)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("frame", ["{}", r"\boxed{{{}}}", "The answer is {}", r"\boxed{{{}"])
def test_no_repetition_makes_a_pattern_run_for_ever(frame: str) -> None:
    for mark in MARKS:
        answer = frame.format(mark * (4_000 // len(mark)))
        for gold, options in (("x = 2, y = 3", None), ("(1) 3; (2) 4", None), ("B", ["1", "x"])):
            assert score_item(make_item(answer, gold, options), "robust").verdict in (0, 1)
