"""A registry: the parts of one kind by name, imported on first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from omibench.errors import OmibenchError, PluginError
from omibench.plugins.built_in import built_in_parts
from omibench.plugins.sources import describe_error, find_installed, installed_names, note_source
from omibench.schemas.validation import suggest_name

Part = TypeVar("Part")

PART_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
"""Valid names in params: see `Name` of `params/blocks.py`."""
BY_OMIBENCH = "omibench"
"""The origin of built-in parts."""
_ORIGIN: ContextVar[str | None] = ContextVar("origin", default=None)
_RUNS_FILES: ContextVar[bool] = ContextVar("runs_files", default=True)
REGISTRIES: dict[str, Registry[Any]] = {}
"""The imported registries, by kind."""


@contextmanager
def leaving_out_files() -> Iterator[None]:
    """Read parameters in this block without running the files under `plugins:`.

    Names of parts that they may register are accepted unchecked.
    """
    token = _RUNS_FILES.set(False)
    try:
        yield
    finally:
        _RUNS_FILES.reset(token)


def runs_files() -> bool:
    """Return whether the files under `plugins:` are run while parameters are read."""
    return _RUNS_FILES.get()


@contextmanager
def loading(origin: str) -> Iterator[None]:
    """Set the origin of registrations in this block: a file or a package."""
    token = _ORIGIN.set(origin)
    try:
        yield
    finally:
        _ORIGIN.reset(token)


def known_names(kind: str) -> list[str]:
    """Return all names of a kind, built-in ones first; its registry need not be imported."""
    registry = REGISTRIES.get(kind)
    return registry.names if registry else [*built_in_parts(kind), *installed_names(kind)]


def has_part(kind: str, name: str) -> bool:
    """Return whether a part of that kind and name exists; one of an installed package is loaded.

    Built-in parts are not imported.

    Raises:
        PluginError: The package with the part does not load.
    """
    if name in built_in_parts(kind):
        return True
    if kind not in REGISTRIES and name in installed_names(kind):
        _load_installed(kind, name)
    return kind in REGISTRIES and REGISTRIES[kind].load(name)


class _Calling(NamedTuple):
    """Context of `Registry.calling`: a class, since it is entered for every response."""

    noun: str
    name: str
    origin: str
    subject: str

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception) or isinstance(error, OmibenchError):
            return
        if self.origin != BY_OMIBENCH:
            detail = f" (of {self.subject})" if self.subject else ""
            raise PluginError(
                f"{self.noun} {self.name!r}{detail}: {describe_error(error, self.origin)}"
            ) from error


class Registry(Generic[Part]):
    """The parts of one kind, built in or from plug-ins.

    Args:
        kind: A key of `plugins.built_in.KINDS`, which is also the group of entry points: `scorers`.
        noun: The term for one part in messages: `scorer`.
    """

    def __init__(self, kind: str, noun: str) -> None:
        self.kind, self.noun = kind, noun
        self._parts: dict[str, Part] = {}
        self._origins: dict[str, str] = {}
        REGISTRIES[kind] = self

    @property
    def _modules(self) -> Mapping[str, str]:
        return built_in_parts(self.kind)

    @property
    def built_in_names(self) -> list[str]:
        """The names of the built-in parts, in order."""
        return list(self._modules)

    @property
    def names(self) -> list[str]:
        """All names: the built-in ones first, then those of plug-ins."""
        return list(dict.fromkeys([*self._modules, *self._parts, *installed_names(self.kind)]))

    @property
    def loaded_names(self) -> list[str]:
        """The names of the parts that are registered in this process."""
        return list(self._parts)

    @property
    def origins(self) -> set[str]:
        """The files and packages with registered parts, without `omibench`."""
        return set(self._origins.values()) - {BY_OMIBENCH}

    def is_built_in_part(self, name: str, module: str) -> bool:
        """Return whether `module` registers the built-in part of that name."""
        return self._modules.get(name) == module

    def check_name(self, name: object) -> None:
        """Check the name that a decorator is given.

        Raises:
            PluginError: It is not text, or contains characters that are not valid in params.
        """
        if not isinstance(name, str) or not PART_NAME.fullmatch(name):
            label = name if isinstance(name, str) else type(name).__name__
            raise PluginError(
                f"{self.noun}: the name is {label!r}; give letters, digits, `.`, `_` and `-`, as "
                'in `@decorator("my-part")`'
            )

    def register(self, name: str) -> Callable[[Part], Part]:
        """Return a decorator that registers an object under `name`.

        Raises:
            PluginError: Another file or package has registered this name, or it is not a valid
                name.
        """
        self.check_name(name)

        def add(part: Part) -> Part:
            self.add(name, part)
            return part

        return add

    def add(self, name: str, part: Part, module: str | None = None) -> None:
        """Register a part, as `register` does.

        Args:
            name: Its name in params.
            part: The object that `get` returns.
            module: The module that defines it, if the part itself has no such attribute.
        """
        home = module or getattr(part, "__module__", None) or ""
        origin = _ORIGIN.get() or _origin_by_module(home)
        if self.is_built_in_part(name, home):  # a plug-in can be the first to import it
            origin = BY_OMIBENCH
        before = self._origins.get(name, BY_OMIBENCH if name in self._modules else origin)
        if before != origin:
            raise PluginError(
                f"{self.noun} {name!r} is defined by {before} and by {origin}; rename one of them"
            )
        self._parts[name], self._origins[name] = part, origin

    def get(self, name: str) -> Part:
        """Return the part of that name; its module is imported on the first call.

        Raises:
            PluginError: It does not exist (with the nearest name), or it does not load.
        """
        if not self.load(name):
            raise PluginError(f"unknown {self.noun} {name!r}{suggest_name(name, self.names)}")
        return self._parts[name]

    def load(self, name: str) -> bool:
        """Import the part of that name, if it exists.

        Returns:
            Whether it exists.
        """
        if name not in self._parts and name in self._modules:
            with loading(BY_OMIBENCH):
                import_module(self._modules[name])
        if name not in self._parts and name in installed_names(self.kind):
            _load_installed(self.kind, name)
        return name in self._parts

    def calling(self, name: str, subject: str = "") -> _Calling:
        """Run a part: exceptions of a plug-in's part become one line with the line number.

        Args:
            name: The part that runs in this block.
            subject: Its input, such as the id of a problem.

        Raises:
            PluginError: Instead of any exception but an OmibenchError.
        """
        return _Calling(self.noun, name, self.origin(name), subject)

    def origin(self, name: str) -> str:
        """Return the file or package that registered a name; `omibench` for built-in parts."""
        return self._origins.get(name, BY_OMIBENCH)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def forget(self, origin: str) -> None:
        """Remove all registrations of an origin."""
        for name in [name for name, by in self._origins.items() if by == origin]:
            del self._parts[name], self._origins[name]


def _origin_by_module(module: str) -> str:
    """Return the origin of an ordinary import, or of a registration in a notebook."""
    first = module.partition(".")[0]
    return BY_OMIBENCH if first in ("", "omibench") else first


def _load_installed(kind: str, name: str) -> None:
    part = find_installed(kind, name)
    with loading(part.origin):
        try:
            note_source(part)
            import_module(part.entry_point.module)
        except OmibenchError as error:
            raise PluginError(f"{part.origin}: {error}") from None
        except Exception as error:
            raise PluginError(
                f"{describe_error(error, part.origin)} (it provides omibench.{kind}: {name})"
            ) from error
    if kind not in REGISTRIES or REGISTRIES[kind].origin(name) == BY_OMIBENCH:
        raise PluginError(
            f"{part.origin}: its module {part.entry_point.module} does not register {name!r}, the "
            f"name of its entry point omibench.{kind}"
        )
