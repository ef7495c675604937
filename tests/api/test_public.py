"""What `import omibench` offers: light, documented, and as `__all__` says."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import omibench

FUNCTIONS = [name for name in omibench.__all__ if inspect.isfunction(getattr(omibench, name))]
HEAVY = (
    "PIL", "altair", "jinja2", "numpy", "openpyxl", "pandas", "polars", "pyarrow", "pydantic",
    "rapidfuzz", "scipy", "snakemake", "sympy", "torch", "typer", "yaml",
)  # fmt: skip


def test_every_public_name_is_there() -> None:
    assert list(omibench.__all__) == sorted(omibench.__all__, key=lambda name: (name > "_", name))
    for name in omibench.__all__:
        assert getattr(omibench, name) is not None
    assert set(omibench.__all__) <= set(dir(omibench))
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        omibench.scores  # type: ignore[attr-defined]  # noqa: B018


def test_the_import_is_light() -> None:
    program = "import omibench; import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    modules = done.stdout.split()
    assert not set(HEAVY) & set(modules)
    assert [name for name in modules if name.startswith("omibench")] == [
        "omibench.moved",
        "omibench",
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_gives_and_raises(name: str) -> None:
    function = getattr(omibench, name)
    text = inspect.getdoc(function) or ""
    assert "Args:" in text
    assert "Raises:" in text
    for parameter in inspect.signature(function).parameters:
        assert f"    {parameter}: " in text


def test_types_are_shipped() -> None:
    assert (Path(omibench.__file__).parent / "py.typed").is_file()


def test_what_reads_computes_or_plans_shows_an_example() -> None:
    documents = {name: inspect.getdoc(getattr(omibench, name)) or "" for name in FUNCTIONS}
    assert {
        "build_conversation", "compare_answers", "load_release", "load_results", "load_study",
        "plan_study", "score",
    } <= {name for name, document in documents.items() if "Examples:" in document}  # fmt: skip


def test_types_and_values_come_from_the_same_modules() -> None:
    """What a type checker sees is what a user gets."""
    tree = ast.parse(Path(omibench.__file__).read_text("utf-8"))
    typed = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("omibench.")
        for alias in node.names
        if node.module != "omibench.moved"
    }
    homes = {name: module for module, names in omibench._HOMES.items() for name in names}
    assert typed == homes
    assert {*homes, "__version__"} == set(omibench.__all__)
