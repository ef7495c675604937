"""Each floor imports only what stands below it (docs/design.md, section 3)."""

from __future__ import annotations

from itertools import combinations

from omibench.graph.code_hash import PACKAGE, Tree
from omibench.graph.stages import STAGE_NAMES

STAGES = set(STAGE_NAMES)
FLOORS: tuple[set[str], ...] = (
    {"latex", "text"},
    {"errors"},
    {"extras"},
    {"files"},
    {"schemas"},
    {
        "answers",
        "formats",
        "plugins",
        "prompts",
        "statistics",
        "store",
        "synthetic",
        "web",
    },
    {"params", "scorers"},
    {"cost", "datasets", "graph", "models", "review"},
    {"client", "results", "settings"},
    {"judges", "papers"},
    {"ocr_quality"},
    {"stages", *(f"stages.{stage}" for stage in STAGES)},
    {
        "eval_logs",
        "explain",
        "explore",
        "init",
        "ocr_view",
        "papers.export",
        "plan",
        "release",
        "review_app",
        "review_tasks",
        "run_comparison",
        "scaffold",
        "sharding",
    },
    {"reevaluate", "status"},
    {"api", "cli"},
    {"__init__", "__main__"},
)
LOOSE_MODULES = 6
FILES_OF_A_FOLDER = 25

TREE = Tree()


def package(module: str) -> str:
    """The package of a module: a folder of `omibench`, a listed part of one, or a loose module."""
    parts = module.split(".")[1:] or ["__init__"]
    part = ".".join(parts[:2])
    return part if part in {name for floor in FLOORS for name in floor} else parts[0]


def needs(module: str) -> set[str]:
    """The packages that a module imports, its own included."""
    return {package(name) for name in TREE.needs(module) if name != "omibench"}


def test_no_module_imports_anything_from_above() -> None:
    above = {
        name: set[str]().union(*FLOORS[number + 1 :])
        for number, floor in enumerate(FLOORS)
        for name in floor
    }
    wrong = {module: needs(module) & above[package(module)] for module in TREE.files}
    assert {module: names for module, names in wrong.items() if names} == {}


def test_no_two_packages_import_each_other() -> None:
    imports: dict[str, set[str]] = {}
    for module in TREE.files:
        imports.setdefault(package(module), set()).update(needs(module))
    pairs = [
        (first, second)
        for first, second in combinations(sorted(imports), 2)
        if second in imports[first] and first in imports[second]
    ]
    assert not pairs


STAGES_OF_STAGES = {
    ("stages.analyze", "stages.aggregate"),
    ("stages.analyze", "stages.certify"),
}
"""The report counts votes of k samples as the stage that chooses among them does, and reads
people's labels as the stage that certifies judges by them does."""


def test_a_stage_imports_no_other_stage() -> None:
    pairs = {
        (package(module), needed)
        for module in TREE.files
        for needed in needs(module)
        if package(module).startswith("stages.") and needed.startswith("stages.")
    }
    assert {(a, b) for a, b in pairs if a != b} == STAGES_OF_STAGES


def test_every_stage_has_a_folder() -> None:
    folders = {path.name for path in (PACKAGE / "stages").iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == STAGES


def test_folders_stay_small() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= LOOSE_MODULES
    sizes = {
        folder: len(list(folder.glob("*.py"))) for folder in PACKAGE.rglob("*") if folder.is_dir()
    }
    assert not {folder for folder, size in sizes.items() if size > FILES_OF_A_FOLDER}


def test_files_stay_small() -> None:
    sizes = sorted(len(p.read_text("utf-8").splitlines()) for p in PACKAGE.rglob("*.py"))
    assert sizes[len(sizes) // 2] < 120
    assert sizes[-1] <= 800
