"""Read one exam in a separate process with bounded memory: `-m omibench.stages.ocr.worker`.

The job comes as JSON on standard input; problems, pages and figures go into the job's folder, and
the outcome, as one line of JSON, to standard output.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

from omibench.errors import PaperError, PluginError
from omibench.params.plugins import load_plugins
from omibench.stages.ocr.jobs import OcrJob, OcrOutcome, cpu_spent, limit_cpu, limit_memory
from omibench.stages.ocr.pipeline import read_source


def main() -> None:
    """Run the job on standard input and print its result."""
    text = sys.stdin.read()
    try:
        load_plugins(json.loads(text), whole_study=False)
        job = OcrJob.model_validate_json(text)
    except PluginError as error:
        print(OcrOutcome(error=("paper_failed", str(error))).model_dump_json())
        return
    limit_memory(job.params.memory_mb)
    limit_cpu(job.most_s)
    paper = job.source.paper
    try:
        outcome = read_source(job)
    except PaperError as error:
        outcome = OcrOutcome(error=(error.code, str(error)))
    except MemoryError:
        outcome = OcrOutcome(error=("paper_out_of_memory", f"{paper}: needs more memory"))
    except Exception as error:
        lacks_memory = isinstance(error.__cause__, MemoryError) or any(
            w in str(error).lower() for w in ("malloc", "calloc", "realloc", "bad_alloc")
        )
        code = "paper_out_of_memory" if lacks_memory else "paper_failed"
        detail = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        outcome = OcrOutcome(error=(code, f"{paper}: {detail}"))
    with suppress(ImportError, OSError, ValueError):
        import resource

        peak = _own_peak_kib()
        unit = 2**20 if sys.platform == "darwin" else 2**10
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
        outcome.cpu_s = round(cpu_spent(), 2)
        outcome.peak_mb = used if peak is None else peak // 2**10
    print(json.dumps(outcome.model_dump()))


def _own_peak_kib() -> int | None:
    """Return the peak memory of this program; `ru_maxrss` includes the parent's at the start."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None


if __name__ == "__main__":
    main()
