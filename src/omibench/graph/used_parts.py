"""Parts that a stage of a study uses: a change of any other scorer, prompt or plug-in reruns
nothing.

A part is used if its name occurs in the blocks that the stage receives, defaults included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from omibench.errors import OmibenchError
from omibench.files.yaml_file import read_mapping
from omibench.params.stages.rationale import WORDS
from omibench.params.study import Study
from omibench.plugins.built_in import KINDS, built_in_parts
from omibench.plugins.registry import REGISTRIES

IN_CODE: Final = frozenset({"robust"})
"""Scorers that code uses by name: the filter for models that try a problem, votes over samples."""
_EXCEL: Final = (".xlsx", ".xlsm", ".xls")
PROMPT_REGISTRY: Final = f"omibench.{KINDS['prompts'].registry}"


class UsedParts:
    """Names and modules that count for a stage of a study.

    Attributes:
        names: Every text in the blocks of the stage, keys and defaults included.
        modules_apart: Modules of built-in parts that are no part of its code: scorers that it does
            not use, and all prompts. The wording of those that it uses counts instead
            (`prompts`), since one module defines many.
    """

    def __init__(self, study: Study, blocks: Collection[str]) -> None:
        """Read the blocks with these keys of params.yaml."""
        texts = list_texts(study.model_dump(mode="json", include={*blocks}))
        self.names = frozenset(texts) | IN_CODE
        scorers = built_in_parts("scorers")
        used = {module for name, module in scorers.items() if name in self.names}
        prompts = {*built_in_parts("prompts").values()}
        self.modules_apart = frozenset({*scorers.values()} - used | prompts)

    @cached_property
    def prompts(self) -> str:
        """The wording of the built-in prompts that the stage uses."""
        used = {n: home for n, home in built_in_parts("prompts").items() if n in self.names}
        for home in used.values():
            import_module(home)  # registers them; settings are a layer above
        return "".join(f"{name}\0{REGISTRIES['prompts'].get(name)!r}\0" for name in sorted(used))


def find_unneeded_packages(study: Study) -> frozenset[str]:
    """Return the optional packages that cannot affect the results of a study.

    Installing one of them would otherwise rerun the stages that can use it.
    """
    generators = _list_generators(study)
    needed = {
        "openpyxl": _reads_excel(study),
        "transformers": study.rationale.tokenizer != WORDS,
        "sklearn": study.rationale.taxonomy is not None,
        "rdkit": "chemistry" in generators,
        "matplotlib": "coding" in generators,
    }
    return frozenset(name for name, is_needed in needed.items() if not is_needed)


def _list_generators(study: Study) -> set[str]:
    """Return the generators that the manifest names; none if it cannot be read: `ocr` says so."""
    if study.ocr.sources is None:
        return set()
    with suppress(OmibenchError):
        entries = read_mapping(study.ocr.sources).get("generators")
        return {text for text in list_texts(entries) if text in built_in_parts("generators")}
    return set()


def _reads_excel(study: Study) -> bool:
    names = list_texts(study.model_dump(mode="json"))
    folder = Path(study.data) if study.data else None
    found = [path.name for depth in ("*", "*/*") for path in folder.glob(depth)] if folder else []
    is_recorded = any(model.is_recorded for model in study.models.values())
    return is_recorded or any(Path(name).suffix.lower() in _EXCEL for name in (*names, *found))


def list_texts(value: Any) -> Iterable[str]:
    """Return every text in plain values, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from list_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from list_texts(item)
