"""Problems from a generator: drawn one by one, each different from all before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from random import Random
from string import ascii_uppercase
from typing import Any, Final, NamedTuple

from omibench.datasets.generators.registry import Draft, Drawing, Generator
from omibench.errors import ParamsError
from omibench.extras import require_extra
from omibench.schemas.problem import Choice, write_image_mark

_ATTEMPTS: Final = 200
"""Drafts of one problem before its template counts as used up."""


class MadeProblem(NamedTuple):
    """One problem, whose pictures are not yet drawn."""

    name: str
    """Template and number: `lamps-0001`."""
    template: str
    draft: Draft
    pictures: Sequence[Drawing]
    """Those of the question, then those of the choices in their order."""
    choices: list[Choice] | None
    answer: list[str]


def make_problems(
    generator: Generator,
    *,
    seed: int,
    counts: Mapping[str, int],
    difficulty: int,
    taken: set[str] | None = None,
) -> Iterator[MadeProblem]:
    """Make problems; no picture is drawn.

    The same version, seed and difficulty give the same problems, whatever the counts: a larger
    count adds problems. Only a problem that is taken is replaced by another.

    Args:
        generator: The generator.
        seed: Any integer.
        counts: Number of problems of each template.
        difficulty: From 1 to 5.
        taken: Identities of problems not to make again; those made are added.

    Raises:
        MissingExtraError: If the extra of the generator is not installed.
        ParamsError: If a template has fewer different problems than asked for.
    """
    if generator.extra:
        require_extra(generator.extra, f"the generator {generator.name}")
    taken = set() if taken is None else taken
    for template, count in counts.items():
        for number in range(1, count + 1):
            place = f"{generator.name}/{generator.version}/{template}/{difficulty}/{seed}/{number}"
            random = Random(place)  # noqa: S311 - the same problems everywhere
            for _ in range(_ATTEMPTS):
                draft = generator.make(template, random, difficulty)
                if draft.identity not in taken:
                    break
            else:
                raise ParamsError(
                    f"counts.{template}: {generator.name} finds no {number:,}th different problem "
                    f"at difficulty {difficulty}; ask for fewer, or raise the difficulty"
                )
            taken.add(draft.identity)
            yield _order_choices(f"{template}-{number:04d}", template, draft, random)


def _order_choices(name: str, template: str, draft: Draft, random: Random) -> MadeProblem:
    """Return the problem with its choices in a random order and letters for them."""
    pictures = [*draft.pictures]
    if not draft.wrong:
        return MadeProblem(name, template, draft, pictures, None, [str(draft.answer)])
    contents = [draft.answer, *draft.wrong]
    order = random.sample(range(len(contents)), len(contents))
    choices = []
    for label, place in zip(ascii_uppercase, order, strict=False):
        content = contents[place]
        if isinstance(content, Drawing):
            choices.append(Choice(label=label, image=len(pictures)))
            pictures.append(content)
        else:
            choices.append(Choice(label=label, text=content))
    key = choices[order.index(0)].label
    return MadeProblem(name, template, draft, pictures, choices, [key])


def hash_recipe(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the values from which problems are made."""
    return sha256(repr(sorted(values.items())).encode()).hexdigest()


def list_marks(count: int, *, start: int = 0) -> str:
    """Return the marks of pictures on a line of their own: `[IMAGE0] [IMAGE1]`."""
    return " ".join(write_image_mark(number) for number in range(start, start + count))
