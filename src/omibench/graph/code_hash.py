"""Hash over the semantics of a stage's own source.

It is a parameter of every rule, so that changed code reruns its jobs, and a changed comment,
docstring or layout reruns nothing (design, section 4). Imported packages count by their
installed version, so that an upgrade also reruns the jobs.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import get_args

from omibench import plugins
from omibench.graph.job_hash import PROMPT_REGISTRY, UsedParts, find_unneeded_packages
from omibench.graph.stages import find_stage
from omibench.params.models import providers
from omibench.params.models.base import ApiModel
from omibench.params.study import Study
from omibench.plugins.built_in import built_in_modules, built_in_parts
from omibench.plugins.sources import MEANINGS_FILE, SourceSummary, meanings

SOURCE = Path(__file__).parents[2]
PACKAGES = ("omibench", "glyphtex")
"""Packages of this project, by their folders in `SOURCE`."""
APART = ("omibench.models", "omibench.store")
"""Packages whose third-party imports do not count: responses of an SDK are in the store
and requested only once.
"""
SHARED_CLIENTS = ("omibench.models.api",)
"""Modules shared by clients of several APIs."""
TRANSPORT = ("omibench.models.client", "omibench.models.cost")
"""Code that transports responses without changing them: its imports count, the code itself does
not.
"""
STUDY = "omibench.params.study"
"""Combines all blocks of params.yaml: a stage's hash covers only the blocks it receives."""
STAGES = "omibench.stages"
BLOCKS = "omibench.params.models"
"""Blocks of models, imported by name: a change can change requests."""
LISTS_OF_PARTS = ("omibench.plugins.built_in", "omibench.settings.prompt_names")
"""List every part and prompt: code imports those it uses, and the others do not count."""
BESIDE = {
    "rapidocr": ("onnxruntime", "pyclipper", "shapely", "omegaconf"),
    "math_verify": ("antlr4",),
    "sympy": ("mpmath",),
}
"""Packages loaded indirectly by others, whose versions affect results."""
WITHOUT_EFFECT = frozenset({"httpx", "huggingface_hub", "platformdirs"})
"""Packages that fetch files of a fixed commit or find a folder: no result depends on them, so that
installing one reruns nothing.
"""
DISTRIBUTION = {
    "PIL": "pillow", "cv2": "opencv-python-headless", "yaml": "pyyaml",
    "vl_convert": "vl-convert-python", "antlr4": "antlr4-python3-runtime",
    "sklearn": "scikit-learn", "backports": "backports.zstd",
}  # fmt: skip
"""Distributions whose name differs from their module; others are found through metadata."""


def source_hash(name: str) -> str:
    """Hash the code that makes the files of a stage.

    Args:
        name: A stage, or a module of a stage with a separate hash, such as `ocr.read_ahead`.

    Returns:
        16 hex digits over every module that the stage imports, directly or indirectly, the data
        files in the folders of these modules, the blocks of params.yaml that it receives, the
        versions of the packages that they import, and the plug-ins of the kinds that it uses.

    Raises:
        ParamsError: If the stage is unknown.
    """
    return Snapshot().hash_stage(name)


def list_code(stage: str) -> set[str]:
    """Return the modules whose semantics are in the hash of a stage."""
    return _stage_closure(Tree(find_stage(stage).params), stage)


def import_closure(module: str) -> set[str]:
    """Return the modules required by `module`, including itself and its submodules."""
    return Tree().closure(module)


def list_packages(stage: str) -> set[str]:
    """Return the top-level modules of other packages that affect a stage's results."""
    tree = Tree(find_stage(stage).params)
    return tree.packages(_stage_closure(tree, stage))


def _stage_closure(tree: Tree, name: str) -> set[str]:
    stage = find_stage(name.partition(".")[0])
    apart = {f"{STAGES}.{stage.name}.{module}" for module in stage.hashed_separately}
    root = f"{STAGES}.{name}"
    return tree.closure(root, *block_modules(stage.params), without=apart - {root})


def block_modules(keys: Iterable[str]) -> set[str]:
    """Return the modules that define blocks of params.yaml by their keys."""
    return {
        module
        for key in keys
        for module in _list_modules(Study.model_fields[key].annotation)
        if module.startswith("omibench.params.")
    }


def _list_modules(annotation: object) -> set[str]:
    inner = {module for part in get_args(annotation) for module in _list_modules(part)}
    kind = annotation if isinstance(annotation, type) else type(annotation)
    return inner | {kind.__module__}


def installed_version(module: str) -> str:
    """Return the installed version of a module's distribution, or `absent`."""
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    try:
        return version(DISTRIBUTION.get(module, module))
    except PackageNotFoundError:
        # The search of all distributions takes half a second: a package that is absent needs none.
        if module not in sys.modules and find_spec(module) is None:
            return "absent"
        names = sorted(set(_distributions().get(module, ())))
        return " ".join(f"{name} {version(name)}" for name in names) or "absent"


@cache
def _distributions() -> dict[str, list[str]]:
    from importlib.metadata import packages_distributions

    return dict(packages_distributions())


@cache
def list_clients() -> tuple[str, ...]:
    """Return the modules that call APIs and parse replies; responses are in the store by request.

    They are those of the built-in providers with an `ApiModel` among the blocks of models: found
    by the names in the blocks, since importing all providers takes a quarter of a second.
    """
    blocks = [block for block in vars(providers).values() if isinstance(block, type)]
    api_blocks = [block for block in blocks if issubclass(block, ApiModel) and block != ApiModel]
    names = [get_args(block.model_fields["provider"].annotation)[0] for block in api_blocks]
    modules = built_in_parts("providers")
    return (*dict.fromkeys(modules[name] for name in names), *SHARED_CLIENTS)


def is_client(module: str) -> bool:
    """Return whether a module belongs to the client of an API."""
    return _is_within(module, list_clients())


def _is_within(name: str, packages: Iterable[str]) -> bool:
    """Return whether a dotted name is one of some packages or modules, or inside one."""
    return any(
        name.startswith(package) and name[len(package) : len(package) + 1] in ("", ".")
        for package in packages
    )


def _is_ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in PACKAGES


class Snapshot:
    """The package and what is installed, as found once: hashes of many stages share the search.

    `files` are the modules of the package: name -> file. With a study, the scorers, prompts,
    plug-ins and optional packages that a stage of it does not use do not count for the stage.
    """

    def __init__(self, study: Study | None = None) -> None:
        """Find the modules; each is read when it is needed."""
        self._study = study
        self._unneeded = find_unneeded_packages(study) if study else frozenset()
        paths = sorted(path for name in PACKAGES for path in (SOURCE / name).rglob("*.py"))
        self.files = {_module_name(path): path for path in paths}
        self.files.pop("omibench", None)
        self._sources: dict[str, SourceSummary] = {}
        self._versions: dict[str, str] = {}

    def source(self, module: str) -> SourceSummary:
        """Return the semantics and imports of a module; empty if it is not a module."""
        found = self._sources.get(module)
        if found is None:
            found = self._sources[module] = _read_module(self.files.get(module))
        return found

    def version(self, package: str) -> str:
        """Return the installed version of a top-level module, or `absent`."""
        found = self._versions.get(package)
        if found is None:
            found = self._versions[package] = installed_version(package)
        return found

    def hash_stage(self, name: str) -> str:
        """Return what `source_hash` does, for the package as it was found."""
        stage = find_stage(name.partition(".")[0])
        used = UsedParts(self._study, stage.params) if self._study else None
        tree = Tree(stage.params, self, used.modules_apart if used else ())
        closure = sorted(_stage_closure(tree, name))
        digest = hashlib.sha256(f"Python {sys.version_info[0]}.{sys.version_info[1]}\0".encode())
        for module in closure:
            digest.update(f"{module}\0{tree.source(module).meaning}\0".encode())
        if used and PROMPT_REGISTRY in closure:
            digest.update(used.prompts.encode())
        for package in sorted(tree.packages(closure) - self._unneeded):
            digest.update(f"{package}\0{self.version(package)}\0".encode())
        for file in _data_files(stage.name, {tree.files[module].parent for module in closure}):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        digest.update(plugins.source_hash(stage.plugins, used.names if used else None).encode())
        meanings(MEANINGS_FILE.absolute()).save()
        return digest.hexdigest()[:16]


class Tree:
    """The modules of the package on disk that count for some blocks of params.yaml."""

    def __init__(
        self,
        blocks: Collection[str] | None = None,
        snapshot: Snapshot | None = None,
        apart: Collection[str] = (),
    ) -> None:
        """`blocks` are the keys of params.yaml whose code counts (None means all), `apart` modules
        that do not count."""
        keys = Study.model_fields.keys()
        used_modules = block_modules(keys if blocks is None else blocks)
        self._unused_modules = block_modules(keys) - used_modules
        self._snapshot = snapshot or Snapshot()
        self.files = self._snapshot.files
        self._apart = apart

    def source(self, module: str) -> SourceSummary:
        """Return the semantics and imports of a module; empty if it is not a module."""
        return self._snapshot.source(module)

    def needs(self, module: str) -> tuple[str, ...]:
        """Return the modules of this project that a module imports directly, also lazily."""
        source = self.source(module)
        return tuple(filter(_is_ours, source.imports + source.facade))

    def closure(self, *roots: str, without: Collection[str] = ()) -> set[str]:
        """Return the modules required by some modules, including themselves and their submodules.

        Args:
            roots: Names of modules.
            without: Modules to exclude, with everything that only they import.

        Returns:
            Names of modules, without API clients and the code that transports responses.
        """
        visited: set[str] = set()
        without = {*without, *self._apart}
        waiting = [*roots]
        waiting += [name for name in self.files for root in roots if name.startswith(f"{root}.")]
        while waiting:
            name = waiting.pop()
            if name in visited or name in without or name in LISTS_OF_PARTS or is_client(name):
                continue
            waiting += built_in_modules(name)
            if name == f"{BLOCKS}.base":
                waiting += [file for file in self.files if file.startswith(f"{BLOCKS}.")]
            visited.add(name)
            is_module = name in self.files
            source = self.source(name if is_module else name.rpartition(".")[0])
            imports = filter(_is_ours, source.imports if is_module else source.facade)
            waiting += [
                needed
                for needed in imports
                if name != STUDY or not _is_within(needed, self._unused_modules)
            ]
        return {name for name in visited & self.files.keys() if not _is_within(name, TRANSPORT)}

    def packages(self, closure: Iterable[str]) -> set[str]:
        """Return the other packages that modules import, by their top-level names."""
        packages = {
            name.split(".")[0]
            for module in closure
            if not _is_within(module, APART)
            for name in self.source(module).imports
        } - {*PACKAGES, *WITHOUT_EFFECT, *sys.stdlib_module_names}
        return packages.union(*(BESIDE.get(name, ()) for name in packages))


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def _read_module(path: Path | None) -> SourceSummary:
    if path is None:
        return SourceSummary("", ())
    state = path.stat()
    return _parse_source(path, state.st_mtime_ns, state.st_size)


@cache
def _parse_source(path: Path, modified_ns: int, size: int) -> SourceSummary:
    return meanings(MEANINGS_FILE.absolute()).of(path, SOURCE)


def _data_files(stage: str, folders: set[Path]) -> list[Path]:
    """Return the data files of modules: all below the stage's folder, and those elsewhere."""
    roots = {SOURCE / name for name in PACKAGES}
    files = {path for folder in folders - roots for path in folder.iterdir()}
    files |= set((SOURCE / "omibench" / "stages" / stage).rglob("*"))
    return sorted(p for p in files if p.is_file() and p.suffix not in (".py", ".pyc"))
