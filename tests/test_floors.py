"""Each floor imports only what stands below it (docs/design.md, section 3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.source import PACKAGE, Tree

GROUND = {
    "csv_file",
    "cell_failure",
    "cell_files",
    "certificate",
    "inputs",
    "locks",
    "modes",
    "intake",
    "isolated",
    "operating",
    "masking",
    "own_prompt",
    "outputs",
    "errors",
    "example",
    "explain",
    "fence",
    "problem",
    "request",
    "verdict",
    "params",
    "rejects",
    "resources",
    "saliency_row",
    "slices",
    "study",
    "surrogates",
    "synthetic",
    "tables",
    "terminal",
    "text_calls",
    "unasked",
    "yaml_file",
    "images",
    "progress",
    "stop",
    "webpage",
}
FLOORS: tuple[set[str], ...] = (
    GROUND,
    {"cost"},
    {"store", "models"},
    {"ask", "gate"},
    {"settings", "score", "benchmarks"},
    {
        "ahead",
        "budget",
        "ocr",
        "look",
        "filter",
        "rationale",
        "review",
        "freeze",
        "infer",
        "judge",
        "saliency",
        "aggregate",
        "certify",
        "analyze",
        "plan",
        "reevaluate",
        "status",
    },
    {
        "describe",
        "files",
        "meaning",
        "rehearsal",
        "trust",
        "source",
        "cli",
        "__main__",
        "__init__",
    },
)
APART = [("models", "store"), ("score", "settings"), ("score", "models"), ("settings", "models")]


TREE = Tree()


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def needs(module: str) -> set[str]:
    return {room(name) for name in TREE.needs(module) if name != "omibench"} & set().union(*FLOORS)


@pytest.mark.parametrize("module", TREE.files)
def test_a_module_imports_nothing_from_above(module: str) -> None:
    level = next(i for i, floor in enumerate(FLOORS) if room(module) in floor)
    above: set[str] = set().union(*FLOORS[level + 1 :])
    assert not needs(module) & above


@pytest.mark.parametrize(("one", "other"), APART)
def test_rooms_that_know_nothing_of_each_other(one: str, other: str) -> None:
    for module in TREE.files:
        if room(module) == one:
            assert other not in needs(module), module


def test_files_stay_small(root: Path) -> None:
    sizes = sorted(len(p.read_text("utf-8").splitlines()) for p in PACKAGE.rglob("*.py"))
    assert sizes[len(sizes) // 2] < 120
    assert sizes[-1] <= 400
