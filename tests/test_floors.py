"""Each floor imports only what stands below it (docs/design.md, section 3)."""

from __future__ import annotations

from itertools import combinations

from omibench.graph.code_hash import SOURCE, Tree
from omibench.graph.stages import STAGE_NAMES

PACKAGE = SOURCE / "omibench"
STAGES = set(STAGE_NAMES)
FLOORS: tuple[set[str], ...] = (
    {"glyphtex"},
    {"moved", "text"},
    {"errors"},
    {"extras"},
    {"files"},
    {"schemas"},
    {
        "answers",
        "datasets.formats",
        "models.synthetic",
        "plugins",
        "results.statistics",
        "settings.prompt_names",
        "settings.prompts",
        "store",
        "web",
    },
    {"answers.scorers", "params"},
    {"datasets", "graph", "models", "models.cost", "review"},
    {"models.client", "results", "settings"},
    {"answers.judges", "papers"},
    {"explore.ocr_quality"},
    {"stages", *(f"stages.{stage}" for stage in STAGES)},
    {
        "datasets.eval_logs",
        "datasets.release",
        "explore",
        "explore.ocr_view",
        "papers.export",
        "results.comparison",
        "review.app",
        "review.tasks",
        "study.dvc_inputs",
        "study.explain",
        "study.init",
        "study.plan",
        "study.scaffold",
        "study.sharding",
    },
    {"study.reevaluate", "study.status"},
    {"flows"},
    {"api", "cli"},
    {"study", "__init__", "__main__"},
)
LOOSE_MODULES = 5
LINES_OF_A_FILE = 800

TREE = Tree()


def package(module: str) -> str:
    """The package of a module: a folder of `omibench`, a listed part of one, or a loose module.

    All of `glyphtex` is one.
    """
    if module.partition(".")[0] == "glyphtex":
        return "glyphtex"
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


def test_rooms_and_files_stay_few_and_readable() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= LOOSE_MODULES
    sizes = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert not {path for path, size in sizes.items() if size > LINES_OF_A_FILE}
