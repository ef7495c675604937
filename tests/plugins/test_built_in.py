"""Names found in the text of the modules are those that the modules register."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import omibench
from omibench.plugins.built_in import KINDS, built_in_parts, find_registered
from omibench.plugins.registry import BY_OMIBENCH, REGISTRIES
from omibench.settings.prompt_names import prompt_homes

PACKAGE = Path(omibench.__file__).parent


def import_all(folder: str) -> None:
    """Import every module of a folder of the package."""
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".")
        import_module(f"omibench.{name}".removesuffix(".__init__"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_names_of_a_kind_are_those_that_its_modules_register(kind: str) -> None:
    place = KINDS[kind]
    import_module(f"omibench.{place.registry}")
    registry = REGISTRIES[kind]
    import_all(place.folder)
    registered = {name for name in registry._parts if registry.origin(name) == BY_OMIBENCH}
    assert registered == built_in_parts(kind).keys() == set(registry.built_in_names)


ADDED = """
from importlib import import_module
import sys
for module in sys.argv[1:]:
    import_module(module)
from omibench.settings.prompts import _ENTRIES
print(*_ENTRIES)
"""


def test_every_prompt_that_a_module_adds_is_found() -> None:
    modules = dict.fromkeys(prompt_homes().values())
    command = [sys.executable, "-c", ADDED, *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == prompt_homes().keys()


def test_a_name_is_a_literal_or_a_constant_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omibench.plugins.built_in._PACKAGE", tmp_path)
    (tmp_path / "rules/more").mkdir(parents=True)
    (tmp_path / "rules/b.py").write_text(
        '@scorer(\n    "two-lines",\n    version=2,\n)\ndef two(): ...\n\n@judge("other")\n'
    )
    (tmp_path / "rules/more/__init__.py").write_text(
        'NAME: Final = "constant"\n\n@scorer(NAME, 1)\ndef one(): ...\n@scorer(UNKNOWN)\n'
    )
    assert find_registered(["rules"], ["@scorer"]) == {
        "two-lines": "omibench.rules.b",
        "constant": "omibench.rules.more",
    }
