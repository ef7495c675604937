"""Hooks of the Snakefile: notes of files written by jobs, and checks before a run."""

from __future__ import annotations

import contextlib
import logging
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from omibench.errors import UntrustedError
from omibench.graph.provenance import (
    NAME,
    find_changed_files,
    find_strangers,
    forget_made,
    note_made,
    refusal,
    suggest_way_out,
)
from omibench.graph.result_files import find_file
from omibench.graph.stages import STAGE_NAMES, find_stage
from omibench.graph.storage import name_file

_ENVIRONMENTS: dict[str, str] = {}
"""Shell code that sets the environment of each study in this Snakefile, by its results folder."""
_FORCING_ALL = {"-F", "--forceall"}
_FORCING_THESE = ("-R", "--forcerun")
log = logging.getLogger("omibench.graph.provenance")


class OutputRecorder(logging.Handler):
    """Notes the outputs of each successful job, through Snakemake's own events."""

    def __init__(self, results: str) -> None:
        super().__init__(logging.INFO)
        self._results = Path(results)
        self._outputs: dict[int, list[str]] = {}
        self._dag: Any = None

    def start(self, workflow: Any) -> None:
        """Start, from Snakemake's `onstart`."""
        if not workflow.touch:
            self._dag = workflow.dag
            self._list_outputs()
            from snakemake.logging import logger

            # With --quiet, Snakemake sends no event of a finished job; what it prints is filtered.
            workflow.scheduler.print_progress = True
            logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Delete the notes of files that a job will write, and note those it has written."""
        event = str(getattr(record, "event", ""))
        number = getattr(record, "jobid", getattr(record, "job_id", None))
        if number is None or event not in ("job_info", "job_finished"):
            return
        with contextlib.suppress(OSError, ValueError):
            if int(number) not in self._outputs:  # a checkpoint made it part of the graph
                self._list_outputs()
            outputs = list(filter(self._is_result, self._outputs.get(int(number), [])))
            for position, output in enumerate(outputs):
                if event == "job_info":
                    forget_made(output)
                else:
                    note_made(output, self._list_extra_files(outputs) if position == 0 else ())

    def _list_outputs(self) -> None:
        for job in self._dag.jobs:
            self._outputs[int(job.jobid)] = [name_file(path) for path in job.output]

    def _list_extra_files(self, outputs: Sequence[str]) -> list[Path]:
        """Return the files of a one-job stage that are not outputs, as declared in its table."""
        stage = Path(outputs[0]).relative_to(self._results).parts[0]
        if stage not in STAGE_NAMES or find_stage(stage).cells:
            return []
        output_paths = {Path(output) for output in outputs}
        return [
            path
            for path in sorted((self._results / stage).rglob("*"))
            if path.is_file()
            and not output_paths & {path, *path.parents}
            and path.name != NAME
            and find_file(path.relative_to(self._results).as_posix())
        ]

    def _is_result(self, output: str) -> bool:
        return Path(output).is_relative_to(self._results)


def pick_environment(results: str, variables: Mapping[str, object]) -> str:
    """Return shell code that gives commands of omibench the environment of their study.

    A Snakefile can have several studies as modules, whose jobs have one common prefix. Each job
    names a file or folder in the results folder of its study.

    Args:
        results: Results folder of the study.
        variables: Environment variables of its jobs.
    """
    words = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in variables.items())
    _ENVIRONMENTS[results] = f"export {words}"
    if len(_ENVIRONMENTS) == 1:
        return f"{_ENVIRONMENTS[results]}; "
    nested = sorted(_ENVIRONMENTS, key=len, reverse=True)
    cases = " ".join(
        f"*{shlex.quote(f' {folder}/')}*) {_ENVIRONMENTS[folder]};;" for folder in nested
    )
    return f'omibench() {{ case " $*" in {cases} esac; command omibench "$@"; }}; '


def refuse_changed(results: str, argv: Sequence[str], configfiles: Sequence[str]) -> None:
    """Raise UntrustedError if results were edited manually, unless this run rebuilds them.

    Results of another study in a folder between the stages are not checked.
    """
    changes = [
        change
        for stage in STAGE_NAMES
        for change in find_changed_files(Path(results, stage))
        if not _is_forced(change.output, Path(results), argv)
    ]
    if changes:
        words = [] if list(configfiles) == ["params.yaml"] else ["--configfile", *configfiles]
        raise refusal(changes, shlex.join(words))


def refuse_strangers(results: str, rules: Collection[str] = ()) -> None:
    """Raise UntrustedError with a remedy for results without Snakemake metadata.

    Snakemake would go by their time stamps alone. If the run can execute only some `rules`
    (`--allowed-rules`), it treats the results of all others as the user's files.
    """
    unknown = find_strangers(Path(results), [s for s in STAGE_NAMES if not rules or s in rules])
    bare = [stage for stage in unknown if not (Path(results) / stage / NAME).is_file()]
    if bare:
        raise UntrustedError(f"{Path(results, bare[0])}: {suggest_way_out(Path(results), bare)}")
    if unknown:
        raise UntrustedError(
            f"the results in {results} of {', '.join(unknown)} were not made here, or were "
            "exchanged; check them with `omibench trust`"
        )


def _is_forced(output: str, results: Path, argv: Sequence[str]) -> bool:
    if _FORCING_ALL & set(argv):
        return True
    stage = Path(output).relative_to(results).parts[0]
    return bool({output, stage} & set(_list_forced_names(argv)))


def _list_forced_names(argv: Sequence[str]) -> list[str]:
    names, taking = [], False
    for word in argv:
        name, sign, value = word.partition("=")
        if word.startswith("-"):
            taking = name in _FORCING_THESE
            names += [value] if taking and sign else []
        elif taking:
            names.append(word)
    return names
