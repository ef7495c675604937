"""The sources of the sample papers hold what the sample promises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

Booklet = dict[str, Any]
Booklets = dict[str, Booklet]

REASONS = {
    "statement_incomplete",
    "answer_missing",
    "answer_ambiguous",
    "too_few_images",
    "image_not_referred_to",
    "exact_duplicate",
    "near_duplicate",
    "ocr_error",
}
KINDS = {"letter", "numeric", "symbolic", "multipart", "truefalse", "text"}
FIGURE_REFERENCE = re.compile(r"\b(?:Figures?|Figuras?) \d+(?:(?:, \d+)*,? (?:and|y) \d+)?")


def surviving(booklet: Booklet) -> list[Booklet]:
    return [p for p in booklet["problems"] if not p.get("rejected")]


def digital_problems(booklets: Booklets) -> Iterator[tuple[Booklet, Booklet]]:
    for booklet in booklets.values():
        if not booklet.get("scan"):
            yield from ((booklet, problem) for problem in surviving(booklet))


def stems_of(booklet: Booklet, problem: Booklet) -> list[Booklet]:
    return [s for s in booklet.get("stems") or [] if problem["number"] in s["problems"]]


def evidence(booklet: Booklet, problem: Booklet) -> list[Booklet]:
    """The figures of a problem and of its stem, without picture choices."""
    stems = stems_of(booklet, problem)
    shared = [figure for stem in stems for figure in stem.get("figures") or []]
    return shared + (problem.get("figures") or [])


def texts(booklet: Booklet, problem: Booklet) -> list[str]:
    """Everything that stands in words on the page of a problem, figure numbers left out."""
    shown = [problem["text"], problem.get("translation") or ""]
    shown += [stem["text"] for stem in stems_of(booklet, problem)]
    shown += [figure["caption"] for figure in evidence(booklet, problem)]
    shown += [choice for choice in problem.get("choices") or [] if isinstance(choice, str)]
    return [FIGURE_REFERENCE.sub("", text) for text in shown]


def stands_in(hidden: str, text: str) -> bool:
    """Whether `hidden` is in `text` as words or a whole number: 4 is not in 0.4, 14 or 4.5."""
    return bool(re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(hidden)}(?!\w)(?![.,]\d)", text))


def test_stands_in_sees_whole_words_only() -> None:
    assert stands_in("40", "it is 40.")
    assert stands_in("f(4)", "as f(4) is 1")
    assert not any(stands_in("4", text) for text in ("14", "0.4", "4.5", "x4", "40"))


def test_each_figure_of_a_surviving_problem_says_what_it_alone_supplies(
    name: str, booklets: Booklets
) -> None:
    for problem in surviving(booklets[name]):
        figures = evidence(booklets[name], problem)
        assert len(figures) >= 2, f"{name}-{problem['number']}"
        for figure in figures:
            assert figure["supplies"].strip(), f"{name} {figure['id']}"
            assert figure["hidden"], f"{name} {figure['id']}"


def test_what_figures_supply_stands_in_no_text(name: str, booklets: Booklets) -> None:
    leaks = [
        (problem["number"], figure["id"], hidden)
        for problem in surviving(booklets[name])
        for figure in evidence(booklets[name], problem)
        for hidden in figure["hidden"]
        if any(stands_in(str(hidden), text) for text in texts(booklets[name], problem))
    ]
    assert leaks == []


def test_each_surviving_problem_refers_to_its_figures(name: str, booklets: Booklets) -> None:
    for problem in surviving(booklets[name]):
        text = " ".join([problem["text"], *(s["text"] for s in stems_of(booklets[name], problem))])
        assert re.search(r"\b[Ff]igur|graph|diagram|table|gráfic|tabla", text), problem["number"]


def test_subjects_have_six_surviving_problems_each(booklets: Booklets) -> None:
    counts = Counter(p.get("subject", b["subject"]) for b, p in digital_problems(booklets))
    short = {s for s in ("biology", "chemistry", "mathematics", "physics") if counts[s] < 6}
    assert not short, counts


def test_every_rejection_reason_occurs(booklets: Booklets) -> None:
    found = [p["rejected"] for b in booklets.values() for p in b["problems"] if p.get("rejected")]
    assert set(found) == REASONS


def test_every_kind_of_answer_occurs(booklets: Booklets) -> None:
    problems = [p for _, p in digital_problems(booklets)]
    kinds = {p["kind"] for p in problems}
    assert {"letter", "numeric", "symbolic", "multipart", "truefalse"} <= kinds <= KINDS
    assert any(
        re.search(r"\d ?[^\d\s.,)]+$", p["gold"][0]) for p in problems if p["kind"] == "numeric"
    )
    styles = {type(p["choices"][0]) for p in problems if p.get("choices")}
    assert styles == {str, dict}, "text choices and picture choices"


def test_layouts_and_languages_vary(booklets: Booklets) -> None:
    assert len([b for b in booklets.values() if not b.get("scan")]) >= 5
    assert len([b for b in booklets.values() if b.get("scan")]) == 1
    assert {b.get("columns", 1) for b in booklets.values()} == {1, 2}
    assert any(b.get("stems") for b in booklets.values())
    assert any(b["key"] == "table" for b in booklets.values())
    assert any(b["solutions"] for b in booklets.values())
    assert len({b.get("number_style", "{}.") for b in booklets.values()}) >= 3
    foreign = [b for b in booklets.values() if b.get("language", "en") != "en"]
    assert foreign
    assert all(p.get("translation") for b in foreign for p in b["problems"])


def test_keys_print_the_truth_except_where_the_filter_must_reject(
    name: str, booklets: Booklets
) -> None:
    for problem in booklets[name]["problems"]:
        label = f"{name}-{problem['number']}"
        assert problem["gold"], label
        assert all(isinstance(part, str) for part in problem["gold"]), label
        if not problem.get("rejected"):
            assert problem["answer"] == problem["gold"], label
        if problem["kind"] == "letter":
            letters = "ABCDEFGH"[: len(problem["choices"])]
            one_right = problem.get("rejected") != "answer_ambiguous"
            assert len(problem["gold"]) == 1 or not one_right, label
            assert set(problem["gold"]) <= set(letters), label
        else:
            assert not problem.get("choices"), label


def test_problem_and_figure_numbers_are_printed_in_order(name: str, booklets: Booklets) -> None:
    problems = booklets[name]["problems"]
    assert [p["number"] for p in problems] == list(range(1, len(problems) + 1))
    kept = [p for p in problems if p.get("rejected") != "exact_duplicate"]
    figures: list[str] = []
    for problem in kept:
        figures += [f["id"] for f in evidence(booklets[name], problem) if f["id"] not in figures]
    numbers = [int(re.findall(r"\d+", figure)[0]) for figure in figures]
    assert numbers == sorted(numbers)
