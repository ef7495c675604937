"""How a study is run here: what changes no result, and so makes no job run again.

Where its logs and its store lie, how its models are reached, how much may be asked at once.
"""

from __future__ import annotations

from pathlib import Path

EXPERIMENTS = (".dvc", "tmp", "exps")
"""Where DVC puts the copies of a project in which it runs queued experiments."""


def log_folder(results: str) -> str:
    """Where the jobs of a study write their logs: `logs`, or a folder in it for other results.

    Two studies share no log: `results/emma` has `logs/emma`, and `elsewhere/a` has
    `logs/elsewhere/a`.
    """
    first, *rest = [p for p in Path(results).parts if p not in (Path(results).anchor, "..")]
    return str(Path("logs", *([] if first == "results" else [first]), *rest))


def store_folder(store: str, here: Path) -> str:
    """The store of a study that is run in the folder `here`.

    DVC runs queued experiments in copies of the project that have no store: they use the
    project's own, so that nothing is bought twice and what they buy stays.
    """
    parts = here.resolve().parts
    for end in range(len(parts) - len(EXPERIMENTS)):
        if parts[end : end + len(EXPERIMENTS)] == EXPERIMENTS:
            return str(Path(*parts[:end]) / store)
    return store
