"""Made-up problems: counts as published, true answers, equal arguments equal problems."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from fractions import Fraction
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.models.synthetic.items import SIZE, Item, chance, items, picture, solve_ability
from omibench.models.synthetic.profiles import (
    LIKES,
    Like,
    Made,
    equal,
    parse_address,
    profile,
    proportional,
)

PUBLISHED: dict[Like, tuple[int, int]] = {
    "omibench": (574, 748), "emma": (2002, 786), "usnco-v": (473, 0), "mathreal": (0, 2000),
    "mathreal-testmini": (0, 480),
}  # fmt: skip
"""Multiple-choice and open problems as printed."""
SIZES = st.dictionaries(st.text(min_size=1), st.integers(0, 300), min_size=1).filter(
    lambda sizes: sum(sizes.values()) > 0
)


@pytest.mark.parametrize("like", LIKES)
def test_the_same_arguments_give_the_same_problems_with_ids_of_their_own(like: Like) -> None:
    items.cache_clear()
    first = items(like, 3)
    items.cache_clear()
    assert items(like, 3) == first
    assert len({item.id for item in first}) == len(first) == profile(like).total
    assert items(like, 4) != first


@pytest.mark.parametrize(("like", "counts"), PUBLISHED.items())
def test_answer_types_are_as_many_as_printed(like: Like, counts: tuple[int, int]) -> None:
    found = Counter(item.answer_type for item in items(like))
    assert (found["mcq"], found["open"]) == counts


def test_omibench_has_the_subjects_pictures_and_stems_of_the_release() -> None:
    found = items("omibench")
    subjects = Counter(item.subject for item in found)
    assert subjects == {"biology": 251, "chemistry": 217, "mathematics": 430, "physics": 424}
    pictures = Counter[str]()
    for item in found:
        pictures[item.subject] += len(item.drawings)
    means = {name: round(pictures[name] / subjects[name], 2) for name in subjects}
    assert means == {"biology": 3.07, "chemistry": 3.99, "mathematics": 2.35, "physics": 2.83}
    stems = Counter(item.group for item in found if item.subject == "biology" and item.group)
    assert Counter(stems.values()) == {2: 16, 3: 18, 4: 3, 5: 6, 6: 2, 7: 2}


def test_emma_has_its_printed_pictures_and_categories() -> None:
    found = items("emma")
    assert sum(len(item.drawings) > 1 for item in found) == 298
    assert sum(any(o.drawing is not None for o in item.options) for item in found) == 195
    chemistry = Counter(i.attributes["category"] for i in found if i.subject == "chemistry")
    assert chemistry["Structure Recognition"] == 474


def test_emma_mini_takes_a_hundred_of_each_subject_evenly_by_category() -> None:
    found = items("emma-mini")
    assert set(Counter(item.subject for item in found).values()) == {100}
    physics = Counter(i.attributes["category"] for i in found if i.subject == "physics")
    assert physics["Path Tracing"] == 13
    assert set(physics.values()) == {13, 21, 22}


def test_problems_of_one_stem_share_their_first_picture() -> None:
    stems: dict[str, set[str]] = {}
    for item in items("omibench"):
        if item.group and "/choice/" not in item.drawings[0].key:
            stems.setdefault(item.group, set()).add(item.drawings[0].key)
    assert all(len(keys) == 1 for keys in stems.values())


@pytest.mark.parametrize("like", ["omibench", "emma", "mathreal-testmini"])
def test_every_answer_is_the_true_one(like: Like) -> None:
    for item in items(like):
        assert is_true(item), item


def is_true(item: Item) -> bool:
    """Work the problem out again from what its pictures show."""
    asked = item.question
    dots = [drawing.dots for drawing in item.drawings]
    if item.options:
        right = next(o for o in item.options if [o.label] == item.answer)
        if right.drawing is not None:
            wanted = re.search(r"exactly (\d+) dots", asked)
            shown = [item.drawings[o.drawing].dots for o in item.options if o.drawing is not None]
            counts = shown.count(dots[right.drawing])
            return wanted is not None and dots[right.drawing] == int(wanted[1]) and counts == 1
        return right.text == str(sum(dots)) and len({o.text for o in item.options}) == len(
            item.options
        )
    if "(1)" in asked:
        return item.answer == [str(sum(dots)), str(max(dots))]
    (answer,) = item.answer
    if "fraction" in asked:
        top, bottom = re.findall(r"\d+", answer)
        return Fraction(int(top), int(bottom)) == Fraction(dots[0], sum(dots))
    if "polynomial" in asked:
        terms = answer.strip("$").split("+")
        return [int(re.match(r"\d*", term)[0] or 1) for term in terms] == dots  # type: ignore[index]
    return answer == str(sum(dots))


def test_no_two_drawings_give_one_picture_and_each_shows_its_dots() -> None:
    from PIL import Image

    drawings = {d for item in items("emma-mini") for d in item.drawings}
    found = {hashlib.sha256(picture(d)).hexdigest() for d in drawings}
    assert len(found) == len(drawings)
    for drawing in sorted(drawings)[:20]:
        image = Image.open(BytesIO(picture(drawing)))
        assert image.size == SIZE
        centres = [(x, y) for x in range(10, 160, 20) for y in range(10, 120, 20)]
        assert sum(image.getpixel(c) == 0 for c in centres) == drawing.dots


@given(SIZES, st.integers(0, 1000))
def test_shares_in_proportion_are_whole_and_sum_up(sizes: dict[str, int], total: int) -> None:
    found = proportional(sizes, total)
    assert sum(found.values()) == total
    exact = {name: total * size / sum(sizes.values()) for name, size in sizes.items()}
    assert all(abs(found[name] - exact[name]) < 1 for name in sizes)


@given(SIZES, st.integers(0, 1000))
def test_equal_shares_differ_only_where_a_size_is_used_up(
    sizes: dict[str, int], total: int
) -> None:
    found = equal(sizes, total)
    assert sum(found.values()) == min(total, sum(sizes.values()))
    assert all(found[name] <= sizes[name] for name in sizes)
    open_ = [found[name] for name in sizes if found[name] < sizes[name]]
    assert not open_ or max(found.values()) - min(open_) <= 1


@given(st.floats(0.3, 0.95), st.lists(st.floats(-2, 2), min_size=5, max_size=20))
def test_an_ability_gives_back_the_accuracy_it_was_made_for(
    accuracy: float, difficulties: list[float]
) -> None:
    known = [(difficulty, 0.25) for difficulty in difficulties]
    ability = solve_ability(accuracy, known)
    mean = sum(chance(ability - d, guess) for d, guess in known) / len(known)
    assert abs(mean - accuracy) < 0.001


def test_addresses_are_read_as_they_are_written() -> None:
    for address in (Made("omibench"), Made("emma-mini", 7)):
        assert parse_address(str(address)) == address
    assert parse_address("sample/oracle.jsonl") is None
    with pytest.raises(ParamsError, match="did you mean 'emma'"):
        parse_address("synthetic:ema")
    with pytest.raises(ParamsError, match="a whole number"):
        parse_address("synthetic:emma:x")
