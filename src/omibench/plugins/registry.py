"""A registry: the parts of one kind by name, imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Generic, TypeVar

from omibench.errors import PluginError
from omibench.plugins.built_in import BUILT_IN
from omibench.schemas.validation import did_you_mean

Part = TypeVar("Part")

BY_OMIBENCH = "omibench"
"""The origin of built-in parts."""
_ORIGIN: ContextVar[str] = ContextVar("origin", default=BY_OMIBENCH)


@contextmanager
def loading(origin: str) -> Iterator[None]:
    """What is registered in this block comes from `origin`, a file or a package."""
    token = _ORIGIN.set(origin)
    try:
        yield
    finally:
        _ORIGIN.reset(token)


class Registry(Generic[Part]):
    """The parts of one kind, built in or from plug-ins.

    Args:
        kind: A key of `BUILT_IN`, which is also the group of entry points: `rule_books`.
        noun: What messages call one part of it: `rule book`.
    """

    def __init__(self, kind: str, noun: str) -> None:
        self.kind, self.noun = kind, noun
        self._modules = BUILT_IN.setdefault(kind, {})
        self._parts: dict[str, Part] = {}
        self._origins: dict[str, str] = {}
        self.find_more: Callable[[Registry[Part], str], None] | None = None
        """Asked for a name that is neither built in nor registered yet: may register it."""

    @property
    def built_in(self) -> list[str]:
        """The names of the built-in parts, in their order."""
        return list(self._modules)

    @property
    def names(self) -> list[str]:
        """All names: the built-in ones first, then those registered by plug-ins."""
        return list(dict.fromkeys([*self._modules, *self._parts]))

    def register(self, name: str) -> Callable[[Part], Part]:
        """A decorator that registers what it decorates under `name`.

        Raises:
            PluginError: Another file or package has registered this name.
        """

        def add(part: Part) -> Part:
            self.add(name, part)
            return part

        return add

    def add(self, name: str, part: Part) -> None:
        """Register a part, as `register` does."""
        origin = _ORIGIN.get()
        before = self._origins.get(name, BY_OMIBENCH if name in self._modules else origin)
        if before != origin:
            raise PluginError(
                f"{self.noun} {name!r} is defined by {before} and by {origin}: rename one of them"
            )
        self._parts[name], self._origins[name] = part, origin

    def get(self, name: str) -> Part:
        """The part of that name; its module is imported at the first call.

        Raises:
            PluginError: There is none, with the nearest name that exists.
        """
        if name not in self._parts and name in self._modules:
            with loading(BY_OMIBENCH):
                import_module(self._modules[name])
        if name not in self._parts and self.find_more is not None:
            self.find_more(self, name)
        if name not in self._parts:
            raise PluginError(f"there is no {self.noun} {name!r}{did_you_mean(name, self.names)}")
        return self._parts[name]

    def origin(self, name: str) -> str:
        """Which file or package registered a name; `omibench` for built-in parts."""
        return self._origins.get(name, BY_OMIBENCH)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def forget(self, origin: str) -> None:
        """Remove what an origin has registered."""
        for name in [name for name, by in self._origins.items() if by == origin]:
            del self._parts[name], self._origins[name]
