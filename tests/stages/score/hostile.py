"""Score every item of a file of hostile answers under 1 GiB, and print verdicts and CPU seconds.

Run as a program: the memory limit must not touch the tests' own process.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

GIB = 1 << 30


def worker_cpu_s(pid: int | None) -> float:
    """CPU seconds of a running process, or 0 when it has ended."""
    import os

    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(path: str) -> None:
    from tests.items import make_item

    from omibench.answers.formulas import symbolic
    from omibench.answers.scorers.registry import score_item

    resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))
    symbolic.symbolically_equal("x<1", "1>x")
    for line in Path(path).read_text("utf-8").splitlines():
        row = json.loads(line)
        build = row["response_gen"]
        text = row["response"]
        if text is None:
            text = build["template"].replace("<R>", build["repeat"] * build["times"])
        options = row["options"] if row["type"] == "mcq" else None
        worker = next(iter(symbolic.worker_pids()), None)
        began = time.process_time() + worker_cpu_s(worker)
        verdict = score_item(make_item(text, row["gold"], options), "robust")
        spent = time.process_time() + worker_cpu_s(worker) - began
        print(json.dumps([row["id"], row["expected"], verdict.verdict, spent]))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3]))
    main(sys.argv[1])
