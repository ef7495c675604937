"""scripts/names.py counts the names that do not say what they stand for."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/names.py"


@pytest.fixture(scope="module")
def names() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("count_names", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks up its module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["told", "_asked", "put", "chosen", "written_out", "unread"])
def test_a_bare_participle_is_counted(names: ModuleType, name: str) -> None:
    assert names.is_participle_name(name)


@pytest.mark.parametrize(
    "name", ["read", "_set", "split", "cut", "list_cells", "needed_rows", "feed", "__init__", "_"]
)
def test_verbs_and_participles_before_a_noun_are_not_counted(names: ModuleType, name: str) -> None:
    assert not names.is_participle_name(name)


@pytest.mark.parametrize("name", ["cells_of", "named_in", "asked_for", "_verdict_on"])
def test_a_name_that_breaks_off_at_a_preposition_is_counted(names: ModuleType, name: str) -> None:
    assert names.ends_in_preposition(name)


@pytest.mark.parametrize("name", ["of", "set_up", "time_out", "read_from_disk", "without_logos"])
def test_other_names_with_a_preposition_are_not_counted(names: ModuleType, name: str) -> None:
    assert not names.ends_in_preposition(name)


SOURCE = """
class Reader:
    def told(self, one, *, what=None):
        with open(one) as it:
            rows = [each for each in it]
        for left, (right, other) in rows:
            found: int = 1
        try:
            self.found = right
        except OSError as said:
            pass
        if (kept := left):
            return kept
"""


def test_each_kind_of_variable_is_counted(names: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE, "utf-8")
    counted = names.collect_names([tmp_path / "a.py"], tmp_path)
    vague = [name for name, _ in names.find_offenders(counted)["vague"]]
    assert sorted(vague) == sorted(
        ["one", "what", "it", "each", "left", "other", "found", "said", "kept"]
    )
    assert len(counted.variables) == len(vague) + len(["self", "rows", "right"])
    assert names.measure(counted)["participle"] == 100


def test_limits_lists_and_the_table(
    names: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(SOURCE, "utf-8")
    (tmp_path / "b.py").write_text("class Reader:\n    pass\n" + "\n" * 399, "utf-8")
    at = ["--package", str(tmp_path)]
    assert names.main([*at, "--check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(":")[0] for line in lines] == [
        names.TITLES[kind] for kind in ("participle", "vague", "median", "largest")
    ]
    assert names.main([*at, "--list", "classes"]) == 0
    assert capsys.readouterr().out == "a.py:2: Reader\nb.py:1: Reader\n"
    assert names.main([*at, "--list", "largest"]) == 0
    assert capsys.readouterr().out == "b.py: 401\n"
    assert names.main(at) == 0
    assert "401" in capsys.readouterr().out


def test_short_files_with_clear_names_pass(names: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def list_cells(study):\n    return study.cells\n", "utf-8")
    assert names.main(["--package", str(tmp_path), "--check"]) == 0
