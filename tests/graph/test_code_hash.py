"""The hash of a stage's source changes with its meaning, and with nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.graph import code_hash as source
from omibench.graph.stages import STAGE_NAMES, find_stage
from omibench.plugins.sources import SourceSummary


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small omibench: ocr imports ground, infer imports ground and store lazily."""
    for name, text in {
        "__init__.py": "",
        "ground.py": '"""Ground."""\n\nLIMIT = 3\n',
        "stages/ocr/__init__.py": "from omibench.ground import LIMIT\n",
        "stages/ocr/pages.py": "def pages(n: int) -> int:\n    '''Pages.'''\n    return n\n",
        "stages/ocr/template.txt": "hello",
        "stages/infer/__init__.py": (
            "def run():\n    from omibench.store import Store\n    Store()\n"
        ),
        "store/__init__.py": "import paidsdk\n\n\nclass Store:\n    pass\n",
        "store/units.csv": "1",
        "docs.py": "UNUSED = 1\n",
    }.items():
        file = tmp_path / "omibench" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(source, "SOURCE", tmp_path)
    monkeypatch.setattr(source, "MEANINGS_FILE", tmp_path / "kept/meanings.json")
    return tmp_path / "omibench"


def hashes() -> dict[str, str]:
    return {stage: source.source_hash(stage) for stage in ("ocr", "infer")}


def install(site: Path, name: str, version: str) -> None:
    """A distribution as `pip` leaves it behind, without any code."""
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.mark.parametrize(
    ("file", "text", "reruns"),
    [
        ("ground.py", '"""Ground."""\n\nLIMIT = 4\n', {"ocr"}),
        ("ground.py", '"""Other words."""\n\n# why three\nLIMIT = 3\n', set()),
        ("stages/ocr/pages.py", "def pages(n: int) -> int:\n    return n\n", set()),
        ("stages/ocr/pages.py", "def pages(n: int) -> int:\n    return n + 1\n", {"ocr"}),
        ("stages/ocr/new.py", "X = 1\n", {"ocr"}),
        ("stages/ocr/template.txt", "other", {"ocr"}),
        ("store/__init__.py", "import paidsdk\n\n\nclass Store:\n    size = 1\n", {"infer"}),
        ("store/units.csv", "2", {"infer"}),
        ("docs.py", "UNUSED = 2\n", set()),
    ],
)
def test_what_an_edit_reruns(package: Path, file: str, text: str, reruns: set[str]) -> None:
    before = hashes()
    (package / file).write_text(text)
    after = hashes()
    assert {stage for stage in before if before[stage] != after[stage]} == reruns


@pytest.mark.parametrize(
    "imported", ["import reader\n", "def f():\n    from reader.deep import x\n"]
)
def test_an_upgraded_package_reruns_what_imports_it(
    package: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    imported: str,
) -> None:  # fmt: skip
    (package / "stages/ocr/pages.py").write_text(imported)
    site = tmp_path_factory.mktemp("site")
    monkeypatch.syspath_prepend(str(site))
    seen = [hashes()]
    for version in ("1.0", "1.1"):
        install(site / version, "reader", version)
        install(site / version, "paidsdk", version)
        monkeypatch.syspath_prepend(str(site / version))
        seen.append(hashes())
    assert len({found["ocr"] for found in seen}) == 3
    assert len({found["infer"] for found in seen}) == 1, "what an SDK fetched is bought"


def test_a_package_for_types_only_is_none_that_results_depend_on(package: Path) -> None:
    text = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import reader\n"
    (package / "stages/ocr/pages.py").write_text(text)
    assert source.list_packages("ocr") == set()


@pytest.mark.parametrize(
    ("imported", "reaches"),
    [
        ("from omibench.store import keys\n", False),
        ("from omibench.store.keys import x\n", False),
        ("from omibench.store import Store\n", True),
        ("import omibench.store\n", True),
    ],
)
def test_a_lazy_name_of_a_package_is_needed_by_those_who_ask_for_it(
    package: Path, imported: str, reaches: bool
) -> None:
    lazy = "def __getattr__(name):\n    from omibench.store import stage\n    return stage\n"
    (package / "store/__init__.py").write_text(lazy)
    (package / "store/stage.py").write_text("X = 1\n")
    (package / "store/keys.py").write_text("x = 1\n")
    (package / "stages/ocr/pages.py").write_text(imported)
    assert ("omibench.store.stage" in source.import_closure("omibench.stages.ocr")) == reaches
    assert "omibench.store.stage" in source.import_closure("omibench.store")


def test_the_formula_reader_is_part_of_the_stages_that_import_it(package: Path) -> None:
    reader = package.parent / "glyphtex"
    (reader / "latex").mkdir(parents=True)
    (reader / "README.md").write_text("Formulas.")
    (reader / "marks.py").write_text("import fitz\n\nLIMIT = 3\n")
    (reader / "latex/signs.py").write_text("X = 1\n")
    (package / "stages/ocr/pages.py").write_text("from glyphtex.marks import LIMIT\n")
    before = hashes()
    assert source.list_packages("ocr") == {"fitz"}
    (reader / "latex/signs.py").write_text("X = 2\n")
    (reader / "README.md").write_text("Formulas of pages.")
    assert hashes() == before
    (reader / "marks.py").write_text("import fitz\n\nLIMIT = 4\n")
    after = hashes()
    assert after["ocr"] != before["ocr"]
    assert after["infer"] == before["infer"]


def test_a_module_is_found_under_the_name_of_its_distribution() -> None:
    from importlib.metadata import version

    assert source.installed_version("PIL") == version("pillow")
    assert version("typing-extensions") in source.installed_version("typing_extensions")
    assert source.installed_version("no_such_module") == "absent"


CLIENT = "models/openai.py"
CALLS_IT = "def ask():\n    from omibench.models.registry import body\n    return body\n"


def test_code_of_an_api_client_reruns_nothing_and_what_enters_keys_does(package: Path) -> None:
    for name, text in {
        CLIENT: "from omibench.models.api.replies import x\n\n\ndef body():\n    return 1\n",
        "models/api/replies.py": "import sdk\n\nx = 1\n",
        "models/registry.py": "from omibench.params.models.base import PROVIDERS as body\n",
        "params/models/base.py": "PROVIDERS = {}\n",
        "params/models/providers.py": "class Block:\n    effort = 1\n",
        "stages/infer/asking.py": CALLS_IT,
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    before = hashes()
    (package / CLIENT).write_text("def body():\n    return 2\n")
    (package / "models/api/replies.py").write_text("import sdk\n\nx = 2\n")
    assert hashes() == before
    (package / "params/models/providers.py").write_text("class Block:\n    effort = 2\n")
    after = hashes()
    assert after["infer"] != before["infer"]


def test_no_client_of_an_api_holds_what_enters_keys() -> None:
    tree = source.Tree()
    clients = [name for name in tree.files if source.is_client(name)]
    names = ("openai", "anthropic", "api.scheduler")
    assert {f"omibench.models.{name}" for name in names} <= {*clients}
    assert not source.is_client("omibench.models.openai_azure")
    assert not source.is_client("omibench.models.local")
    for name in clients:
        text = tree.files[name].read_text("utf-8")
        assert not re.search(r"^def \w*(identity|key)\w*\(.*Model\b", text, re.M), name
    for stage in ("filter", "rationale", "infer", "score", "judge", "saliency"):
        closure = source.import_closure(f"omibench.stages.{stage}")
        assert {f"{source.BLOCKS}.providers", "omibench.models.local.vllm"} <= closure
        assert not [name for name in closure if source.is_client(name)]


@pytest.mark.parametrize("package_of_ocr", ["rapidocr", "onnxruntime", "pyclipper", "shapely"])
def test_what_an_engine_loads_by_itself_counts_for_the_reading_of_papers(
    package_of_ocr: str,
) -> None:
    assert package_of_ocr in source.list_packages("ocr")
    assert source.installed_version(package_of_ocr) != "absent"


def test_what_the_reader_of_formulas_is_made_of_counts_for_scores() -> None:
    assert {"math_verify", "latex2sympy2_extended", "antlr4", "sympy"} <= source.list_packages(
        "score"
    )
    assert source.installed_version("antlr4") != "absent"


ASKS = {"filter", "rationale", "infer", "score", "judge", "saliency", "aggregate"}


@pytest.fixture(scope="module")
def snapshot() -> source.Snapshot:
    """The real package; reading it takes longer than the hashes."""
    return source.Snapshot()


@pytest.fixture(scope="module")
def before(snapshot: source.Snapshot) -> dict[str, str]:
    return {stage: snapshot.hash_stage(stage) for stage in STAGE_NAMES}


def test_a_snapshot_shared_by_all_stages_gives_the_hash_of_each(before: dict[str, str]) -> None:
    assert len(set(before.values())) == len(STAGE_NAMES)
    for stage in ("freeze", "score"):
        assert source.source_hash(stage) == before[stage]


def test_a_snapshot_stays_as_it_was_found(package: Path) -> None:
    old = source.Snapshot()
    before = old.hash_stage("ocr")
    (package / "ground.py").write_text("LIMIT = 4\n")
    assert old.hash_stage("ocr") == before != source.source_hash("ocr")


@pytest.mark.parametrize(
    ("module", "reruns"),
    [
        ("params.reevaluate", set()),
        ("models.openai", set()),
        ("models.api.replies", set()),
        ("models.api.scheduler", set()),
        ("models.client.ask", set()),
        ("models.cost", set()),
        ("cli.main", set()),
        ("graph.stages", set()),
        ("study.status.reader", set()),
        ("params.stages.rationale", {"rationale"}),
        ("params.study", set()),
        ("params.cells", {"certify", "analyze"}),
        ("params.stages.filter", {"filter", "tune"}),
        ("params.stages.saliency", {"saliency", "analyze"}),
        (
            "answers.match",
            {"ocr", "filter", "rationale", "score", "aggregate", "analyze"},
        ),
        ("answers.scorers.robust", {"score", "aggregate", "filter", "rationale", "analyze"}),
        ("stages.score.stage", {"score"}),
        ("study.explain", set()),
        ("explore.ocr_quality", set()),
        ("stages.ocr.waiting", set()),
        ("settings.present", {"filter", "infer", "saliency", "aggregate"}),
        ("params.models.providers", {*ASKS, "ocr", "certify", "analyze", "tune"}),
        ("store.key", {*ASKS, "analyze"}),
    ],
)
def test_code_reruns_the_stages_that_use_it(
    before: dict[str, str], snapshot: source.Snapshot, monkeypatch: pytest.MonkeyPatch,
    module: str, reruns: set[str],
) -> None:  # fmt: skip
    changed, read = f"omibench.{module}", source.Tree.source
    assert changed in snapshot.files

    def source_of(tree: source.Tree, name: str) -> SourceSummary:
        return read(tree, name)._replace(**({"meaning": "other"} if name == changed else {}))

    monkeypatch.setattr(source.Tree, "source", source_of)
    after = {stage: snapshot.hash_stage(stage) for stage in STAGE_NAMES}
    assert {stage for stage in STAGE_NAMES if after[stage] != before[stage]} == reruns


@pytest.mark.parametrize("stage", STAGE_NAMES)
def test_the_code_of_a_stage_holds_the_blocks_that_it_is_given(stage: str) -> None:
    assert source.block_modules(find_stage(stage).params) <= source.list_code(stage)


def test_reading_ahead_counts_for_itself_alone() -> None:
    ahead = "omibench.stages.ocr.read_ahead"
    assert ahead not in source.list_code("ocr")
    assert source.source_hash("ocr.read_ahead") != source.source_hash("ocr")


def test_there_is_no_code_of_what_is_no_stage() -> None:
    with pytest.raises(ParamsError, match="'infr' is not a stage"):
        source.source_hash("infr")
