"""Make 10,000 generated problems without pictures, evenly over all templates, within 60 CPU s.

    python benchmarks/generators.py [--problems N] [--difficulty 1..5]

Ends with exit code 1 beyond the limit. Needs the extras `chemistry` and `coding`.
"""

from __future__ import annotations

import argparse
import time

from omibench.datasets.generators.make import make_problems
from omibench.datasets.generators.registry import GENERATORS

LIMIT_S = 60.0
"""CPU seconds of 10,000 problems."""


def main() -> int:
    """Print the CPU seconds of each template, and of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--difficulty", type=int, default=3)
    options = parser.parse_args()
    parts = [GENERATORS.get(name) for name in GENERATORS]
    templates = [(part, template) for part in parts for template in part.templates]
    each, more = divmod(options.problems, len(templates))
    print("| generator | template | problems | CPU s |\n|---|---|---|---|")
    total = 0.0
    for place, (part, template) in enumerate(templates):
        began = time.process_time()
        counts = {template: each + (place < more)}
        made = make_problems(part, seed=1, counts=counts, difficulty=options.difficulty)
        number = sum(1 for _ in made)
        spent = time.process_time() - began
        total += spent
        print(f"| {part.name} | {template} | {number:,} | {spent:.1f} |")
    limit = LIMIT_S * options.problems / 10_000
    print(f"| all | | {options.problems:,} | {total:.1f} of at most {limit:.0f} |")
    return int(total > limit)


if __name__ == "__main__":
    raise SystemExit(main())
