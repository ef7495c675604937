"""Measure the filter's time over many problems, and its check of translations.

    python benchmarks/filter.py --problems 20000
    python benchmarks/filter.py --copies test.jsonl question
    python benchmarks/filter.py --pairs testmini.json QuestionCN QuestionEN zh

The problems are made up: statements of about 120 words of a vocabulary with the frequencies of
written English (Zipf), two pictures each, every twentieth an edited copy of an earlier one whose
pictures are the same. The copies are texts of a JSONL file, 5 to 25 % of
their words exchanged. The pairs are the two texts of each object of a JSON list.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rapidfuzz import fuzz

from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import Figure, Problem
from omibench.stages.filter.backcheck import findings
from omibench.stages.filter.candidate import Similar, normalise
from omibench.stages.filter.stage import sift

LETTERS = "eeeetttaaooiinnsshhrrddllcumwfgypbvk"
VOCABULARY, WORDS, COPY = 8_000, 120, 20
SHORT = 40  # characters; a shorter text is no statement


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", type=int, help="how many problems to sift")
    parser.add_argument("--copies", nargs=2, metavar=("FILE", "FIELD"))
    parser.add_argument("--pairs", nargs=4, metavar=("FILE", "ORIGINAL", "ENGLISH", "LANGUAGE"))
    given = parser.parse_args()
    if given.problems:
        time_sifting(given.problems)
    if given.copies:
        file, field = given.copies
        rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
        find_copies([text for row in rows if len(text := normalise(str(row[field]))) > SHORT])
    if given.pairs:
        file, original, english, language = given.pairs
        rows = json.loads(Path(file).read_text("utf-8"))
        check_pairs([(row[original], row[english]) for row in rows], language)


def time_sifting(count: int) -> None:
    """CPU seconds of all deterministic reasons, and how many of the copies are found."""
    problems, copies = made_up(count)
    start = time.process_time()
    kept, rejects = sift(problems, Path(), FilterParams())
    seconds = time.process_time() - start
    found = sum(reject.reason == "near_duplicate" for reject in rejects)
    print(
        f"{count} problems in {seconds:.1f} CPU seconds: {len(kept)} kept, {found} near duplicates"
    )
    print(f"{copies} copies were made; all reasons: {dict(Counter(r.reason for r in rejects))}")


def made_up(count: int) -> tuple[list[Problem], int]:
    """The problems, and how many of them are edited copies."""
    draw = random.Random(5)  # noqa: S311
    words = ["".join(draw.choices(LETTERS, k=draw.randrange(2, 10))) for _ in range(VOCABULARY)]
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    problems: list[Problem] = []
    texts: list[list[str]] = []
    pictures: list[int] = []
    for number in range(count):
        source = draw.randrange(number) if number and number % COPY == 0 else None
        text = draw.choices(words, weights, k=WORDS) if source is None else list(texts[source])
        for place in [] if source is None else draw.sample(range(WORDS), 5):
            text[place] = draw.choice(words)
        texts.append(text)
        pictures.append(number if source is None else pictures[source])
        problems.append(_problem(number, text, pictures[-1]))
    return problems, (count - 1) // COPY


def _problem(number: int, text: Sequence[str], pictures: int) -> Problem:
    figures = [
        Figure(
            file=f"{pictures}-{i}.png",
            sha256=hashlib.sha256(f"{pictures}-{i}".encode()).hexdigest(),
        )
        for i in range(2)
    ]
    return Problem(
        id=f"p-{number}", question=f"Figures 1 and 2: {' '.join(text)}?", images=figures,
        source=f"s-{number // 20}", source_sha256="0", number=str(number), pages=[1],
        answer=["12 m"],
    )  # fmt: skip


def find_copies(texts: Sequence[str]) -> None:
    """How many edited copies of at least the default similarity MinHash hands on."""
    draw, least = random.Random(1), FilterParams().near_duplicate  # noqa: S311
    words = sorted({word for text in texts for word in text.split()})
    seen = Similar()
    for text in texts:
        seen.add(text)
    similar = found = 0
    for number, text in enumerate(texts):
        for share in (0.05, 0.1, 0.15, 0.2, 0.25):
            edited = text.split()
            for place in draw.sample(range(len(edited)), max(1, int(share * len(edited)))):
                edited[place] = draw.choice(words)
            copy = " ".join(edited)
            if fuzz.ratio(text, copy) >= 100 * least:
                similar += 1
                found += number in seen.candidates(copy)
    print(
        f"{found} of {similar} copies of {len(texts)} texts, {least:g} similar or more, are found"
    )


def check_pairs(pairs: Sequence[tuple[str, str]], language: str) -> None:
    """How many translations pass, and what is found in the others."""
    found = [findings(original, english, language) for original, english in pairs]
    kinds = Counter(line.split(":")[0] for lines in found for line in lines)
    passed = sum(not lines for lines in found)
    print(f"{passed} of {len(pairs)} translations pass; findings: {dict(kinds)}")


if __name__ == "__main__":
    main()
