"""What a generator makes, and the registry of generators.

A generator is a function of a template, a random source and a difficulty. It draws no picture: it
names the function that draws each, so that many problems can be made and compared without drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from omibench.plugins import Registry
from omibench.schemas.problem import IMAGE_MARK, Subject, Value

EASIEST, HARDEST = 1, 5
"""The range of `difficulty`."""


class Drawing(NamedTuple):
    """A picture that is drawn on demand: two with equal values show the same."""

    function: Callable[..., bytes]
    """Returns the bytes of a PNG, the same for the same values."""
    values: tuple[Any, ...]
    """Its arguments, whose `repr` states all that is shown."""

    def draw(self) -> bytes:
        """Return the bytes of the picture."""
        return self.function(*self.values)


class Draft(NamedTuple):
    """One problem as a generator makes it."""

    question: str
    """Its text, with a mark `[IMAGE0]`, `[IMAGE1]`, ... for each of `pictures`."""
    pictures: Sequence[Drawing]
    answer: str | Drawing
    """The right choice, or the answer of a problem without choices."""
    wrong: Sequence[str | Drawing] = ()
    """The wrong choices; empty for an open question."""
    solution: str = ""
    attributes: Mapping[str, Value] = {}

    @property
    def identity(self) -> str:
        """What the problem asks, without the order of pictures and choices."""
        parts = [*self.pictures, self.answer, *self.wrong]
        texts = sorted(p if isinstance(p, str) else repr(p.values) for p in parts)
        return repr((IMAGE_MARK.sub("", self.question), texts))


Make = Callable[[str, Random, int], Draft]
"""Makes one problem of a template at a difficulty from 1 to 5."""


class Generator(NamedTuple):
    """A generator: its function, and what a manifest needs to know about it."""

    name: str
    make: Make
    version: int
    """Raised whenever the same seed gives other problems."""
    templates: tuple[str, ...]
    subject: Subject
    extra: str | None
    """The extra of pyproject.toml that it needs."""


GENERATORS: Final[Registry[Generator]] = Registry("generators", "generator")


def generator(
    name: str,
    *,
    version: int,
    templates: Sequence[str],
    subject: Subject = "other",
    extra: str | None = None,
) -> Callable[[Make], Make]:
    """Register a function as the generator `name`.

    Args:
        name: Value of `generator` in sources.yaml.
        version: Number to raise when the same seed gives other problems.
        templates: The kinds of problems that it makes, the keys of `counts`.
        subject: Subject of its problems.
        extra: The extra of omibench that it needs.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: If another generator has this name.
    """
    GENERATORS.check_name(name)

    def register(make: Make) -> Make:
        part = Generator(name, make, version, tuple(templates), subject, extra)
        GENERATORS.add(name, part, make.__module__)
        return make

    return register
